"""The pass over all ranks at once: when each reaches the meetings with others.

Between two meetings a rank's compute stream is a max-plus function of the moment at which it was
free: ``free -> max(free + D, base + A)``. So the pass touches one number per rank and meeting, not
one per task, and the later expansion of a rank fills in the tasks with the same integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

from ..program.model import Await, Collective, Synchronize
from .clocks import (
    AWAIT_REST_NS,
    CLOSED_NS,
    GAP_NS,
    NEVER,
    SEEN_NS,
    SEPARATION,
    RankClocks,
    ends_on_other,
)
from .compiled import EVENT_NS, Compiled
from .gathering import Gathering
from .network import SENDS, Network

STEP_GAP_NS = 2_000
SYNCHRONIZE_NS = 24_000
"""From the end of the device's work until the host goes on."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the pass needs of one rank; arrays of shape (steps, meetings), relative to the base.

    busy: D, length of the compute stream's work since the last meeting. least: A, its earliest end.
    seen: the device may act on the meeting's item. host: the framework thread reaches it.
    queue, other: everything queued before is launched; has ended on the other stream.
    """

    busy: Integers
    least: Integers
    seen: Integers
    host: Integers
    queue: Integers
    other: Integers


def summarize(compiled: Compiled, clocks: RankClocks) -> Summary:
    """Reduce a rank's clocks to its meetings."""
    places = np.array(compiled.meetings, np.int64)
    working = compiled.on_compute.copy()
    working[places] = False
    slots = np.where(working, clocks.slot, 0)
    until = np.cumsum(slots, axis=1)
    earliest = np.where(working, clocks.host.seen + slots - GAP_NS - until, NEVER)
    starts = np.concatenate([[0], places[:-1] + 1])
    at_place = until[:, places]
    busy = np.diff(at_place, axis=1, prepend=0)
    # A trailing column keeps reduceat from reading past the last meeting, an empty stretch from
    # giving the item that follows it.
    padded = np.concatenate([earliest, np.full((len(earliest), 1), NEVER)], axis=1)
    bounds = np.stack([starts, places], axis=1).reshape(-1)
    least = np.maximum.reduceat(padded, bounds, axis=1)[:, ::2]
    least = np.where((places > starts)[None, :], least + at_place, NEVER)
    apart = clocks.base * SEPARATION
    queue = np.maximum.accumulate(np.maximum(clocks.host.done, 0) + apart, axis=1) - apart
    other = ends_on_other(compiled, clocks, clocks.host.seen + apart, axis=1) - apart
    return Summary(
        busy=busy,
        least=np.maximum(least, NEVER),
        seen=clocks.host.seen[:, places],
        host=clocks.host.handed[:, places],
        queue=np.maximum(queue[:, places], 0),
        other=np.maximum(other[:, places], 0),
    )


@dataclass(slots=True)
class Encounters:
    """What the pass found for the ranks of one stage; the last axis of every array is these ranks.

    bases: host time of each base, shape (steps, bases). ready: when a collective's own stream could
    begin it; ended: its last task; shape (steps, collectives). waits: per family of collectives the
    ends of the waits, shape (steps, members, lanes of all rounds). step_starts, step_ends: (steps).
    """

    bases: Integers
    ready: Integers
    ended: Integers
    waits: list[Integers]
    step_starts: Integers
    step_ends: Integers


