"""What kernels ask of the L2 cache and of the unit that translates addresses."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import catalog

from ..memory.totals import SEGMENT
from ..program.counters import CACHE_LINE
from ..samples.scene import Columns
from .scene import KernelRuns, RecordScene

PAGE = 4_096
"""Byte that one request for a translation covers (inferred)."""


def _counted(scene: RecordScene) -> KernelRuns:
    """The kernels on cores."""
    runs = scene.kernels
    return runs.take(scene.column("blocks")[runs.kind] > 0) if len(runs.kind) else runs


def _units(size: Integers, unit: int) -> Integers:
    return -(-size // unit)


def l2_cache(scene: RecordScene) -> Columns:
    """Lines that each kernel asked for, found, and drove out to memory.

    The same traffic as in the counters of group L2Cache. The first row of stars chips is missing
    (seed 001, l2_cache).
    """
    runs = _counted(scene)
    if catalog().products[scene.product].can("stars"):
        runs = runs.take(np.arange(1, max(len(runs.kind), 1)))
    lines = {
        name: _units(scene.column(name), CACHE_LINE)[runs.kind]
        for name in ("loaded", "stored", "read", "written")
    }
    request = lines["loaded"] + lines["stored"]
    return runs.task_columns() | {
        "request": request,
        "hit": request - lines["read"] - lines["written"],
        "victim": lines["written"],
    }


def soc_pmu(scene: RecordScene) -> Columns:
    """Translations: one for each page moved; each large page that comes from memory misses."""
    runs = _counted(scene)
    moved = scene.column("loaded") + scene.column("stored")
    far = scene.column("read") + scene.column("written")
    request, miss = _units(moved, PAGE)[runs.kind], _units(far, SEGMENT)[runs.kind]
    return runs.task_columns() | {"request": request, "hit": request - miss, "miss": miss}


def page_fault(scene: RecordScene) -> Columns:
    """Large pages that the process never held before are mapped by the next kernel."""
    runs = _counted(scene)
    held = np.append(scene.footprint.framework[0], scene.footprint.at(runs.start))
    return runs.task_columns() | {"faults": np.diff(np.maximum.accumulate(held)) // SEGMENT}
