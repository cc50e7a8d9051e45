"""Words that trace the pipes of a core: when each begins and ends to work, on chips 15 and 16.

Four words state the counter of the device and the block that begins. In each further word stands
how many cycles of the core have passed since the word before, and which pipes work from then on, or
that the program has passed a checkpoint (upstream-msprof BiuPerfChip6Parser).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Capture, Integers, Records
from ascend_ref.capture.model import NONE
from ascend_spec import raw_catalog

from .clocks import OUT_OF_RANGE, Clock
from .machine import chip_of
from .vocabulary import named

RECORD, FILE = "biu_perf", "instr_biu_perf"
STAMP, STATE = 14, 15
"""Kinds of words beyond those of the pipes."""
STAMP_WORDS = 4
END, FILLER = 0xEFFFFFFF, 0xDDDDDDDD
"""What a trace ends with, and what follows until the next one."""
LONGEST = (1 << 16) - 1
"""Cycles that one word can state."""
MOST_TURNS = 8
"""Slow cores: a time that moves by a cycle may move others, until all are such that stay."""
KIND_SHIFT, PLACE_SHIFT, EVENTS = 12, 8, (1 << 12) - 1


def pipes() -> tuple[str, ...]:
    """The pipes in order of their bits; a checkpoint has the number of the one that passed it."""
    return tuple(name for number, name in named("traced_words").items() if number < STAMP)


class Words(NamedTuple):
    """Words as their two halves."""

    passed: Integers
    instruction: Integers


class Trace(NamedTuple):
    """What the pipes of a core did; times as ticks of the stamp before, and cycles since then.

    lost: words without a stamp. torn: whether a stamp is not whole, behind which nothing is read.
    """

    pipe: Integers
    block: Integers
    checkpoint: Integers
    start_ticks: Integers
    start_cycles: Integers
    end_ticks: Integers
    end_cycles: Integers
    lost: int
    torn: bool


def words_of(
    pipe: Integers, block: Integers, start: Integers, end: Integers, clock: Clock, frequency: int
) -> Words:
    """The words of a core whose pipes (by number) worked from ``start`` until ``end``, Unix ns.

    frequency: MHz of the core. A stamp stands wherever nothing has worked before.
    """
    end = np.maximum(end, start + 1)
    order = np.lexsort((end, start))
    pipe, block, start, end = pipe[order], block[order], start[order], end[order]
    until = np.maximum.accumulate(end)
    begins = np.append(True, start[1:] >= until[:-1])[: len(start)]
    cluster = np.cumsum(begins) - 1
    ticks = clock.ticks(start[begins])
    shown = clock.times(ticks)
    late = np.flatnonzero(shown > start[begins])
    ticks[late] -= 1
    zero = clock.times(ticks)[cluster]
    first = _cycles(start - zero, frequency)
    last = np.maximum(_cycles(end - zero, frequency), first + 1)
    edges = np.concatenate([first, last])
    owner = np.concatenate([cluster, cluster])
    turn = np.lexsort((edges, owner))
    changes = np.append(True, (np.diff(owner[turn]) != 0) | (np.diff(edges[turn]) != 0))
    changes = changes[: len(turn)]
    place = np.cumsum(changes) - 1
    word_of = np.empty(len(turn), np.int64)
    word_of[turn] = place
    state = np.zeros(int(changes.sum()), np.int64)
    for number in range(len(pipes())):
        own = np.flatnonzero(pipe == number)
        works = np.zeros(len(state), np.int64)
        np.add.at(works, word_of[own], 1)
        np.add.at(works, word_of[own + len(pipe)], -1)
        state |= (np.cumsum(works) > 0).astype(np.int64) << number
    return _packed(owner[turn][changes], edges[turn][changes], state, ticks, block[begins])


def _cycles(length: Integers, frequency: int) -> Integers:
    """The first cycle that :func:`behind` does not show before so many ns."""
    return -(-length * frequency // 1_000)


def _packed(
    owner: Integers, cycle: Integers, state: Integers, ticks: Integers, block: Integers
) -> Words:
    """Words of states at cycles, with those in between that a longer time takes, and stamps."""
    first = np.append(True, np.diff(owner) != 0)[: len(owner)]
    passed = np.diff(cycle, prepend=0)
    passed[first] = cycle[first]
    more = np.maximum(passed - 1, 0) // LONGEST
    before = np.append(0, state[:-1])[: len(state)]
    before[first] = 0
    count = 1 + more + STAMP_WORDS * first
    end = np.cumsum(count)
    total = int(end[-1]) if len(end) else 0
    low, high = np.full(total, LONGEST), np.repeat(before, count) | STATE << KIND_SHIFT
    low[end - 1] = passed - more * LONGEST
    high[end - 1] = state | STATE << KIND_SHIFT
    stamps = (end - count)[first]
    for place in range(STAMP_WORDS):
        own = block >> 8 * place & 0xFF if place < 2 else 0 * block
        low[stamps + place] = ticks >> 16 * place & LONGEST
        high[stamps + place] = STAMP << KIND_SHIFT | place << PLACE_SHIFT | own
    return Words(low, high)


def trace_of(words: Words) -> Trace:
    """What words show, in order of the ends; checkpoints come behind all others."""
    words = _without_fillers(words)
    kind = words.instruction >> KIND_SHIFT
    stamped = kind == STAMP
    run = np.flatnonzero(np.append(True, np.diff(stamped.astype(np.int8)) != 0)[: len(kind)])
    length = np.diff([*run.tolist(), len(kind)])
    broken = run[stamped[run] & (length % STAMP_WORDS != 0)]
    if len(broken):
        whole = length[run == broken[0]][0] // STAMP_WORDS * STAMP_WORDS
        words = Words(*(one[: broken[0] + whole] for one in words))
        kind, stamped = words.instruction >> KIND_SHIFT, stamped[: broken[0] + whole]
    stamps = np.flatnonzero(stamped)[::STAMP_WORDS]
    ticks = np.zeros(len(stamps), np.int64)
    for place in range(STAMP_WORDS):
        ticks |= words.passed[stamps + place] << 16 * place
    low, high = (words.instruction[stamps + place] & 0xFF for place in range(2))
    block = high << 8 | low
    plain = np.flatnonzero(~stamped)
    owner = np.searchsorted(stamps, plain, side="right") - 1
    lost = int((owner < 0).sum())
    plain, owner = plain[owner >= 0], owner[owner >= 0]
    passed = np.cumsum(words.passed[plain])
    begins = np.searchsorted(owner, np.arange(len(stamps)), side="left")
    offset = np.append(0, passed)[begins]
    cycles = passed - offset[owner] if len(plain) else passed
    kind, events = kind[plain], words.instruction[plain] & EVENTS
    pipe, rise, fall = _intervals(np.flatnonzero(kind == STATE), events)
    noted = np.flatnonzero(kind < len(pipes()))
    first, last = np.append(rise, noted), np.append(fall, noted)
    return Trace(
        pipe=np.append(pipe, kind[noted]),
        block=block[owner[last]],
        checkpoint=np.append(np.full(len(pipe), NONE), events[noted]),
        start_ticks=ticks[owner[first]],
        start_cycles=cycles[first],
        end_ticks=ticks[owner[last]],
        end_cycles=cycles[last],
        lost=lost,
        torn=len(broken) > 0,
    )


def _intervals(rows: Integers, events: Integers) -> tuple[Integers, Integers, Integers]:
    """Pipe, first and last word of each time in which a pipe worked, in order of the last one."""
    found: list[tuple[Integers, Integers, Integers]] = []
    for number in range(len(pipes())):
        works = events[rows] >> number & 1
        change = np.flatnonzero(np.diff(works, prepend=0))
        fall = change[1::2]
        found.append((np.full(len(fall), number), rows[change[::2][: len(fall)]], rows[fall]))
    pipe, rise, fall = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((pipe, fall))
    return pipe[order], rise[order], fall[order]


def _without_fillers(words: Words) -> Words:
    """The words but for what stands between the end of a trace and the next one."""
    every = words.instruction << 16 | words.passed
    ends, filler = every == END, every == FILLER
    before = np.maximum.accumulate(np.where(filler, -1, np.arange(len(every))))
    between = filler & (before >= 0) & ends[np.maximum(before, 0)]
    kept = ~(ends | between)
    return Words(words.passed[kept], words.instruction[kept])


def behind(stamp: Integers, cycles: Integers, frequency: int) -> Integers:
    """Unix ns so many cycles of a core, of so many MHz, after those of its stamp."""
    return np.where(stamp == OUT_OF_RANGE, stamp, stamp + cycles * 1_000 // frequency)


class Own(NamedTuple):
    """A core with its rows of the record."""

    group: int
    core: str
    rows: Integers


def traced_cores(capture: Capture, device: int) -> Iterator[Own]:
    """The cores of a device whose pipes worked, in order."""
    table = capture.records.get(RECORD)
    if table is None:
        return
    texts = capture.texts.all
    own = np.flatnonzero((table["device"] == device) & (table["checkpoint"] == NONE))
    keys = {
        (group, texts[core])
        for group, core in zip(
            table["group"][own].tolist(), table["core"][own].tolist(), strict=True
        )
    }
    for group, core in sorted(keys):
        same = (table["group"][own] == group) & (table["core"][own] == capture.texts.number(core))
        yield Own(group, core, own[same])


def core_words(capture: Capture, rows: Integers, clock: Clock) -> Words:
    """The words of a core; of its rows those of pipes that are not known are left out."""
    table, facts, texts = capture.records[RECORD], capture.origin.facts, capture.texts.all
    number = {name: at for at, name in enumerate(pipes())}
    pipe = np.array([number.get(texts[one], NONE) for one in table["instruction"][rows].tolist()])
    rows, pipe = rows[pipe != NONE], pipe[pipe != NONE]
    start = table["time"][rows]
    end = start + table["length"][rows]
    block = table["block"][rows] & LONGEST
    return words_of(pipe, block, start, end, clock, facts.frequency if facts else 0)


def held_of_instructions(capture: Capture, clock: Clock) -> Records:
    """The record as raw files hold it; ``clock``: that of the device."""
    table, facts = capture.records.get(RECORD), capture.origin.facts
    if table is None or facts is None or facts.frequency <= 0:
        return {}
    if chip_of(capture.origin) not in raw_catalog().files[FILE].chips:
        return {}
    held = {RECORD: table}
    for _ in range(MOST_TURNS):
        again = _once_held(replace(capture, records=held), clock, facts.frequency)
        same = held[RECORD].keys() <= again.keys() and all(
            np.array_equal(again[name], column) for name, column in held[RECORD].items()
        )
        if same or not again:
            break
        held = {RECORD: again}
    return held if again else {}


def _once_held(capture: Capture, clock: Clock, frequency: int) -> dict[str, Integers]:
    """The record as it is read of what is written of it."""
    texts = capture.texts
    parts = []
    for device in capture.origin.devices:
        for own in traced_cores(capture, device):
            trace = trace_of(core_words(capture, own.rows, clock))
            numbered = np.array([texts.number(name) for name in pipes()], np.int64)
            start = behind(clock.times(trace.start_ticks), trace.start_cycles, frequency)
            end = behind(clock.times(trace.end_ticks), trace.end_cycles, frequency)
            count = len(start)
            parts.append(
                {
                    "device": np.full(count, device),
                    "core": np.full(count, texts.number(own.core)),
                    "instruction": numbered[trace.pipe],
                    "time": start,
                    "length": end - start,
                    "group": np.full(count, own.group),
                    "block": trace.block,
                    "checkpoint": trace.checkpoint,
                }
            )
    return (
        {name: np.concatenate([one[name] for one in parts]) for name in parts[0]} if parts else {}
    )
