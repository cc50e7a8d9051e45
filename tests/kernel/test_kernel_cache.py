"""L2 against an ordered dictionary per set, line by line."""

from __future__ import annotations

from collections import Counter, OrderedDict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_simulator.operator.chip import CacheShape
from ascend_simulator.operator.memory import cached
from ascend_simulator.operator.scenario import parse
from ascend_simulator.operator.world import run

SHAPE = CacheShape(sets=4, ways=3, line=512)


def set_of(line: int) -> int:
    return (line ^ (line >> 13) ^ (line >> 26)) % SHAPE.sets


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=200))
@settings(max_examples=80, deadline=None)
def test_each_access_meets_the_fate_of_a_plain_lru_cache(
    accesses: list[tuple[int, bool]],
) -> None:
    held: list[OrderedDict[int, bool]] = [OrderedDict() for _ in range(SHAPE.sets)]
    expected = []
    for line, store in accesses:
        own = held[set_of(line)]
        hit, evicted = line in own, None
        if hit:
            own.move_to_end(line)
        elif len(own) == SHAPE.ways:
            evicted = own.popitem(last=False)[1]
        own[line] = own.get(line, False) or store
        expected.append((hit, evicted is True, evicted is False))
    fate = cached(
        np.array([line for line, _ in accesses], np.int64),
        np.array([store for _, store in accesses], np.bool_),
        SHAPE,
    )
    found = zip(fate.hit.tolist(), fate.written.tolist(), fate.dropped.tolist(), strict=True)
    assert list(found) == expected


@given(st.integers(0, 1000), st.integers(0, 500))
@settings(max_examples=40, deadline=None)
def test_a_demanded_hit_rate_is_met_to_one_access(rate: int, count: int) -> None:
    lines = np.arange(count, dtype=np.int64)
    fate = cached(lines, lines % 3 == 0, SHAPE, rate)
    assert int(fate.hit.sum()) == count * rate // 1000
    assert not (fate.hit & (fate.written | fate.dropped)).any()
    assert ((~fate.hit) == (fate.written | fate.dropped)).all()


def test_what_was_read_before_hits() -> None:
    text = "name: x\noperator: {kind: matmul, shape: [256, 64, 512]}\ndevice: {block_dim: 2}"
    world = run(parse(text), 0)
    touched = np.unique(world.lines.line)
    assert int((~world.fate.hit).sum()) == len(touched)  # all of it fits, so each line misses once


def test_the_lines_of_a_transfer_are_those_that_its_bytes_touch() -> None:
    world = run(parse("name: x\noperator: {kind: matmul, shape: [70, 90, 130]}"), 0)
    owner, address = (column.tolist() for column in world.transfers.pieces())
    size, line = world.transfers.row_bytes.tolist(), world.chip.cache.line
    touched = Counter(
        (one, number)
        for one, begin in zip(owner, address, strict=True)
        for number in sorted({byte // line for byte in range(begin, begin + size[one])})
    )
    accessed = zip(world.lines.transfer.tolist(), world.lines.line.tolist(), strict=True)
    assert Counter(accessed) == touched
