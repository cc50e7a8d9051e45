"""Memory that is reserved on the device: NPU_MEM and NPU_MODULE_MEM."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import catalog, per_spec

from ..memory import Footprint
from ..program.model import Collective, Program
from .scene import MEBI, Columns, DeviceScene

DEVICE_GRID = "NPU_MEM device"
HCCL_BYTES = 423_690_240
RUNTIME_BYTES = 96_665_600
ENGINE_EXTRA_BYTES = 1_310_720
PROCESS_BYTES = 89_497_600
"""Memory of the modules of a process that trains on 8 devices (db-schema.md 7.7)."""
SYSTEM_MEBI = (227, 234)
"""What the device's own system holds in addition to the process."""


def npu_mem(scene: DeviceScene) -> Columns:
    """Memory of the process (app), then of the whole device, which is read a little later."""
    app, device = scene.grids["NPU_MEM"], scene.grids[DEVICE_GRID]
    program, footprint = scene.timeline.program, scene.footprint
    draws = scene.noise("NPU_MEM")
    system = draws.between(*SYSTEM_MEBI, len(device)) * MEBI
    held = np.append(
        held_by_process(program, footprint, app),
        held_by_process(program, footprint, device) + system,
    )
    nothing = np.zeros(len(held), np.int64)
    on_chip = scene.machine.chip.memory_kind == "HBM"
    kinds = scene.texts.numbers(("app", "device"))
    return {
        "type": np.repeat(kinds, [len(app), len(device)]),
        "ddr": nothing if on_chip else held,
        "hbm": held if on_chip else nothing,
        "timestampNs": np.append(app, device),
    }


def held_by_process(program: Program, footprint: Footprint, moments: Integers) -> Integers:
    """Byte that the process holds on the device at some moments."""
    others = RUNTIME_BYTES + ENGINE_EXTRA_BYTES + PROCESS_BYTES + footprint.engine
    return footprint.at(moments) + others + _communication(program)


def npu_module_mem(scene: DeviceScene) -> Columns:
    """What each module of the process reserves; most reserve nothing."""
    grid = scene.grids["NPU_MODULE_MEM"]
    modules = _modules()
    reserved = np.zeros((len(grid), len(modules)), np.int64)
    names = list(modules)
    reserved[:, names.index("APP")] = scene.footprint.at(grid)
    reserved[:, names.index("HCCL")] = _communication(scene.timeline.program)
    reserved[:, names.index("RUNTIME")] = RUNTIME_BYTES
    reserved[:, names.index("GE")] = scene.footprint.engine + ENGINE_EXTRA_BYTES
    ids: Integers = np.array(list(modules.values()), np.int64)
    return {
        "moduleId": np.tile(ids, len(grid)),
        "timestampNs": np.repeat(grid, len(modules)),
        "totalReserved": reserved.reshape(-1),
    }


def _communication(program: Program) -> int:
    """What communication keeps for its buffers, in a program that communicates."""
    return HCCL_BYTES if any(isinstance(item, Collective) for item in program.items) else 0


@per_spec
def _modules() -> dict[str, int]:
    """Modules of the newest revision by name, in order of their ids."""
    newest = catalog().revisions[-1].id
    members = catalog().at(newest, "msprof").enums["ENUM_MODULE"]
    return {members[number]: number for number in sorted(members)}
