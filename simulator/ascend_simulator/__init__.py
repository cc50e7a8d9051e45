"""A synthetic NPU: profiles whose truth is known.

``simulate(scenario, seed)`` gives captures in memory, ``write_run`` profiles on disk; scenarios
come from :mod:`ascend_simulator.scenario`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run import Run, Simulation, simulate, write_run

__all__ = ["Run", "Simulation", "simulate", "write_run"]


def __getattr__(name: str) -> Any:
    """What stands in :mod:`.run`, which is slow to import and not needed by every verb."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import run

    return getattr(run, name)
