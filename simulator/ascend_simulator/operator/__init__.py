"""A kernel on the AI cores of one chip: its ``visualize_data.bin``, and what is true of it.

``simulate_kernel(scenario, seed)`` gives blocks in memory, ``write_kernel`` a file on disk;
scenarios come from :mod:`ascend_simulator.operator.scenario`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run import KernelRun, Written, simulate_kernel, write_kernel

__all__ = ["KernelRun", "Written", "simulate_kernel", "write_kernel"]


def __getattr__(name: str) -> Any:
    """What stands in :mod:`.run`, which is slow to import and not needed by every verb."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import run

    return getattr(run, name)
