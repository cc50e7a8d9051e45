"""What one checkout states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ascend_spec.db.model import Carrier


class Unreadable(Exception):
    """A checkout, or a file in it, that does not hold what is looked for there; says where."""


@dataclass(frozen=True, slots=True)
class StatedColumn:
    """One column of a table, with the type of its declaration."""

    name: str
    declared: str
    primary_key: bool = False


@dataclass(frozen=True, slots=True)
class StatedTable:
    """One table: columns in the order in which they are declared, indexes with their columns.

    ``where``: file of the checkout and line.
    """

    name: str
    columns: tuple[StatedColumn, ...]
    where: str
    indexes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatedNames:
    """Numbers and their names: an enum table, or the types of blocks.

    ``elsewhere``: names whose numbers the checkout takes from files that it does not hold.
    """

    name: str
    members: Mapping[int, str]
    where: str
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatedHeaders:
    """Headers of a CSV file, in the order in which they are written.

    ``whole``: the file has no others; else those of another exporter stand among them.
    """

    name: str
    headers: tuple[str, ...]
    where: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Stated:
    """What was read of a checkout: ``source`` is the id of the spec's source that it is a state of.

    ``writer`` and ``carriers`` are whose tables these are, and in which databases they stand;
    ``output`` is that of the writer whose headers they are (``text/writers.yaml``).
    ``schema_version``: that of the databases, ``None`` where the source states none.
    """

    source: str
    writer: str = ""
    carriers: tuple[Carrier, ...] = ()
    output: str = ""
    tables: Mapping[str, StatedTable] = field(default_factory=dict)
    enums: Mapping[str, StatedNames] = field(default_factory=dict)
    headers: Mapping[str, StatedHeaders] = field(default_factory=dict)
    blocks: StatedNames | None = None
    schema_version: str | None = None
