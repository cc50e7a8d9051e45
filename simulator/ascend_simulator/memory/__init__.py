"""Memory of the simulated devices: the framework's allocator, workspaces, the graph engine."""

from __future__ import annotations

from .record import Footprint, Memory, record_memory

__all__ = ["Footprint", "Memory", "record_memory"]
