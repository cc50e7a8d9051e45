"""The clocks of one rank before it meets others: kernels' lengths and the host's relative times.

The host never waits for the device except at a Synchronize, so between two of them every host time
is a fixed distance from the last one: the *base*. All functions are exact in integers, so that the
pass that couples the ranks and the later expansion of one rank agree to the nanosecond.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

from ..draws import Draws
from ..program.model import Prepare, Synchronize
from .compiled import EVENT_NS, HEAD_NS, TAIL_NS, Compiled
from .disturbance import THOUSAND, Disturbances
from .layout import Tokens
from .routing import variants_of
from .timeline import HostTimes

TICK_NS = 20
"""The device's clock runs at 50 MHz (db-schema.md 7.2)."""
GAP_NS = 20
REST_SCATTER = 120
"""A rest after a kernel is longer than the least one by up to so many per mille."""
COPY_REST_NS = 120
"""The stream rests so long after a copy from the host, and not after other copies."""
RECORD_REST_NS = 20
"""A collective's stream rests so long after the record of an event: real ones begin 40 ns apart."""
CLOSED_NS = 2 * (RECORD_REST_NS + GAP_NS)
"""Until its next task may begin, once both events that report a collective are recorded."""
AWAIT_REST_NS = 80
"""It rests so long after it has waited for another stream."""
HOST_SCATTER = 60
KERNEL_SCATTER = 15
"""Standard deviations of host and kernel lengths, per mille."""
SEEN_NS = 1_000
"""From the end of the launch on the host until the device may start the task."""
NEVER = -(1 << 60)
SEPARATION = 1 << 42


@dataclass(frozen=True, slots=True)
class RankClocks:
    """One rank on its own; arrays of shape (steps, items).

    kind: which kernel kind a launch runs, -1 for other items. length: of the kernel or copy.
    slot: what the item takes of the compute stream, with the gap before it; 0 off the stream. head,
    tail, rest: of that, what lies between the gap and the kernel; after the kernel, still inside
    its FFTS+ task; and after that.
    host: relative to the base of the item, without collections.
    base: number of the Synchronize (of the step) before which the item stands; shape (items,).
    pause: length of a garbage collection before an item, or 0.
    """

    kind: Integers
    length: Integers
    slot: Integers
    head: Integers
    tail: Integers
    rest: Integers
    host: HostTimes
    base: Integers
    pause: Integers


def clocks(
    compiled: Compiled,
    rank: int,
    seed: int,
    nominal: int,
    disturbances: Disturbances,
    tokens: Tokens,
) -> RankClocks:
    """Draw the lengths of one rank. ``nominal``: clock of the product, MHz."""
    kind = _kinds(compiled, seed, disturbances.steps, tokens)
    length = _lengths(compiled, kind, rank, seed, nominal, disturbances)
    enclosed = compiled.runs(kind, compiled.enclosed)
    head, tail = np.where(enclosed, HEAD_NS, 0), np.where(enclosed, TAIL_NS, 0)
    rest = _rest(compiled, kind, rank, seed)
    slot = np.where(compiled.on_compute, GAP_NS + head + length + tail + rest, 0)
    host = _host(compiled, rank, seed, disturbances)
    return RankClocks(kind, length, slot, head, tail, rest, *host)


def _rest(compiled: Compiled, kind: Integers, rank: int, seed: int) -> Integers:
    """How long the compute stream rests after kernels, waits and copies from the host."""
    least = np.where(compiled.from_host, COPY_REST_NS, 0)
    least[compiled.awaited >= 0] = AWAIT_REST_NS
    rest = np.broadcast_to(least, kind.shape)
    if not compiled.kernel_gap:
        return rest
    longer = Draws(seed, "rest", rank).between(0, REST_SCATTER, kind.size).reshape(kind.shape)
    long = compiled.kernel_gap + compiled.kernel_gap * longer // 1000 // TICK_NS * TICK_NS
    return np.where(compiled.runs(kind, compiled.rests) & compiled.on_compute, long, rest)


def _kinds(compiled: Compiled, seed: int, steps: int, tokens: Tokens) -> Integers:
    kind = np.broadcast_to(compiled.first_kind, (steps, len(compiled.first_kind))).copy()
    for load in np.unique(compiled.load[compiled.load > 0]).tolist():
        working = np.flatnonzero(compiled.load == load)
        variants = int(compiled.variants[working[0]])
        kind[:, working] += variants_of(seed, tokens, load, steps, variants)[:, None]
    return kind


