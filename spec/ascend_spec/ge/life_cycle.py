"""Functions that control the profiling, what each answers in which state, and bits of its data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ascend_spec.core import Grade

Reading = Literal["strict", "lenient"]
"""What documents describe, or what the runtime does since its commit 18799fa3 (erratum G62)."""

FirstMode = Literal["OFF", "CMD", "SUBSCRIBE"]
"""Which way of control may have the profiling before a function is called."""

Mode = FirstMode | Literal["API_CTRL"]
"""Which way of control has the profiling of a process."""

StateName = FirstMode | Literal["IDLE", "STARTED"]
"""A mode is a state, but for that of the functions, which has two."""

Standing = Literal["public", "supported", "outside"]
"""Of a bit: in the header, taken by a start as well, or refused by it."""


@dataclass(frozen=True, slots=True)
class FunctionArgument:
    """One argument of a function of C."""

    name: str
    type: str
    summary: str


@dataclass(frozen=True, slots=True)
class ArgumentCheck:
    """What a function checks: the code where it does not hold, ``None`` for a null pointer.

    ``least`` and ``most`` bound what is counted; ``characters`` are those that are refused.
    """

    check: str
    summary: str
    code: int | None = None
    least: int | None = None
    most: int | None = None
    characters: str = ""
    errata: tuple[str, ...] = ()

    def allows(self, count: int) -> bool:
        """Whether a count is within the bounds."""
        return (self.least or 0) <= count and (self.most is None or count <= self.most)


@dataclass(frozen=True, slots=True)
class GeFunction:
    """A function of ``ge/ge_prof.h`` (control) or of ``profiling/aprof_pub.h`` (library).

    ``folds``: every code but 0 is returned as GE_PROF_FAILED. ``by_name``: loaded by its name.
    ``instead_of``: names in documents that do not exist.
    """

    function: str
    of: Literal["control", "library"]
    returns: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    arguments: tuple[FunctionArgument, ...] = ()
    checks: tuple[ArgumentCheck, ...] = ()
    folds: bool = False
    by_name: bool = False
    instead_of: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()

    @property
    def header(self) -> str:
        """The header that declares it."""
        return {"control": "ge/ge_prof.h", "library": "profiling/aprof_pub.h"}[self.of]

    def check(self, name: str) -> ArgumentCheck:
        """One of its checks. Raises ``KeyError`` for an unknown one."""
        for one in self.checks:
            if one.check == name:
                return one
        raise KeyError(f"{self.function} has no check {name!r}")


@dataclass(frozen=True, slots=True)
class ReturnCode:
    """A number that a function returns."""

    code: int
    name: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfilingState:
    """A state of the profiling of a process."""

    state: StateName
    mode: Mode
    summary: str
    source: tuple[str, ...]
    grade: Grade
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallTransition:
    """What a call answers in a state, before folding, and the state afterwards.

    ``reading``: ``None`` for both. ``bits``: whether those of the configuration are the same as
    those of the start, ``None`` where that does not matter.
    """

    call: str
    state: StateName
    code: int
    then: StateName
    summary: str
    source: tuple[str, ...]
    grade: Grade
    reading: Reading | None = None
    bits: Literal["same", "different"] | None = None
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DataType:
    """A bit of ``data_type_config`` and ``profSwitch``, by the collector's name of it.

    ``implies``: names that are added to a configuration that has it. ``added``: to every
    configuration, or to every command that modules are given, there where the configuration has
    ``added_with``. ``hidden``: modules are not given it. ``documented``: whether the public page
    lists it.
    """

    name: str
    mask: int
    standing: Standing
    summary: str
    source: tuple[str, ...]
    grade: Grade
    public_name: str | None = None
    also: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()
    added: Literal["configuration", "command"] | None = None
    added_with: str | None = None
    hidden: bool = False
    documented: bool = True
    errata: tuple[str, ...] = ()


def transition_in(
    transitions: Iterable[CallTransition],
    call: str,
    state: StateName,
    reading: Reading,
    same_bits: bool,
) -> CallTransition:
    """What a call answers in a state. Raises ``KeyError`` where that is not described."""
    bits = "same" if same_bits else "different"
    for one in transitions:
        is_asked = (one.call, one.state) == (call, state)
        if is_asked and one.reading in (None, reading) and one.bits in (None, bits):
            return one
    raise KeyError(f"{call} in {state} is not described")


def supported_mask(types: Iterable[DataType]) -> int:
    """The bits that a start takes."""
    return sum(one.mask for one in types if one.standing != "outside")


def effective_bits(types: Mapping[str, DataType], given: int) -> int:
    """Bits of a configuration: given ones, those they imply, and those that are always added."""
    found = given
    for one in types.values():
        if given & one.mask:
            for name in one.implies:
                found |= types[name].mask
        if one.added == "configuration":
            found |= one.mask
    return found


def commanded_bits(types: Mapping[str, DataType], configured: int) -> int:
    """Bits that modules are given for those of a configuration."""
    found = configured
    for one in types.values():
        needed = 0 if one.added_with is None else types[one.added_with].mask
        if one.added == "command" and configured & needed == needed:
            found |= one.mask
        if one.hidden:
            found &= ~one.mask
    return found
