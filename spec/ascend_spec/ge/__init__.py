"""The graph engine's profiling: options, calls, inserted tasks, events, and what reports what."""

from .catalog import GeCatalog as GeCatalog
