"""The host's side of a rank: what its threads call, and what the profiler records of it."""

from __future__ import annotations

from .clock import Clock as Clock
from .clock import Moments as Moments
from .operators import Allocation as Allocation
from .records import HostIds as HostIds
from .records import HostRecords as HostRecords
from .records import allocations as allocations
from .records import record_host as record_host
from .script import HostScript as HostScript
