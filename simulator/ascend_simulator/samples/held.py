"""Memory that is reserved on the device: NPU_MEM and NPU_MODULE_MEM."""

from __future__ import annotations

from functools import cache

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import catalog

from ..program.model import Collective
from .scene import MEBI, Columns, Scene

DEVICE_GRID = "NPU_MEM device"
HCCL_BYTES = 423_690_240
RUNTIME_BYTES = 96_665_600
ENGINE_EXTRA_BYTES = 1_310_720
PROCESS_BYTES = 89_497_600
"""Memory of the modules of a process that trains on 8 devices (db-schema.md 7.7)."""
SYSTEM_MEBI = (227, 234)
"""What the device's own system holds beside the process."""


def npu_mem(scene: Scene) -> Columns:
    """Memory of the process (app), then of the whole device, which is read a little later."""
    app, device = scene.grids["NPU_MEM"], scene.grids[DEVICE_GRID]
    others = RUNTIME_BYTES + ENGINE_EXTRA_BYTES + PROCESS_BYTES + scene.footprint.engine
    others += _communication(scene)
    draws = scene.draws("NPU_MEM")
    system = draws.between(*SYSTEM_MEBI, len(device)) * MEBI
    held = np.append(scene.footprint.at(app) + others, scene.footprint.at(device) + others + system)
    nothing = np.zeros(len(held), np.int64)
    on_chip = scene.machine.chip.memory_kind == "HBM"
    kinds = scene.texts.numbers(("app", "device"))
    return {
        "type": np.repeat(kinds, [len(app), len(device)]),
        "ddr": nothing if on_chip else held,
        "hbm": held if on_chip else nothing,
        "timestampNs": np.append(app, device),
        "deviceId": scene.device(len(held)),
    }


def npu_module_mem(scene: Scene) -> Columns:
    """What each module of the process reserves; most reserve nothing."""
    grid = scene.grids["NPU_MODULE_MEM"]
    modules = _modules()
    reserved = np.zeros((len(grid), len(modules)), np.int64)
    names = list(modules)
    reserved[:, names.index("APP")] = scene.footprint.at(grid)
    reserved[:, names.index("HCCL")] = _communication(scene)
    reserved[:, names.index("RUNTIME")] = RUNTIME_BYTES
    reserved[:, names.index("GE")] = scene.footprint.engine + ENGINE_EXTRA_BYTES
    ids: Integers = np.array(list(modules.values()), np.int64)
    return {
        "moduleId": np.tile(ids, len(grid)),
        "timestampNs": np.repeat(grid, len(modules)),
        "totalReserved": reserved.reshape(-1),
        "deviceId": scene.device(reserved.size),
    }


def _communication(scene: Scene) -> int:
    """What communication keeps for its buffers, in a program that communicates."""
    items = scene.timeline.program.items
    return HCCL_BYTES if any(isinstance(item, Collective) for item in items) else 0


@cache
def _modules() -> dict[str, int]:
    """Modules of the newest revision by name, in order of their ids."""
    newest = catalog().revisions[-1].id
    members = catalog().at(newest, "msprof").enums["ENUM_MODULE"]
    return {members[number]: number for number in sorted(members)}
