"""The graph engine's profiling: options, calls, inserted tasks, events, and what reports what."""

from .catalog import GeCatalog as GeCatalog
from .trace import TRACE_SCHEMAS as TRACE_SCHEMAS
from .trace import Executor as Executor
from .trace import ExecutorName as ExecutorName
from .trace import GraphMessage as GraphMessage
from .trace import GraphName as GraphName
from .trace import InsertionStep as InsertionStep
from .trace import LogId as LogId
from .trace import Place as Place
from .trace import trace_schema as trace_schema
