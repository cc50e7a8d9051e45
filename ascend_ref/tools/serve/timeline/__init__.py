"""Block 0x02 as the viewer's timeline: processes, lanes, slices, flows and counters."""

from .read import read_timeline as read_timeline
from .tables import Timeline as Timeline