def _lengths(
    compiled: Compiled,
    kind: Integers,
    rank: int,
    seed: int,
    nominal: int,
    disturbances: Disturbances,
) -> Integers:
    steps, items = kind.shape
    launched = np.flatnonzero(compiled.variants)
    chosen = kind[:, launched]
    nominal_length, bound = (
        compiled.kernel_column(name)[chosen] for name in ("duration", "clock_bound")
    )
    frequency = disturbances.frequency(rank, nominal)[:, None]
    slower = nominal_length * bound // 1000 * nominal // frequency
    slowed = slower + nominal_length * (1000 - bound) // 1000
    slowed = slowed * disturbances.factor("slow-rank", rank)[:, None] // THOUSAND
    straggling = np.where(
        compiled.on_ai_cpu[chosen], disturbances.factor("ai-cpu-straggler", rank)[:, None], THOUSAND
    )
    slowed = slowed * straggling // THOUSAND
    drawn = Draws(seed, "kernels", rank).scaled(slowed.reshape(-1), KERNEL_SCATTER)
    length = np.broadcast_to(compiled.copy_length, (steps, items)).copy()
    length[:, launched] = drawn.reshape(slowed.shape) // TICK_NS * TICK_NS
    length[:, [place for place, _ in compiled.collectives]] = EVENT_NS
    return length


def _host(
    compiled: Compiled, rank: int, seed: int, disturbances: Disturbances
) -> tuple[HostTimes, Integers, Integers]:
    """Relative host times, chain of the framework thread first, then that of the consumer."""
    plan = compiled.plan
    steps, items = disturbances.steps, len(plan.before)
    factor = disturbances.factor("host-bound-launch", rank)[:, None]
    draws = Draws(seed, "host", rank)

    def drawn(nominal: Integers) -> Integers:
        lengths = np.broadcast_to(nominal * factor // THOUSAND, (steps, items)).reshape(-1)
        return draws.scaled(lengths, HOST_SCATTER).reshape(steps, items)

    before, after, occupied = drawn(plan.before), drawn(plan.after), drawn(plan.occupied)
    for place in compiled.places(Prepare):
        item = compiled.program.items[place]
        if isinstance(item, Prepare):
            before[:, place] += item.duration
    first = compiled.places(Prepare)[0] if len(compiled.places(Prepare)) else 0
    before[:, first] += disturbances.pause("data-loading-stall", rank)
    pause = np.zeros((steps, items), np.int64)
    pause[:, items // 2] = disturbances.pause("gc-pause", rank)

    synchronizes = np.zeros(items, np.int64)
    synchronizes[compiled.places(Synchronize)] = 1
    base = np.cumsum(synchronizes) - synchronizes
    spent = before + after + pause
    until = np.cumsum(spent, axis=1)
    starts = np.flatnonzero(np.diff(base, prepend=-1))
    at_start = (until - spent)[:, starts][:, base]
    begin = until - spent - at_start + pause
    handed = begin + before
    left = handed + after

    queued = plan.occupied > 0
    taken = np.full((steps, items), -1, np.int64)
    done, seen = taken.copy(), taken.copy()
    busy = occupied[:, queued]
    total = np.cumsum(busy, axis=1)
    ready = handed[:, queued] + base[queued] * SEPARATION
    finish = np.maximum.accumulate(ready + busy - total, axis=1) + total
    finish -= base[queued] * SEPARATION
    done[:, queued] = finish
    taken[:, queued] = finish - busy
    visible = busy * plan.visible[queued] // np.maximum(plan.occupied[queued], 1)
    seen[:, queued] = finish - busy + visible + SEEN_NS
    none = np.empty((0, 2), np.int64)
    return HostTimes(begin, handed, left, taken, done, seen, none), base, pause


def ends_on_other(compiled: Compiled, clocks: RankClocks, seen: Integers, axis: int) -> Integers:
    """Ends on the other stream than the compute stream up to each item; 0 or less before the first.

    ``seen``: when the device may start each item, on any clock that only grows.
    """
    whole = clocks.head + clocks.length + clocks.tail
    until = np.cumsum(np.where(compiled.on_other, GAP_NS + whole, 0), axis=axis)
    earliest = np.where(compiled.on_other, seen + whole - until, NEVER)
    ends: Integers = np.maximum.accumulate(earliest, axis=axis) + until
    return ends
