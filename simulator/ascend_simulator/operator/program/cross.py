"""Flags between the cube core and the vector cores of a mix block."""

from __future__ import annotations

from .listing import CROSS_SET, CROSS_WAIT, Instruction
from .model import Draft
from .tape import Tape

FFTS_SET, DEVICE_WAIT = "FFTS_CROSS_CORE_SYNC", "WAIT_FLAG_DEV"
"""On 910B the flags are counted outside of the cores, and the scalar unit waits for them."""
FIRST_NUMBER = 8
"""Numbers below are kept for libraries."""


class CrossFlags:
    """Flags by name; each is set by one kind of core and awaited by the other."""

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

    def _key(self, source: int, target: int, name: str) -> tuple[int, str, int, str, int]:
        number = FIRST_NUMBER + sorted(self._sets.keys() | self._waits.keys()).index(name)
        return (source, self._sets[name].pipe, target, self._waits[name].pipe, number)
