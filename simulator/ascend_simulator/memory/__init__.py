"""Memory of the simulated devices: the framework's allocator, workspaces, the graph engine."""

from __future__ import annotations

from .record import Footprint as Footprint
from .record import Memory as Memory
from .record import record_memory as record_memory
