"""What the documents of this folder say, as immutable objects: facts, little behaviour.

A chip is named by the number that ``platform_version`` of ``info.json`` holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ascend_spec.core import Bounds, Grade
from ascend_spec.core.names import NameForm

Side = Literal["host", "device", "framework"]
Form = Literal["records", "text", "json", "unknown"]
Folder = Literal["data", "side"]
TaskSource = Literal["ts-track", "hwts", "stars", "stars-v6", "nano"]
Export = Literal["csv", "timeline", "db"]

DONE = ".done"
"""What the name of the mark ends with that the collector puts next to each closed file."""

MARKS = (DONE, ".complete", ".zip")
"""Names that end so are marks and archives; no reader takes their content for data."""


@dataclass(frozen=True, slots=True)
class Member:
    """One kind of record of a file.

    ``values`` of the field that the file selects by mean this record; without any it is each
    record that no other member is. ``chips``: where it is written. ``when``: keys of side files,
    as ``sample.json/ai_core_profiling_mode``, and the value that each of them has then.
    """

    record: str
    values: tuple[int, ...] = ()
    chips: tuple[int, ...] = ()
    when: Mapping[str, str] = field(default_factory=dict)
    feeds: tuple[str, ...] = ()

    def is_written(self, chip: int, settings: Mapping[str, str]) -> bool:
        """Whether a chip writes it, as far as the settings of its side files say."""
        agree = (settings.get(key, value) == value for key, value in self.when.items())
        return chip in self.chips and all(agree)


@dataclass(frozen=True, slots=True)
class RawFile(Bounds):
    """One kind of raw file.

    ``name`` is its name, before the slice where it is cut into slices; ``aliases`` are names of
    older collectors for the same bytes. ``folder``: ``data`` of its side, or the one above with
    the side files. ``members``: the records of a file of records. ``select``: the field in which
    several of them differ. ``grammar``: the lines of a file of text that readers take apart.
    ``document``: the schema of a file of JSON. ``levels`` and ``type``: of the heads of all its
    records. ``from_level``: the lowest level of the profiler at which it is written. ``data``: what
    it belongs to that is collected together. ``feeds``: addresses of what exporters make of it.
    ``read``: whether the exporter reads it. ``required``: whether the folder must have one.
    """

    file: str
    side: Side
    name: NameForm
    summary: str
    source: tuple[str, ...]
    grade: Grade
    form: Form = "records"
    folder: Folder = "data"
    sliced: bool = True
    aliases: tuple[NameForm, ...] = ()
    select: str | None = None
    members: tuple[Member, ...] = ()
    grammar: str | None = None
    document: str | None = None
    levels: tuple[int, ...] = ()
    from_level: int = 0
    type: int | None = None
    chips: tuple[int, ...] = ()
    data: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    feeds: tuple[str, ...] = ()
    writer: str | None = None
    read: bool = True
    required: bool = False
    note: str | None = None
    errata: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[NameForm, ...]:
        """Every name under which readers take it, the own one first."""
        return self.name, *self.aliases

    def named(self, name: str) -> Mapping[str, str] | None:
        """The changing parts of a file's name, ``slice`` among them; ``None`` for another."""
        found = (form.named(name) for form in self.forms)
        return next((one for one in found if one is not None), None)

    def members_of(self, chip: int, settings: Mapping[str, str]) -> tuple[Member, ...]:
        """The kinds of records that a chip writes under the settings of its side files.

        A key that the settings lack decides nothing.
        """
        return tuple(one for one in self.members if one.is_written(chip, settings))


@dataclass(frozen=True, slots=True)
class Chip:
    """One generation of chips.

    ``name``: what databases call it. ``products``: families that have it. ``tasks``: the file by
    which the device logs its tasks. ``exports``: what the exporter in Python alone makes of it.
    ``native_exports``, ``native_parser``: what its library in C++ makes and parses. ``ddr_bits``:
    what one event of ``ddr.data`` counts; 0 without such a file. ``first_vector``: the first core
    of ``ffts_profile`` that is a vector core, those before it are cubes; 0 without such a file.
    ``events``: by record and column of the recording, the numbers of the events whose sum it is, as
    ``sample.json`` spells them; one with a minus is subtracted.
    """

    id: int
    constant: str
    tasks: TaskSource
    source: tuple[str, ...]
    grade: Grade
    name: str | None = None
    products: tuple[str, ...] = ()
    exports: tuple[Export, ...] = ()
    native_exports: tuple[Export, ...] = ()
    native_parser: bool = False
    ddr_bits: int = 0
    first_vector: int = 0
    events: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    note: str | None = None
