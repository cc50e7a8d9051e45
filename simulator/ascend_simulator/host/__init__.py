"""The host's side of a rank: what its threads call, and what the profiler records of it."""

from __future__ import annotations

from .records import HostIds, HostRecords, record_host
from .script import HostScript

__all__ = ["HostIds", "HostRecords", "HostScript", "record_host"]
