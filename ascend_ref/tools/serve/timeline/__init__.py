"""Block 0x02 as the viewer's timeline: processes, lanes, slices, flows and counters."""

from .queries import counter, flows, summary, thread_detail, thread_traces
from .read import read_timeline
from .tables import Timeline
from .units import unit

__all__ = [
    "Timeline",
    "counter",
    "flows",
    "read_timeline",
    "summary",
    "thread_detail",
    "thread_traces",
    "unit",
]
