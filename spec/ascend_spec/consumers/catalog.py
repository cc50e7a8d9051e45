"""The readers of a spec in memory: behaviours, and the contract of each reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from ascend_spec.core import DAYS, Bounds, Grade, Loader
from ascend_spec.core.loader import Row, part
from ascend_spec.db.model import Carrier

BEHAVIOURS = "consumers/behaviours.yaml"
READERS = "consumers/readers"

Effect = Literal["fails", "complains", "nothing", "without"]
"""What becomes of a part when something that it reads is not there: it reports an error and gives
no result; it reports an error, and gives a result without it; it gives no result and no error; it
gives a result without it, and no error.
"""
Kind = Literal["fails", "drops", "misreads", "changes"]
Medium = Literal["timeline", "database"]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A way in which readers go wrong, by which they are described; the list is closed.

    ``unit``: what is counted, in the plural. ``outcome``: what a report says has become of them.
    """

    id: str
    of: Medium
    kind: Kind
    unit: str
    outcome: str
    summary: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Version(Bounds):
    """A state of a reader: ``version`` is the first one with it, ``last`` the last one known.
    ``since`` is the day of the first, ``until`` that of the next state.
    """

    version: str
    last: str | None = None
    summary: str | None = None

    @property
    def words(self) -> str:
        """``51.0 to 56.1``."""
        return f"{self.version} to {self.last}" if self.last else self.version


@dataclass(frozen=True, slots=True)
class Trait(Bounds):
    """That a reader has a behaviour. ``columns``: where, of databases."""

    behaviour: str
    grade: Grade
    source: tuple[str, ...]
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Join:
    """What becomes of rows whose ``column`` is not in ``to`` (TABLE.column): they are dropped, or
    shown with a blank, or skipped because they are none of its business.
    """

    column: str
    to: str
    otherwise: Literal["dropped", "blank", "skipped"]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table that a part shows: those for which ``where`` (SQL) holds, and whose
    joins find a partner. ``none``: what becomes of the part where that is no row.
    """

    of: str
    where: str | None = None
    joins: tuple[Join, ...] = ()
    none: Effect = "nothing"


@dataclass(frozen=True, slots=True)
class Read(Bounds):
    """What a part reads at once: columns by table, headers by CSV file, keys by document, keys of
    the events of timelines, or raw files.

    ``absent``: what becomes of the part where a table or file is not there; ``lacking`` where one
    of its columns, headers or keys is not. ``either``: sets of columns, by table, of which one is
    enough. ``unless``: rows with which it is not read; without a condition a table. ``exact``:
    names are looked for with their capitals, which SQL does not.
    """

    grade: Grade
    source: tuple[str, ...]
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    csv: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    documents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    timelines: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    either: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    unless: Rows | None = None
    exact: bool = False
    absent: Effect = "fails"
    lacking: Effect = "fails"
    rows: Rows | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """What a reader offers: a recipe, a page, a command.

    ``folder``: what the name of the profile must be, an expression. ``made_of``: parts that it
    consists of. ``needs``: databases without which a rank is passed
    over. ``empty``: what it does where no rank gives a row. ``always``: why it reports an error
    whatever it reads.
    """

    name: str
    summary: str
    reads: tuple[Read, ...] = ()
    does: tuple[Trait, ...] = ()
    folder: str | None = None
    made_of: tuple[str, ...] = ()
    needs: tuple[Carrier, ...] = ()
    writes: tuple[str, ...] = ()
    empty: Effect = "nothing"
    always: str | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that reads profiles, with its states, oldest first."""

    name: str
    program: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    versions: tuple[Version, ...]
    parts: Mapping[str, Part]
    note: str | None = None

    def states(self) -> Iterator[State]:
        """Each version with what holds in it."""
        return (State(self, version) for version in self.versions)


@dataclass(frozen=True, slots=True)
class State:
    """A reader at one of its versions; ``only`` one of its parts, or all."""

    reader: Reader
    version: Version
    only: str | None = None

    @property
    def name(self) -> str:
        """``perfetto@51.0``, ``msprof-analyze@26.2.0/hccl_sum``."""
        part = f"/{self.only}" if self.only else ""
        return f"{self.reader.name}@{self.version.version}{part}"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that are meant."""
        parts = self.reader.parts
        return tuple(parts.values()) if self.only is None else (parts[self.only],)

    def traits(self, part: Part) -> tuple[Trait, ...]:
        """The behaviours of a part that it has."""
        return tuple(one for one in part.does if self._holds(one))

    def reads(self, part: Part) -> tuple[Read, ...]:
        """What a part reads in it."""
        return tuple(one for one in part.reads if self._holds(one))

    def _holds(self, bounds: Bounds) -> bool:
        return DAYS.in_force(bounds, self.version.since or "")


class ConsumerCatalog:
    """The readers of a spec; ``Spec.consumers`` are the loaded ones."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def behaviours(self) -> Mapping[str, Behaviour]:
        """Behaviours by id."""
        return self.documents.named(Behaviour, BEHAVIOURS, "id")

    @cached_property
    def readers(self) -> Mapping[str, Reader]:
        """Readers by name, in the order of the names of their documents."""
        found = [self._reader(row, name) for name, row in self.documents.folder.documents(READERS)]
        return {reader.name: reader for reader in found}

    @cached_property
    def readers_of(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """By table of a database the readers of it, each with those of its parts that read it."""
        found: dict[str, dict[str, dict[str, None]]] = {}
        for reader in self.readers.values():
            for one in reader.parts.values():
                for read in one.reads:
                    for table in (*read.tables, *read.either):
                        of = found.setdefault(table, {}).setdefault(reader.name, {})
                        of[one.name] = None
        return {
            table: {reader: tuple(parts) for reader, parts in readers.items()}
            for table, readers in found.items()
        }

    def _reader(self, row: Row, place: str) -> Reader:
        source = row.get("source")
        rows = part(row, "parts", dict, place)
        parts = {name: self._part(name, one, source, place) for name, one in rows.items()}
        versions = part(row, "versions", list, place)
        ends = [one.get("since") for one in versions[1:]] + [None]
        states = [
            self.documents.fact(Version, one, f"{place}: versions", until=end)
            for one, end in zip(versions, ends, strict=True)
        ]
        return self.documents.fact(
            Reader,
            {key: value for key, value in row.items() if key != "reader"},
            place,
            name=part(row, "reader", str, place),
            parts=parts,
            versions=states,
        )

    def _part(self, name: str, row: Row, source: object, place: str) -> Part:
        where = f"{place}: {name}"
        sourced = {"source": row.get("source", source)}
        own = {key: value for key, value in row.items() if key != "source"}
        reads = [
            self.documents.fact(Read, {**sourced, **one}, where) for one in row.get("reads", ())
        ]
        does = [
            self.documents.fact(Trait, {**sourced, **one}, where) for one in row.get("does", ())
        ]
        return self.documents.fact(Part, own, where, name=name, reads=reads, does=does)
