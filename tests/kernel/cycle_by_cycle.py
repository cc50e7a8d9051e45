"""A scoreboard that goes from cycle to cycle, with nothing looked up ahead."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from ascend_simulator.operator.timing import ICACHE_MISS_CYCLES, QUEUE_DEPTH


@dataclass
class Act:
    """One instruction. kind: work, set, wait or barrier; flag: of a set or wait."""

    unit: int
    pipe: str
    cycles: int
    kind: str = "work"
    flag: str = ""
    cold: bool = False
    issued: int = -1
    start: int = -1
    end: int = -1


class Loop:
    """Runs acts; raises when nothing can happen any more."""

    def __init__(self, acts: Sequence[Act]) -> None:
        self.programs: dict[int, deque[Act]] = defaultdict(deque)
        for act in acts:
            self.programs[act.unit].append(act)
        self.queues: dict[tuple[int, str], deque[Act]] = defaultdict(deque)
        self.running: dict[tuple[int, str], Act] = {}
        self.flags: dict[str, deque[int]] = defaultdict(deque)
        self.ready: dict[int, int] = dict.fromkeys(self.programs, 0)
        self.left = len(acts)

    def run(self, most: int = 50_000) -> None:
        for now in range(most):
            while self._finish(now) or self._begin(now) or self._issue(now):
                pass
            if not self.left:
                return
        raise AssertionError("the acts do not come to an end")

    def _finish(self, now: int) -> bool:
        for lane, act in list(self.running.items()):
            if act.kind == "wait" and act.end < 0:
                set_at = self.flags[act.flag][0] if self.flags[act.flag] else None
                if set_at is None or now < max(act.start, set_at) + 1:
                    continue
                self.flags[act.flag].popleft()
                act.end = now
            elif act.end < 0 and now >= act.start + act.cycles:
                act.end = now
            if act.end == now:
                if act.kind == "set":
                    self.flags[act.flag].append(now)
                if self._blocks(act):
                    self.ready[act.unit] = now
                del self.running[lane]
                self.left -= 1
                return True
        return False

    def _begin(self, now: int) -> bool:
        for lane, queue in self.queues.items():
            if not queue or lane in self.running or now < queue[0].issued:
                continue
            act = queue[0]
            others = [one for one in self.running if one[0] == act.unit]
            waiting = [one for one, own in self.queues.items() if own and one[0] == act.unit]
            if act.kind == "barrier" and (others or waiting != [lane]):
                continue
            act.start = now
            queue.popleft()
            self.running[lane] = act
            return True
        return False

    def _issue(self, now: int) -> bool:
        for unit, program in self.programs.items():
            if not program or self.ready[unit] < 0:
                continue
            act = program[0]
            needed = self.ready[unit] + 1 + (ICACHE_MISS_CYCLES if act.cold else 0)
            lane = (unit, act.pipe)
            if now < needed or len(self.queues[lane]) >= QUEUE_DEPTH:
                continue
            act.issued = now
            program.popleft()
            self.queues[lane].append(act)
            # Its own instructions and barriers hold the scalar unit until they end.
            self.ready[unit] = -1 if self._blocks(act) else now
            return True
        return False

    @staticmethod
    def _blocks(act: Act) -> bool:
        return act.pipe == "SCALAR" or act.kind == "barrier"
