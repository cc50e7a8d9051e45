"""The facts of the databases as immutable objects, one kind for each kind of YAML document.

Bounds are ISO days (``2026-01-28``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ascend_spec.core import DAYS, Alteration, Bounds, Grade, StorageClass
from ascend_spec.core.shows import Show

Reading = Literal["documented", "observed"]
Carrier = Literal["msprof", "pytorch", "analysis"]
Presence = Literal["always", "when-rows", "by-switch"]

STRINGS = "STRING_IDS.id"
"""What a column refers to whose values are numbers of texts."""
CARRIERS: tuple[Carrier, ...] = ("msprof", "pytorch", "analysis")


@dataclass(frozen=True, slots=True)
class Revision:
    """One real state of the schema; ``date`` orders the revisions and selects their facts."""

    id: str
    schema_version: str
    date: str
    grade: Grade
    summary: str


@dataclass(frozen=True, slots=True)
class Column(Bounds):
    """One column of a table, with the facts of its value type already merged in.

    ``none`` lists the sentinels that mean "no value"; ``nullable`` says when NULL really occurs
    (``None``: never); ``members`` closes the set of texts, directly or through ``STRING_IDS``.
    ``references`` holds ``TABLE.column`` targets, of which one must hold the value. ``shows``: what
    of the recording the column shows. ``changed``: how it became otherwise under the same name,
    oldest first. ``adapter_only``: added by the adapter of torch_npu to a
    table that MindSpore keeps as the analysis of msprof writes it.
    """

    name: str
    type: str
    shows: Show
    declared: str
    storage: tuple[StorageClass, ...]
    summary: str
    grade: Grade
    source: tuple[str, ...]
    also_declared: tuple[str, ...] = ()
    primary_key: bool = False
    unit: str | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    references: tuple[str, ...] = ()
    soft_reference: bool = False
    none: tuple[int, ...] = ()
    nullable: str | None = None
    members: tuple[str, ...] = ()
    adapter_only: bool = False
    renamed_from: str | None = None
    changed: tuple[Alteration, ...] = ()
    errata: tuple[str, ...] = ()

    @property
    def text_reference(self) -> str | None:
        """:data:`STRINGS` or the enum table whose ids the column holds; ``None`` for others."""
        for target in self.references:
            table, _, key = target.partition(".")
            if target == STRINGS:
                return STRINGS
            if table.startswith("ENUM_") and key == "id":
                return table
        return None


@dataclass(frozen=True, slots=True)
class Table(Bounds):
    """One table: its columns in the exporter's order and the circumstances of its existence.

    ``data``: the rows of the matrix of products that it holds; none for what every database has.
    ``without_device_data``: torch_npu creates it itself where CANN's profiler did not run.
    ``renamed_from``: its name until ``renamed_on``, or before ``since``. ``carriers_since``: the
    day from which a carrier holds it, where not all do so from ``since`` on. ``changed``: how its
    rows became otherwise.
    """

    name: str
    summary: str
    writer: str
    carriers: Mapping[Carrier, Presence]
    columns: Mapping[str, Column]
    grade: Grade
    source: tuple[str, ...]
    data: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    levels: tuple[int, ...] = (0, 1, 2)
    indexes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    interval: tuple[str, str] | None = None
    sample: str | None = None
    session_start: Literal["hard", "soft"] | None = None
    device: str | None = None
    rows: Literal["one", "some"] | None = None
    adapter_only: bool = False
    without_device_data: bool = False
    renamed_from: str | None = None
    renamed_on: str | None = None
    carriers_since: Mapping[Carrier, str] = field(default_factory=dict)
    changed: tuple[Alteration, ...] = ()
    note: str | None = None
    errata: tuple[str, ...] = ()

    def is_held(self, carrier: Carrier, day: str) -> bool:
        """Whether a carrier holds the table on a day (ISO)."""
        return (
            carrier in self.carriers
            and DAYS.in_force(self, day)
            and self.carriers_since.get(carrier, "") <= day
        )


@dataclass(frozen=True, slots=True)
class Member(Bounds):
    """One row of an enum table. ``carriers`` empty: wherever the enum table stands."""

    id: int
    name: str
    grade: Grade
    carriers: tuple[Carrier, ...] = ()
    emitted: bool = True
    source: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum table and its contents; ``closed`` is false where unknown ids really occur."""

    name: str
    summary: str
    members: tuple[Member, ...]
    closed: bool = True


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """A table or column that a viewer adds in place, or that only old files hold; tolerated."""

    table: str
    column: str | None
    added_by: str
    summary: str


@dataclass(frozen=True, slots=True)
class Carried:
    """How cells of a table are made across a ``day``, where names, types and sentinels do not say.

    ``later``, ``earlier``: SQL by column of that side, on a row ``own`` of the opposite side, and
    on the row of the SELECT ``other`` with the same value of the column ``by``. ``differs``: the
    columns that stay as they are on the way back, and in which rows the earlier side would hold
    others. ``needs``: the columns (``TABLE.column``) that the SQL reads, without which it does not
    apply.
    """

    table: str
    day: str
    summary: str
    grade: Grade
    source: tuple[str, ...]
    later: Mapping[str, str] = field(default_factory=dict)
    earlier: Mapping[str, str] = field(default_factory=dict)
    differs: Mapping[str, str] = field(default_factory=dict)
    other: str | None = None
    by: str | None = None
    needs: tuple[str, ...] = ()
