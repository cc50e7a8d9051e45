"""The graph engine's profiling: options, calls, inserted tasks, events, and what reports what."""

from .catalog import GeCatalog as GeCatalog
from .reports import Dump as Dump
from .reports import Event as Event
from .reports import EventSpace as EventSpace
from .reports import Reported as Reported
from .reports import ReportGroup as ReportGroup
from .trace_data import TRACE_DATA as TRACE_DATA
