"""Block 0x0E: hits and misses of every set of L2, and the instructions behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ascend_ref.bin import canonical

from ..world import World
from .numbers import device_address, ranges, single


def cachelines(world: World) -> bytes:
    """The payload of 0x0E as text: a set per record, most of them alike."""
    records = b",".join(_records(world))
    return b'{"Cacheline Records":[' + records + b"]}"


def _records(world: World) -> Iterator[bytes]:
    sets, instructions = world.chip.cache.sets, world.program.code.instructions
    fate = world.fate
    code = world.transfers.code[world.lines.transfer]
    hits = np.bincount(fate.set, fate.hit, sets).astype(np.int64)
    totals = np.bincount(fate.set, minlength=sets).astype(np.int64)
    used: dict[tuple[int, bool], list[int]] = {}
    keys = (fate.set * 2 + fate.hit) * len(instructions) + code
    for key in np.unique(keys).tolist():
        rest, one = divmod(key, len(instructions))
        used.setdefault((rest // 2, bool(rest % 2)), []).append(instructions[one].address)
    known: dict[tuple[object, ...], bytes] = {}
    for number in range(sets):
        hit, total = int(hits[number]), int(totals[number])
        parts = tuple(
            (count, tuple(used.get((number, found), ())))
            for count, found in ((hit, True), (total - hit, False))
        )
        if parts not in known:
            known[parts] = _parts(parts, total)
        yield b'{"Cacheline Id":%d,%s' % (number, known[parts])


def _parts(parts: Sequence[tuple[int, Sequence[int]]], total: int) -> bytes:
    """What follows the number of a record, up to its end."""
    value = {
        name: {
            "Address Range": ranges(addresses, device_address),
            "Value": [count, single(count / total) if total else 0.0],
        }
        for name, (count, addresses) in zip(("Hit", "Miss"), parts, strict=True)
    }
    return canonical(value)[1:]
