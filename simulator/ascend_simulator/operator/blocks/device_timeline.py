"""Block 0x02 of a run on the chip: when each block ran, and its warps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ascend_ref.bin import canonical

from ..program.model import SimtCode
from ..world import World
from .numbers import device_address
from .timeline import UNORDERED, colour, document, sort_index, sub_cores

BLOCK = "BLOCK"
WARP_SKEW = 2
"""Cycles between the starts of two warps of a launch."""


def device_timeline(world: World) -> bytes:
    """The payload of 0x02."""
    events = [_task(world), *_blocks(world), *_order(world)]
    if world.program.simt is not None:
        events += _warps(world, world.program.simt)
    return document(map(canonical, events), UNORDERED)


def _task(world: World) -> dict[str, Any]:
    length = world.microseconds(world.task_cycles)
    return _slice("AI_CORE", "CACHEMISS", "AI CORE", "AI_CORE", 0.0, length, args={})


def _slice(
    name: str, lane_colour: str, process: str, lane: str, start: float, length: float, **more: Any
) -> dict[str, Any]:
    """A slice; start and length in microseconds."""
    return {
        **more,
        "cname": colour(lane_colour),
        "dur": length,
        "name": name,
        "ph": "X",
        "pid": process,
        "tid": lane,
        "ts": start,
    }


def _blocks(world: World) -> Iterator[dict[str, Any]]:
    """The time of each sub-core, and within it what its own marks show: start-up and work."""
    for block, unit, core in sub_cores(world):
        start = int(world.starts[block])
        cycles = int(world.counters.total_cycles[block, unit])
        cube = core.endswith("cubecore0")
        name, shade = ("cube time", "CACHEMISS") if cube else ("vector time", "ALL")
        begin, length = world.microseconds(start), world.microseconds(cycles)
        yield _slice(name, shade, BLOCK, core, begin, length)
        yield from _dots(world, block, unit, core)


def _dots(world: World, block: int, unit: int, core: str) -> Iterator[dict[str, Any]]:
    """``Init`` until the first work of a pipe, ``Process`` from there on."""
    ran = world.ran(block)
    own = [number for number, step in enumerate(ran.steps) if step.unit == unit]
    first = next(
        (number for number in own if ran.steps[number].instruction.pipe != "SCALAR"), own[-1]
    )
    begin, middle, end = ran.start[own[0]], ran.start[first], ran.end[own[-1]]
    for name, number, low, high in (
        ("Init", own[0], begin, middle),
        ("Process", first, middle, end),
    ):
        code = ran.steps[number].instruction
        args = {
            "code": f"{world.program.code.source.path}:{code.line}",
            "name": name,
            "pc_addr": device_address(code.address),
        }
        start = world.microseconds(low)
        length, shade = world.microseconds(high - low), "MTE1" if name == "Init" else "ALL"
        yield _slice(name, shade, BLOCK, core, start, length, args=args)


def _order(world: World) -> Iterator[dict[str, Any]]:
    lanes = dict.fromkeys(core for _, _, core in sub_cores(world))
    for number, core in enumerate(lanes, start=1):
        yield sort_index("thread_sort_index", BLOCK, core, number)


def _warps(world: World, simt: SimtCode) -> Iterator[dict[str, Any]]:
    """From the first launch of a block to its last, warp by warp; each core begins at 0."""
    lanes: dict[tuple[str, int], None] = {}
    origins: dict[str, int] = {}
    for block, _, core in sub_cores(world):
        ran = world.ran(block)
        launches = [
            number for number, step in enumerate(ran.steps) if step.instruction == simt.launch
        ]
        if not launches:
            continue
        begin, end = int(ran.start[launches[0]]), int(ran.end[launches[-1]])
        process = f"warp.{core}"
        origin = origins.setdefault(process, begin)
        for warp in range(simt.warps):
            low = begin + warp * WARP_SKEW
            high = end - (simt.warps - 1 - warp) * WARP_SKEW
            lanes[process, warp] = None
            args = {
                "block_id": block,
                "core_id": int(core.split(".")[0].removeprefix("core")),
                "core_type": int(core[-1]),
                "warp_id": warp,
            }
            start, length = (low - origin) / world.frequency, (high - low) / world.frequency
            lane = f"Warp {warp}"
            yield _slice(f"Warp_{warp}", "MTE1", process, lane, start, length, args=args)
    for process, warp in sorted(lanes):
        yield sort_index("thread_sort_index", process, f"Warp {warp}", warp)
