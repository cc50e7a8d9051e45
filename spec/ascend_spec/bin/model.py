"""What the documents of this folder say, as immutable objects: facts, no behaviour.

An epoch is named by its id (``E0``); ``since`` is the first epoch with a fact, ``until`` the first
one without it, ``None`` where there is no such bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ascend_spec.core import Bounds, Grade

Payload = Literal["none", "source", "json", "trace-records", "cache-records"]
Read = Literal["never", "first", "all", "last-of-a-path"]
Writer = Literal["device", "simulator"]
Shape = Literal["value", "per-core"]


@dataclass(frozen=True, slots=True)
class Writing:
    """When one kind of run writes a block type.

    ``place`` orders the types within the file; ``when`` states what else it takes (``None``: the
    type is always written).
    """

    place: int
    when: str | None = None


@dataclass(frozen=True, slots=True)
class Requirement:
    """Another block type that a reader of this one needs, and what for."""

    block: int
    why: str


@dataclass(frozen=True, slots=True)
class BlockType(Bounds):
    """One block type.

    ``many``: several blocks of the type are sound. ``read``: which of them the viewer takes.
    ``names``: what the document calls it, and the enumerators of exporter and viewer.
    ``experimental``: documented, but nobody is known to write or read it.
    """

    code: int
    name: str
    slug: str
    summary: str
    payload: Payload
    many: bool
    read: Read
    grade: Grade
    source: tuple[str, ...]
    document_names: tuple[str, ...] = ()
    exporter_name: str | None = None
    viewer_name: str | None = None
    requires: tuple[Requirement, ...] = ()
    written: Mapping[Writer, Writing] = field(default_factory=dict)
    experimental: bool = False
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Epoch:
    """One state of the format. ``signs``: by block type, the JSON Schema that its payload obeys
    in files of this epoch and not in all later ones.
    """

    id: str
    date: str
    grade: Grade
    summary: str
    source: tuple[str, ...]
    signs: Mapping[int, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class PathSet:
    """The memory paths of one kind of operator on one family of chips.

    ``paths`` are always written, those of ``extra`` only when the named option was on
    (``transfers``: volumes of API transfers known; ``detail``: memory detail). ``rows`` maps a path
    to the memory table that repeats its request and bandwidth, and the number of the row there,
    from 0; with memory detail the paths of ``apart_with_detail`` differ from theirs.
    """

    chip: str
    op_type: str
    paths: tuple[int, ...]
    rows: Mapping[int, tuple[str, int]]
    extra: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    apart_with_detail: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """One table of block 0x09: ``headers`` begin with the empty cell above the row names.

    ``optional_rows`` follow ``rows`` where their value is not zero.
    """

    name: str
    headers: tuple[str, ...]
    rows: tuple[str, ...]
    optional_rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadEntry:
    """One entry that 0x06 or 0x07 holds for each sub-block: its name and the code of its unit.

    ``optional``: only where its value is not zero.
    """

    name: str
    unit: int
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of 0x03 (a key of a line) or 0x04 (a key of an instruction).

    ``dtype`` is the code that exporters declare for it; ``shape`` whether each kind of run writes
    one value or one per core (a run that is not named does not write it). ``when`` states what
    else it takes to be written, ``declared`` for each kind of run what else it takes to stand
    in the dtype object; ``none`` is the value that means "not applicable".
    """

    name: str
    dtype: int
    shape: Mapping[Writer, Shape]
    summary: str
    unit: str | None = None
    none: int | None = None
    when: str | None = None
    declared: Mapping[Writer, str] = field(default_factory=dict)
    chips: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RooflineChart:
    """One chart of block 0x0D: its title and the bandwidths whose lines it may hold, sorted."""

    title: str
    bandwidths: tuple[str, ...]
