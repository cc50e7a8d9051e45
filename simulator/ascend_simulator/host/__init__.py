"""The host's side of a rank: what its threads call, and what the profiler records of it."""

from __future__ import annotations

from .records import HostIds as HostIds
from .records import HostRecords as HostRecords
from .records import record_host as record_host
from .script import HostScript as HostScript