class _Stage:
    """Where the ranks of one stage stand."""

    def __init__(
        self, number: int, compiled: Compiled, ranks: Integers, parts: Sequence[Summary], start: int
    ) -> None:
        self.number = number
        self.compiled = compiled
        self.ranks = ranks
        self.names = {place: number for number, (place, _) in enumerate(compiled.collectives)}
        self.meetings = compiled.meetings
        self.busy, self.least, self.seen, self.host, self.queue, self.other = (
            np.stack([getattr(part, name) for part in parts], axis=-1)
            for name in ("busy", "least", "seen", "host", "queue", "other")
        )
        steps, count = self.busy.shape[0], len(ranks)
        collectives = len(compiled.collectives)
        bases = len(compiled.places(Synchronize))
        self.found = Encounters(
            bases=np.zeros((steps, bases, count), np.int64),
            ready=np.zeros((steps, collectives, count), np.int64),
            ended=np.zeros((steps, collectives, count), np.int64),
            waits=[np.empty(0, np.int64) for _ in compiled.families],
            step_starts=np.zeros((steps, count), np.int64),
            step_ends=np.zeros((steps, count), np.int64),
        )
        self.base = np.full(count, start, np.int64)
        self.free = self.base.copy()
        self.step = self.place = self.bases_passed = 0
        self.families = {
            int(number): (family, member)
            for family, (_, numbers) in enumerate(compiled.families)
            for member, number in enumerate(numbers)
        }
        self.channels: dict[object, Integers] = {}
        self.posted: dict[int, tuple[object, Integers]] = {}
        self.closed: dict[int, Integers] = {}
        self.found.step_starts[0] = self.base
        self.found.bases[0, 0] = self.base

    def close(self, place: int, ended: Integers) -> None:
        """Note how a collective of the present step went: its end per rank."""
        self.found.ended[self.step, self.names[place]] = ended
        channel, launched = self.posted.pop(place)
        self.closed[place] = np.maximum(ended, launched)
        self.channels[channel] = self.closed[place] + CLOSED_NS

    def keep(self, place: int, waits: Integers) -> None:
        """Note the waits of a collective in all steps, shape (steps, lanes, ranks)."""
        family, member = self.families[self.names[place]]
        if not self.found.waits[family].size:
            members = len(self.compiled.families[family][1])
            shape = len(waits), members, *waits.shape[1:]
            self.found.waits[family] = np.zeros(shape, np.int64)
        self.found.waits[family][:, member] = waits

    def work(self) -> None:
        """Let the compute streams do what lies before the meeting."""
        at = self.step, self.place
        self.free = np.maximum(self.free + self.busy[at], self.base + self.least[at])

    @property
    def finished(self) -> bool:
        """Whether all steps are over."""
        return self.step == len(self.busy)


def channel(item: Collective) -> object:
    """What shares one stream: the operators of a group, point-to-point ones by direction."""
    return (item.dimension, item.kind, item.peer) if item.kind in SENDS else item.dimension


