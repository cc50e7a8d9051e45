"""Flags between the pipes of a core, and between the cores of a mix block: who sets them, who
waits, and what is left at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..chip import KernelChip
from .listing import CROSS_SET, CROSS_WAIT, SET, WAIT, Instruction
from .tape import FlagKey, Tape

if TYPE_CHECKING:
    from .model import Draft

SPELLED = {"VECTOR": "VEC", "CUBE": "M", "FIXP": "FIX", "SCALAR": "S"}
"""Pipes as the operands of flags name them, where they differ (seed 004)."""
EVENT_SET, EVENT_WAIT = "set_event", "wait_event"
"""Their names on 310P."""
FFTS_SET, DEVICE_WAIT = "FFTS_CROSS_CORE_SYNC", "WAIT_FLAG_DEV"
"""On 910B the flags are counted outside of the cores, and the scalar unit waits for them."""
FIRST_NUMBER = 8
"""Numbers below are kept for libraries."""


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
        tape.set_flag(unit, self._sets[name], self._key(unit, name, slot))

    def take(
        self, tape: Tape, unit: int, name: str, slot: int, *, unless_new: bool = False
    ) -> None:
        """Wait for a flag; ``unless_new``: but not for a buffer that was never in use."""
        key = self._key(unit, name, slot)
        if not unless_new or tape.pending[key]:
            tape.wait_flag(unit, self._waits[name], key)

    def slot(self, tape: Tape, unit: int, name: str) -> int:
        """Which buffer is used for the next of what is counted under a name."""
        return tape.numbers[unit, f"{self._prefix}{name}"] % self._slots

    def next(self, tape: Tape, unit: int, name: str) -> int:
        """The same, and go on to the one after it."""
        slot = self.slot(tape, unit, name)
        tape.numbers[unit, f"{self._prefix}{name}"] += 1
        return slot

    def drain(self, tape: Tape, unit: int) -> None:
        """Wait for all flags that are set."""
        for name in self._sets:
            for slot in range(self._slots):
                self.take(tape, unit, name, slot, unless_new=True)

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


class CrossFlags:
    """Flags between the cube core and the vector cores of a mix block, by name; each is set by one
    kind of core and awaited by the other.
    """

    def __init__(self, draft: Draft) -> None:
        self._code, self._near = draft.code, draft.chip.family == "950"
        self._sets: dict[str, Instruction] = {}
        self._waits: dict[str, Instruction] = {}

    def set(self, name: str, pipe: str, mark: str) -> None:
        """Add the instruction that sets a flag when all before it on a pipe is done."""
        self._sets[name] = self._code.add(
            pipe, CROSS_SET if self._near else FFTS_SET, f"PIPE:{pipe},sync_id", mark
        )

    def wait(self, name: str, pipe: str, mark: str) -> None:
        """Add the instruction that holds a pipe (on 910B the scalar unit) until the flag is set."""
        held = pipe if self._near else "SCALAR"
        self._waits[name] = self._code.add(
            held, CROSS_WAIT if self._near else DEVICE_WAIT, f"PIPE:{held},sync_id", mark
        )

    def give(self, tape: Tape, source: int, targets: tuple[int, ...], name: str) -> None:
        """Set the flag for each of some sub-cores."""
        for target in targets:
            tape.set_flag(source, self._sets[name], self._key(source, target, name))

    def take(self, tape: Tape, target: int, sources: tuple[int, ...], name: str) -> None:
        """Wait until each of some sub-cores has set it."""
        for source in sources:
            tape.wait_flag(target, self._waits[name], self._key(source, target, name))

    def drain(self, tape: Tape, unit: int) -> None:
        """Wait for all flags that are set for a sub-core, in the order of the sub-cores."""
        for name in self._waits:
            keys = [self._key(source, unit, name) for source in range(len(tape.tallies))]
            while sources := tuple(source for source, key in enumerate(keys) if tape.pending[key]):
                self.take(tape, unit, sources, name)

    def _key(self, source: int, target: int, name: str) -> FlagKey:
        number = FIRST_NUMBER + sorted(self._sets.keys() | self._waits.keys()).index(name)
        return (source, self._sets[name].pipe, target, self._waits[name].pipe, number)
