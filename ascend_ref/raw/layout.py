"""How the records of a raw file lie in it: their size, what they begin with, how kinds differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import construct
import numpy as np
import numpy.typing as npt

from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw import RawFile, records

from .fields import numbers

Bytes = npt.NDArray[np.uint8]
"""Records as they stand in the file, of the shape (records, size)."""

_MAGICS = {
    "magicNumber": records.MAGIC,
    "magic": records.DEVICE_MAGIC,
    "header": records.SCHEDULER_MAGIC,
}


class Ambiguous(ValueError):
    """The records of a file cannot be known without a chip or a setting."""


class Kind(Protocol):
    """One kind of record: its declaration, and the values of the field that mean it."""

    @property
    def record(self) -> str:
        """The name of the declaration."""

    @property
    def values(self) -> tuple[int, ...]:
        """Of the field in which kinds differ; empty for what no other kind is."""


class Declarations(Protocol):
    """Gives declarations by their names, as catalogs do."""

    def record(self, name: str, /) -> construct.Struct:
        """The declaration of a record; ``KeyError`` for an unknown one."""


@dataclass(frozen=True)
class Layout:
    """The records of a file: ``members`` of one ``size``, which differ in the field ``select``.

    ``catalog``: where their declarations are.
    """

    size: int
    members: tuple[Kind, ...]
    select: str | None
    catalog: Declarations = field(default_factory=raw_catalog, compare=False, repr=False)

    def declaration(self, member: Kind) -> construct.Struct:
        """The declaration of a member's records."""
        return self.catalog.record(member.record)

    @cached_property
    def magic(self) -> tuple[int, bytes] | None:
        """Offset and bytes that all records have in common; ``None`` where they have none."""
        fields: Mapping[str, Any] = dtype_of(self.declaration(self.members[0])).fields or {}
        for name, value in _MAGICS.items():
            if name in fields:
                form, place = fields[name]
                return place, value.to_bytes(form.itemsize, "little")
        return None

    def is_record(self, rows: Bytes) -> npt.NDArray[np.bool_]:
        """Which rows begin as records do; all of them where nothing shows it."""
        if self.magic is None:
            return np.ones(len(rows), np.bool_)
        place, value = self.magic
        begins = rows[:, place : place + len(value)].view(f"<u{len(value)}")[:, 0]
        found: npt.NDArray[np.bool_] = begins == int.from_bytes(value, "little")
        return found

    def split(self, rows: Bytes) -> Sequence[npt.NDArray[np.bool_]]:
        """Which rows are records of each member, in the order of the members."""
        if len(self.members) == 1 and not self.members[0].values:
            return [np.ones(len(rows), np.bool_)]
        kinds = self.kinds(rows)
        # As kinds are: of 64 bits the greatest numbers are negative.
        taken = [
            np.isin(kinds, np.array(one.values, np.uint64).view(np.int64)) for one in self.members
        ]
        others = ~np.logical_or.reduce(taken) if taken else np.ones(len(rows), np.bool_)
        return [
            mask if one.values else others for one, mask in zip(self.members, taken, strict=True)
        ]

    def kinds(self, rows: Bytes) -> npt.NDArray[np.int64]:
        """The number by which each row's kind is known."""
        if self.select is None:
            return np.zeros(len(rows), np.int64)
        return numbers(self.declaration(self.members[0]), self.select, self.view(0, rows))

    def view(self, member: int, rows: Bytes) -> npt.NDArray[Any]:
        """Rows as the structured records of a member."""
        dtype = dtype_of(self.declaration(self.members[member]))
        return np.ascontiguousarray(rows).view(dtype)[:, 0]


def layout_of(
    kind: RawFile,
    chip: int | None,
    settings: Mapping[str, str],
    rows_of: Callable[[int], Bytes] | None = None,
) -> Layout:
    """The layout of a file of records.

    ``chip`` and ``settings`` as the side files state them. Where they leave several sizes open,
    the records themselves decide, of which ``rows_of`` gives the first for a size. Raises
    :class:`Ambiguous` where nothing does.
    """
    candidates = kind.members if chip is None else kind.members_of(chip, settings)
    sizes = {one.record: raw_catalog().record_size(one.record) for one in candidates}
    layouts = [
        Layout(size, tuple(one for one in candidates if sizes[one.record] == size), kind.select)
        for size in dict.fromkeys(sizes.values())
        if size is not None
    ]
    if len(layouts) > 1 and rows_of is not None:
        layouts = _likely(layouts, rows_of)
    if len(layouts) != 1 or (chip is not None and _overlap(layouts[0])):
        known = " or ".join(sizes)
        keys = ", ".join(dict.fromkeys(key for one in kind.members for key in one.when))
        if candidates:
            raise Ambiguous(f"records of {known}: which of them it has is in {keys or 'info.json'}")
        raise Ambiguous(
            f"chip {chip} writes no such file"
            if chip not in kind.chips
            else f"no records of it are known with this {keys}"
        )
    return _distinct(layouts[0], chip)


def _overlap(layout: Layout) -> bool:
    """Whether nothing shows which of several members a record is."""
    return sum(not one.values for one in layout.members) > 1


def _likely(layouts: list[Layout], rows_of: Callable[[int], Bytes]) -> list[Layout]:
    """Those whose records begin as they must, and are of a known kind, most often."""
    scores = []
    for layout in layouts:
        rows = rows_of(layout.size)
        right = layout.is_record(rows)
        known = np.logical_or.reduce(layout.split(rows)) if len(rows) else right
        scores.append(float(np.mean(right & known)) if len(rows) else 0.0)
    best = max(scores, default=0.0)
    return [one for one, score in zip(layouts, scores, strict=True) if score == best and best > 0.5]


def _distinct(layout: Layout, chip: int | None) -> Layout:
    """Of members that share a size and a kind, those of the oldest chips, where none is known."""
    if chip is not None:
        return layout
    seen: dict[tuple[int, ...], Kind] = {}
    for one in layout.members:
        seen.setdefault(one.values, one)
    return Layout(layout.size, tuple(seen.values()), layout.select)