class Coupling:
    """Runs the pass; see the module."""

    def __init__(
        self,
        compiled: Sequence[Compiled],
        summaries: Sequence[Summary],
        network: Network,
        start: int,
    ) -> None:
        """``summaries`` of all ranks, in order; ``start``: Unix ns of the first step."""
        self.network = network
        layout = network.layout
        self.stages = [
            _Stage(
                number,
                program,
                layout.stage_ranks(number),
                [summaries[rank] for rank in layout.stage_ranks(number)],
                start,
            )
            for number, program in enumerate(compiled)
        ]
        self.meetings: dict[object, list[tuple[_Stage, int, Integers]]] = {}
        self.gatherings: dict[tuple[tuple[int, int], ...], Gathering] = {}

    def run(self) -> list[Encounters]:
        """Play all steps. Raises ``ValueError`` where programs wait for each other."""
        while not all(stage.finished for stage in self.stages):
            moved_on = False
            for stage in self.stages:
                while not stage.finished and self._advance(stage):
                    moved_on = True
            if not moved_on:
                waiting = ", ".join(
                    f"stage {stage.number} at item {stage.meetings[stage.place]}"
                    for stage in self.stages
                    if not stage.finished
                )
                raise ValueError(f"the stages wait for each other: {waiting}")
        self._find_waits()
        return [stage.found for stage in self.stages]

    def _advance(self, stage: _Stage) -> bool:
        """Pass the next meeting of a stage; False where another stage must come first."""
        place = stage.meetings[stage.place]
        item = stage.compiled.program.items[place]
        if isinstance(item, Collective):
            if any(channel(item) == busy for busy, _ in stage.posted.values()):
                return False
            stage.work()
            self._post(stage, place, item)
        elif isinstance(item, Await):
            if item.item in stage.posted:
                return False
            stage.work()
            seen = stage.base + stage.seen[stage.step, stage.place]
            closed = stage.closed[item.item]
            over = np.maximum(np.maximum(stage.free + GAP_NS, seen), closed)
            stage.free = over + AWAIT_REST_NS
        elif isinstance(item, Synchronize):
            if stage.posted:
                return False
            stage.work()
            self._synchronize(stage)
            return True
        stage.place += 1
        return True

    def _synchronize(self, stage: _Stage) -> None:
        at = stage.step, stage.place
        relative = np.maximum(np.maximum(stage.host[at], stage.queue[at]), stage.other[at])
        idle = np.maximum(stage.free, stage.base + relative)
        for closed in stage.channels.values():
            idle = np.maximum(idle, closed)
        stage.base = idle + SYNCHRONIZE_NS
        stage.place += 1
        stage.bases_passed += 1
        if stage.place < len(stage.meetings):
            stage.found.bases[stage.step, stage.bases_passed] = stage.base
            return
        stage.found.step_ends[stage.step] = stage.base
        stage.step += 1
        stage.place = stage.bases_passed = 0
        stage.base = stage.base + STEP_GAP_NS
        if not stage.finished:
            stage.found.step_starts[stage.step] = stage.base
            stage.found.bases[stage.step, 0] = stage.base

    def _post(self, stage: _Stage, place: int, item: Collective) -> None:
        """Reach a collective; play it once all its stages have."""
        seen = stage.base + stage.seen[stage.step, stage.place]
        stage.free = np.maximum(stage.free + GAP_NS, seen) + EVENT_NS
        own = stage.channels.get(channel(item), stage.base * 0)
        # Its own stream waits for the compute stream, for a tick at least.
        ready = np.maximum(np.maximum(own, seen) + EVENT_NS, stage.free)
        number = stage.names[place]
        stage.found.ready[stage.step, number] = ready
        launched = stage.base + stage.queue[stage.step, stage.place] + SEEN_NS
        stage.posted[place] = channel(item), launched
        key, expected = self._key(stage, place, item)
        present = self.meetings.setdefault(key, [])
        present.append((stage, place, ready))
        if len(present) == expected:
            del self.meetings[key]
            self._play(present, item, stage.step)

    def _find_waits(self) -> None:
        """What the ranks need of each other to be expanded alone, all steps at once."""
        for parts, gathering in self.gatherings.items():
            present = [(self.stages[number], place) for number, place in parts]
            ready = [stage.found.ready[:, stage.names[place]] for stage, place in present]
            waits = gathering.waits(np.concatenate(ready, axis=1))
            reached = 0
            for stage, place in present:
                stage.keep(place, waits[..., reached : reached + len(stage.ranks)])
                reached += len(stage.ranks)

    def _key(self, stage: _Stage, place: int, item: Collective) -> tuple[object, int]:
        stages = len(self.stages)
        if item.kind in SENDS:
            other = (stage.number + item.peer) % stages
            ends = (stage.number, other) if item.kind == "send" else (other, stage.number)
            return (stage.step, *ends, item.tag), 2
        if item.dimension in ("world", "pp"):
            before = sum(
                collective.dimension == item.dimension and collective.kind not in SENDS
                for other, collective in stage.compiled.collectives
                if other < place
            )
            return (stage.step, item.dimension, before), stages
        return (stage.step, stage.number, place), 1

    def _play(
        self, present: list[tuple[_Stage, int, Integers]], item: Collective, step: int
    ) -> None:
        def order(part: tuple[_Stage, int, Integers]) -> int:
            """Senders before receivers, else by stage."""
            stage, place, _ = part
            other = stage.compiled.program.items[place]
            if isinstance(other, Collective) and other.kind in SENDS:
                return other.kind == "receive"
            return stage.number

        present.sort(key=order)
        key = tuple((stage.number, place) for stage, place, _ in present)
        if key not in self.gatherings:
            self.gatherings[key] = self._gathering(present, item)
        ended = self.gatherings[key].ends(np.concatenate([part for _, _, part in present]), step)
        reached = 0
        for stage, place, _ in present:
            stage.close(place, ended[reached : reached + len(stage.ranks)])
            reached += len(stage.ranks)

    def _gathering(
        self, present: list[tuple[_Stage, int, Integers]], item: Collective
    ) -> Gathering:
        stages = [stage for stage, _, _ in present]
        if item.kind in SENDS:
            groups = np.stack([stage.ranks for stage in stages], axis=1)
        else:
            groups = self.network.groups(item.dimension, [stage.number for stage in stages])
        members = np.concatenate([stage.ranks for stage in stages])
        numbers = np.zeros(int(members.max()) + 1, np.int64)
        for stage, place, _ in present:
            numbers[stage.ranks] = stage.names[place]
        return Gathering(self.network, item, groups, numbers[groups], members)
