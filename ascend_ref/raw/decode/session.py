"""The raw files of one capture: those of the host and of its devices, with what damages them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import construct
import numpy as np
import numpy.typing as npt

from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of

from ..context import Context, contexts
from ..damage import Damage, Unreadable
from ..dictionaries import Names
from ..fields import joined
from ..layout import Ambiguous, Bytes, Layout, layout_of
from ..lines import read_lines
from ..slices import read_blocks, state_missing
from ..tree import AGING, Slice

Rows = npt.NDArray[Any]
"""Records of one kind."""

_Read: TypeAlias = tuple[Mapping[str, str], list[Bytes]]
"""Changing parts of names, and the records of the files that agree in them."""


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
    and are in no dictionary.
    """

    folder: Path
    host: Context | None
    devices: Mapping[int, Context]
    damage: list[Damage] = field(default_factory=list)
    unnamed: set[int] = field(default_factory=set)
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
        key = (context.folder.path, kind)
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, *self._read(context, kind))
        _, layout, found = self._kept
        if layout is None:
            return []
        made = [Part(parts, self._of(kind, layout, rows, record)) for parts, rows in found]
        if record is not None:
            context.counts[f"{kind}/{record}"] = sum(len(one.rows) for one in made)
        return made

    def rows(self, context: Context | None, kind: str, record: str | None = None) -> Rows:
        """The records of :meth:`parts`, one part after the other; none where there are no files."""
        found = [part.rows for part in self.parts(context, kind, record)]
        if found:
            return joined(found)
        return np.zeros(0, dtype_of(self.declaration(kind, record)))

    def lines(self, context: Context | None, kind: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """The lines of a kind of text: what each of them is, and its changing parts."""
        grammar = raw_catalog().grammars[raw_catalog().files[kind].grammar or ""]
        if context is None:
            return
        slices = context.folder.files.get(kind, ())
        for _, own in groupby(slices, key=lambda one: one.parts):
            state_missing(list(own), self.damage)
        for one in slices:
            context.counts.setdefault(kind, 0)
            for line in read_lines(one.path, grammar, self.damage):
                context.counts[kind] += 1
                yield line

    @staticmethod
    def declaration(kind: str, record: str | None = None) -> construct.Struct:
        """The declaration of the records of a kind; the first one where none is named."""
        return raw_catalog().record(record or raw_catalog().files[kind].members[0].record)

    def _read(self, context: Context, kind: str) -> tuple[Layout | None, list[_Read]]:
        slices: dict[tuple[tuple[str, str], ...], list[Slice]] = {}
        for one in context.folder.files[kind]:
            slices.setdefault(one.parts, []).append(one)
        try:
            context.counts[kind] = 0
            layout = _layout(context, kind)
        except Ambiguous as problem:
            self.damage.append(Damage(context.folder.path, f"{kind}: {problem}", kind=kind))
            return None, []
        side = context.folder.side
        found: list[_Read] = [
            (dict(parts), [one.rows for one in read_blocks(some, layout, side, self.damage)])
            for parts, some in slices.items()
        ]
        context.counts[kind] = sum(len(rows) for _, blocks in found for rows in blocks)
        return layout, found

    def _of(self, kind: str, layout: Layout, blocks: list[Bytes], record: str | None) -> Rows:
        """The records of one declaration."""
        names = [one.record for one in layout.members]
        wanted = names[0] if record is None else record
        if not blocks or wanted not in names:
            return np.zeros(0, dtype_of(self.declaration(kind, wanted)))
        place = names.index(wanted)
        if len(names) == 1 and not layout.members[0].values:
            return joined([layout.view(0, rows) for rows in blocks])
        return joined([layout.view(place, rows[layout.split(rows)[place]]) for rows in blocks])


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
