"""Flags between the pipes of a core: who sets them, who waits, and what is left at the end."""

from __future__ import annotations

from ..chip import KernelChip
from .listing import SET, WAIT, Instruction
from .model import Draft
from .tape import FlagKey, Tape

SPELLED = {"VECTOR": "VEC", "CUBE": "M", "FIXP": "FIX", "SCALAR": "S"}
"""Pipes as the operands of flags name them, where they differ (seed 004)."""
EVENT_SET, EVENT_WAIT = "set_event", "wait_event"
"""Their names on 310P."""


class Flags:
    """The flags of one part of a kernel; ``prefix`` of its marks in the source.

    slots: numbers that each flag needs, one per buffer. A flag of a name and a slot is set once
    before each wait; the sets that no wait took are awaited by :meth:`drain`.
    """

    def __init__(self, draft: Draft, prefix: str, slots: int) -> None:
        self._code, self._chip, self._prefix, self._slots = draft.code, draft.chip, prefix, slots
        self._sets: dict[str, Instruction] = {}
        self._waits: dict[str, Instruction] = {}
        self._pipes: dict[str, tuple[str, str]] = {}
        self._numbers: dict[str, int] = {}

    def set(self, name: str, source: str, target: str, mark: str) -> None:
        """Add the instruction that sets a flag."""
        self._sets[name] = self._add(SET, name, source, target, mark)

    def wait(self, name: str, source: str, target: str, mark: str) -> None:
        """Add the instruction that waits for it."""
        self._waits[name] = self._add(WAIT, name, source, target, mark)

    def give(self, tape: Tape, unit: int, name: str, slot: int) -> None:
        """Set a flag."""
        tape.pending[unit, self._named(name), slot] += 1
        tape.set_flag(unit, self._sets[name], self._key(unit, name, slot))

    def take(
        self, tape: Tape, unit: int, name: str, slot: int, *, unless_new: bool = False
    ) -> None:
        """Wait for a flag; ``unless_new``: but not for a buffer that was never in use."""
        place = (unit, self._named(name), slot)
        if unless_new and not tape.pending[place]:
            return
        tape.pending[place] -= 1
        tape.wait_flag(unit, self._waits[name], self._key(unit, name, slot))

    def drain(self, tape: Tape, unit: int) -> None:
        """Wait for all flags that are set."""
        for name in self._sets:
            for slot in range(self._slots):
                self.take(tape, unit, name, slot, unless_new=True)

    def _named(self, name: str) -> str:
        return f"{self._prefix}{name}"

    def _add(self, name: str, flag: str, source: str, target: str, mark: str) -> Instruction:
        if flag not in self._pipes:
            self._pipes[flag] = (source, target)
            self._numbers[flag] = self._code.events(source, target, self._slots)
        pipe = source if name == SET else target
        return self._code.add(
            pipe,
            self._name(name),
            flag_operands(self._chip, source, target),
            f"{self._prefix}{mark}",
        )

    def _name(self, name: str) -> str:
        if not self._chip.unified:
            return name
        return EVENT_SET if name == SET else EVENT_WAIT

    def _key(self, unit: int, name: str, slot: int) -> FlagKey:
        source, target = self._pipes[name]
        return (unit, source, unit, target, self._numbers[name] + slot)


def flag_operands(chip: KernelChip, source: str, target: str, number: int | None = None) -> str:
    """How the text of a SET or WAIT names its pipes, and the number of its flag."""
    first, second = SPELLED.get(source, source), SPELLED.get(target, target)
    shown = "" if number is None else f":{number}"
    if chip.unified:
        return f"pipe_type:{first},tigger_pipe:{second},event_id{shown}"
    return f"PIPE:{first},TRIGGERPIPE:{second},FLAGID{shown}"
