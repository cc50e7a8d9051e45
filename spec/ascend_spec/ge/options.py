"""Options of the graph engine's profiling: what may ask for it, and what each of them records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ascend_spec.core import Grade

CostClass = Literal["none", "low", "medium", "high"]
Step = Literal["parse", "points", "state", "callback", "init"]

EVERY = "*"
"""Every value of an option, where it turns something on."""


@dataclass(frozen=True, slots=True)
class Cost:
    """How much a run is slowed, or its files grow; nobody measured it."""

    cost_class: CostClass
    why: str
    grade: Grade = "inferred"


@dataclass(frozen=True, slots=True)
class Most:
    """The greatest value of an option on other chips than some."""

    value: int
    not_on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """One key of ``ge.exec.profilingOptions``.

    ``public``: whether public pages describe it. ``expects``: what its value may be, in words.
    ``code``: the error of a wrong value. ``cost``: of having it. ``deprecated``: the option that
    replaces it. ``unchecked``: the common check of values leaves it out. ``turns_on``: the
    collection switches by value, :data:`EVERY` for all, or by part of a text with commas.
    ``adds_to``: rows of the matrix of products that show more by it. ``of_use_with``: the option
    without which it says nothing. ``excludes``: options that public pages do not have it together
    with. ``chips``: those whose collector takes it, empty for all; ``values``: the same of some
    values. ``most``: where not all chips have the greatest value of the schema.
    """

    option: str
    summary: str
    public: bool
    expects: str
    code: str
    cost: Cost
    source: tuple[str, ...]
    grade: Grade
    deprecated: str | None = None
    unchecked: bool = False
    turns_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    adds_to: tuple[str, ...] = ()
    of_use_with: str | None = None
    excludes: tuple[str, ...] = ()
    chips: tuple[int, ...] = ()
    values: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    most: Most | None = None
    errata: tuple[str, ...] = ()

    def switches(self, value: object) -> tuple[str, ...]:
        """The collection switches that a value turns on, in the order of the document."""
        parts = value.split(",") if isinstance(value, str) else []
        on = [one for name, one in self.turns_on.items() if name == EVERY or name in parts]
        return tuple(dict.fromkeys(switch for one in on for switch in one))


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment, or a name that is taken for one.

    ``value``: with which it has its effect, ``None`` for any. ``instead_of_wrong``: the variable
    that is meant by a name that nothing reads.
    """

    variable: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    value: str | None = None
    instead_of_wrong: str | None = None
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryOption:
    """An option of GEInitialize or of a Session; ``on``: the value that turns the profiling on."""

    key: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    on: str | None = None
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InitStep:
    """A step of the initialisation, in the order in which they are."""

    step: Step
    summary: str
    source: tuple[str, ...]
    grade: Grade
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OptionError:
    """A code by which the graph engine or its collector refuse options."""

    code: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InitType:
    """What MsprofInit is called for."""

    value: int
    name: str


@dataclass(frozen=True, slots=True)
class EventCounters:
    """How many events Custom: may have: ``usual``, and ``more`` on some chips.

    ``last_public``: the last number of an event that public pages have.
    """

    usual: int
    more: int
    more_on: tuple[int, ...]
    last_public: int


@dataclass(frozen=True, slots=True)
class StorageLimit:
    """MB of storage_limit; less is raised to ``least``, more has no effect."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Always:
    """What is recorded whatever the options say: switches, and rows of the matrix of products."""

    switches: tuple[str, ...]
    data: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """How the profiling is asked for when the graph engine begins.

    ``longest``: bytes of the options that are kept. ``empty_metrics``: the group that an empty
    aic_metrics means. ``built_in``: the options where the environment has none.
    """

    mode: EntryOption
    options: EntryOption
    job: EntryOption
    longest: int
    always: Always
    empty_metrics: str
    counters: EventCounters
    storage: StorageLimit
    built_in: Mapping[str, str]
    source: tuple[str, ...]
    grade: Grade
    steps: tuple[InitStep, ...]
    errors: tuple[OptionError, ...]
    init_types: tuple[InitType, ...]


@dataclass(frozen=True, slots=True)
class ProfilingType:
    """Something that the runtime records, by its number; ``switched_by``: bits that turn it on."""

    name: str
    value: int
    summary: str
    source: tuple[str, ...]
    grade: Grade
    switched_by: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()

    @property
    def mask(self) -> int:
        """Its bit."""
        return 1 << self.value


@dataclass(frozen=True, slots=True)
class SwitchBit:
    """One bit of profSwitch, by the name and with the mask of its data type.

    ``set_by``: by option the values that set it; empty where it is set whatever they are, and
    ``set_with``: only together with another bit.
    """

    bit: str
    mask: int
    set_by: Mapping[str, tuple[str, ...]]
    summary: str
    source: tuple[str, ...]
    grade: Grade
    set_with: str | None = None
    also: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()

    @property
    def value(self) -> int:
        """Its number, from 0 on."""
        return self.mask.bit_length() - 1


@dataclass(frozen=True, slots=True)
class Metric:
    """A group of counters of the cores.

    ``metric``: what the collector calls it. ``value``: its number, ``None`` for what texts alone
    have. ``text``: in aic_metrics, ``None`` for none. ``group``: the group of the texts that has
    its columns. ``public``: whether ge_prof.h has the number. ``chips``: those that take it.
    """

    metric: str
    public: bool
    summary: str
    source: tuple[str, ...]
    grade: Grade
    value: int | None = None
    text: str | None = None
    group: str | None = None
    chips: tuple[int, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """What a row of the matrix of products, or a kind of raw file, needs besides a switch.

    ``program``: what a program must do, as words that follow ``where it``. ``along_with``: another
    row, without which nothing of this one is shown.
    """

    program: str
    source: tuple[str, ...]
    grade: Grade
    data: str | None = None
    raw: str | None = None
    along_with: str | None = None
    errata: tuple[str, ...] = ()
