"""The raw files of one capture: those of the host and of its devices, with what damages them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import construct
import numpy as np
import numpy.typing as npt

from ascend_ref.spill import Bytes, Spill, batches
from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of

from ..context import Context, contexts
from ..damage import Damage, Unreadable, few
from ..dictionaries import Names
from ..layout import Ambiguous, Layout, layout_of
from ..lines import read_lines
from ..series import AGING, Parts, Slice
from ..slices import Block, read_blocks, state_missing
from .origins import Origins

Rows = npt.NDArray[Any]
"""Records of one kind."""

_Read: TypeAlias = tuple[Mapping[str, str], list[Rows]]
"""Changing parts of names, and the records of the files that agree in them, by declaration."""

_SMALL = 1 << 16
"""Bytes of records that are dealt out at a time, at least, but for the last ones."""


class Part(NamedTuple):
    """Records of one kind from files that agree in their names, but for the number of the slice.

    parts: the changing parts of the names.
    """

    parts: Mapping[str, str]
    rows: Rows

    @property
    def aging(self) -> bool:
        """Whether the limit of storage may have taken some of them away."""
        return self.parts.get("age") == AGING


@dataclass
class Session:
    """Raw files of one process, in ``folder``. ``host`` is missing where its folder is.

    damage: what cannot be read; everything else is. unnamed: numbers of texts that were asked for
    and are in no dictionary. spill: holds what is long. origins: takes where rows stand, where
    somebody asks for that.
    """

    folder: Path
    host: Context | None
    devices: Mapping[int, Context]
    damage: list[Damage] = field(default_factory=list)
    unnamed: set[int] = field(default_factory=set)
    spill: Spill = field(default_factory=Spill)
    origins: Origins | None = None
    _kept: tuple[tuple[Path, str], Layout | None, list[_Read]] | None = None

    @property
    def contexts(self) -> tuple[Context, ...]:
        """The folders of the host and of the devices, those that are there."""
        return tuple(one for one in (self.host, *self.devices.values()) if one is not None)

    @property
    def names(self) -> Names:
        """The dictionaries of the host."""
        return Names() if self.host is None else self.host.names

    def parts(self, context: Context | None, kind: str, record: str | None = None) -> list[Part]:
        """The records of a kind in a folder, of one declaration where files have several.

        They are in the order of the files. Those of the kind that was asked for last are kept, so
        that several declarations of one file are read, and its damage is stated, once.
        """
        if context is None or kind not in context.folder.files:
            return []
        layout, found = self._records(context, kind)
        if layout is None:
            return []
        names = [one.record for one in layout.members]
        wanted = names[0] if record is None else record
        if wanted in names:
            made = [Part(parts, rows[names.index(wanted)]) for parts, rows in found]
        else:
            made = [Part(parts, self._none(kind, wanted)) for parts, _ in found]
        context.counts[f"{kind}/{wanted}"] = sum(len(one.rows) for one in made)
        return made

    def rows(self, context: Context | None, kind: str, record: str | None = None) -> Rows:
        """The records of :meth:`parts`, one part after the other; none where there are no files."""
        found = [part.rows for part in self.parts(context, kind, record)]
        return self.joined(found) if found else self._none(kind, record)

    def joined(self, parts: Sequence[Rows]) -> Rows:
        """Records of one size, one part after the other, at least one part."""
        if len(parts) == 1:
            return parts[0]
        every = (part[batch] for part in parts for batch in batches(len(part)))
        return self.spill.records(every, parts[0].dtype)

    def chosen(self, rows: Rows, condition: Callable[..., Any], *columns: Rows) -> Rows:
        """The records for which a condition of columns is true."""
        places = self.spill.where(condition, *columns)
        if len(places) == len(rows):
            return rows
        return self.taken(rows, places)

    def taken(self, rows: Rows, places: npt.NDArray[np.int64]) -> Rows:
        """The records at these places."""
        plain = rows.view(f"V{rows.dtype.itemsize}")  # See fields.taken.
        every = (self.spill.gathered(plain, places[batch]) for batch in batches(len(places)))
        return self.spill.records(every, rows.dtype)

    def _none(self, kind: str, record: str | None) -> Rows:
        return np.zeros(0, dtype_of(self.declaration(kind, record)))

    def lines(self, context: Context | None, kind: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """The lines of a kind of text: what each of them is, and its changing parts."""
        for _, line, parts in self.named_lines(context, kind):
            yield line, parts

    def named_lines(
        self, context: Context | None, kind: str
    ) -> Iterator[tuple[Parts, str, Mapping[str, str]]]:
        """The lines with the changing parts of the names of the files that hold them."""
        grammar = raw_catalog().grammar_of(kind)
        if context is None:
            return
        slices = context.folder.files.get(kind)
        if slices is None:
            return
        context.counts.setdefault(kind, 0)
        with few(self.damage) as stated:
            for _, own in slices.runs():
                state_missing(own, stated)
            for one in slices:
                for line in read_lines(one.path, grammar, stated):
                    context.counts[kind] += 1
                    yield one.parts, *line

    def declared(self, context: Context, kind: str, record: str | None = None) -> construct.Struct:
        """The declaration of the records that :meth:`rows` gives."""
        if record is None and kind in context.folder.files:
            layout, _ = self._records(context, kind)
            if layout is not None:
                return layout.declaration(layout.members[0])
        return self.declaration(kind, record)

    @staticmethod
    def declaration(kind: str, record: str | None = None) -> construct.Struct:
        """The declaration of the records of a kind; the first one where none is named."""
        return raw_catalog().record(record or raw_catalog().files[kind].members[0].record)

    def _records(self, context: Context, kind: str) -> tuple[Layout | None, list[_Read]]:
        key = (context.folder.path, kind)
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, *self._read(context, kind))
        return self._kept[1:]

    def _read(self, context: Context, kind: str) -> tuple[Layout | None, list[_Read]]:
        try:
            context.counts[kind] = 0
            layout = _layout(context, kind)
        except Ambiguous as problem:
            self.damage.append(Damage(context.folder.path, f"{kind}: {problem}", kind=kind))
            return None, []
        found: list[_Read] = [
            (
                dict(parts),
                self._dealt(layout, self._counted(context, kind, some, layout)),
            )
            for parts, some in context.folder.files[kind].runs()
        ]
        return layout, found

    def _counted(
        self, context: Context, kind: str, slices: Sequence[Slice], layout: Layout
    ) -> Iterator[Block]:
        """The records of slices, which are counted on the way."""
        for block in read_blocks(slices, layout, context.folder.side, self.damage):
            context.counts[kind] += len(block.rows)
            yield block

    def _dealt(self, layout: Layout, blocks: Iterable[Block]) -> list[Rows]:
        """The records of each declaration."""
        kinds = [dtype_of(layout.declaration(one)) for one in layout.members]
        columns = [Bytes() for _ in kinds]
        for rows in _gathered(blocks):
            for column, mask in zip(columns, layout.split(rows), strict=True):
                column.write(rows if mask.all() else rows[mask])
        return [
            np.frombuffer(self.spill.hold(column), kind)
            for column, kind in zip(columns, kinds, strict=True)
        ]


def _gathered(blocks: Iterable[Block]) -> Iterator[npt.NDArray[np.uint8]]:
    """The records of blocks, small ones together: there may be a million slices of one record."""
    kept: list[npt.NDArray[np.uint8]] = []
    size = 0
    for block in blocks:
        kept.append(block.rows)
        size += block.rows.nbytes
        if size >= _SMALL:
            yield kept[0] if len(kept) == 1 else np.concatenate(kept)
            kept, size = [], 0
    if kept:
        yield np.concatenate(kept)


def open_session(path: Path) -> list[Session]:
    """The captures below a path, one for each ``PROF_*``, in the order of their names.

    Raises :class:`Unreadable` where there are no raw files.
    """
    found: dict[Path, Session] = {}
    for context in contexts(path):
        if context.folder.side == "framework":
            continue
        session = found.setdefault(
            context.folder.path.parent, Session(context.folder.path.parent, None, {})
        )
        if context.folder.side == "host":
            session.host = context
        elif context.folder.device is not None:
            session.devices = {**session.devices, context.folder.device: context}
        context.damage = session.damage
    if not found:
        raise Unreadable(f"{path}: no raw data of host or devices; expected a PROF_* folder")
    return list(found.values())


def _layout(context: Context, kind: str) -> Layout:
    file = raw_catalog().files[kind]
    return layout_of(file, context.side.chip, context.side.settings)
