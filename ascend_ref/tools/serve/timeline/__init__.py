"""Block 0x02 as the viewer's timeline: processes, lanes, slices, flows and counters."""

from .read import read_timeline
from .tables import Timeline

__all__ = ["Timeline", "read_timeline"]
