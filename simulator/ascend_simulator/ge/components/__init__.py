"""Components of the graph engine's profiling that run: switches, reporters, executors, library."""

from .executors import CannHostProfiler as CannHostProfiler
from .executors import CannMemoryProfiler as CannMemoryProfiler
from .executors import CannProfilerV2 as CannProfilerV2
from .executors import Operator as Operator
from .executors import ProfilerCollector as ProfilerCollector
from .executors import TensorOf as TensorOf
from .library import Library as Library
from .library import Report as Report
from .process import Process as Process
from .process import types_of as types_of
from .reporters import AclProfilingReporter as AclProfilingReporter
from .reporters import GraphProfilingReporter as GraphProfilingReporter
from .reporters import ScopeProfiler as ScopeProfiler
