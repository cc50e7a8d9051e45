"""The raw files of one capture: those of the host and of its devices, with what damages them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import construct
import numpy as np
import numpy.typing as npt

from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of

from ..context import Context, contexts
from ..damage import Damage, Unreadable
from ..dictionaries import Names
from ..fields import joined
from ..layout import Ambiguous, Layout, layout_of
from ..lines import read_lines
from ..slices import read_blocks
from ..tree import AGING, Slice

Rows = npt.NDArray[Any]
"""Records of one kind."""


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

    damage: what cannot be read; everything else is.
    """

    folder: Path
    host: Context | None
    devices: Mapping[int, Context]
    damage: list[Damage] = field(default_factory=list)

    @property
    def names(self) -> Names:
        """The dictionaries of the host."""
        return Names() if self.host is None else self.host.names

    def parts(self, context: Context | None, kind: str, record: str | None = None) -> list[Part]:
        """The records of a kind in a folder, of one declaration where files have several.

        They are in the order of the files.
        """
        if context is None or kind not in context.folder.files:
            return []
        found: dict[tuple[tuple[str, str], ...], list[Slice]] = {}
        for one in context.folder.files[kind]:
            found.setdefault(one.parts, []).append(one)
        try:
            layout = _layout(context, kind)
        except Ambiguous as problem:
            self.damage.append(Damage(context.folder.path, f"{kind}: {problem}"))
            return []
        return [
            Part(dict(parts), self._rows(context, slices, layout, record))
            for parts, slices in found.items()
        ]

    def rows(self, context: Context | None, kind: str, record: str | None = None) -> Rows:
        """The records of :meth:`parts`, one part after the other; none where there are no files."""
        found = [part.rows for part in self.parts(context, kind, record)]
        if found:
            return joined(found)
        return np.zeros(0, dtype_of(self.declaration(kind, record)))

    def lines(self, context: Context | None, kind: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """The lines of a kind of text: what each of them is, and its changing parts."""
        grammar = raw_catalog().grammars[raw_catalog().files[kind].grammar or ""]
        for one in () if context is None else context.folder.files.get(kind, ()):
            yield from read_lines(one.path, grammar, self.damage)

    @staticmethod
    def declaration(kind: str, record: str | None = None) -> construct.Struct:
        """The declaration of the records of a kind; the first one where none is named."""
        return raw_catalog().record(record or raw_catalog().files[kind].members[0].record)

    def _rows(
        self, context: Context, slices: list[Slice], layout: Layout, record: str | None
    ) -> Rows:
        names = [one.record for one in layout.members]
        place = 0 if record is None else names.index(record) if record in names else None
        found = []
        for block in read_blocks(slices, layout, context.folder.side, self.damage):
            if record is None and len(names) == 1 and not layout.members[0].values:
                found.append(layout.view(0, block.rows))
            elif place is not None:
                found.append(layout.view(place, block.rows[layout.split(block.rows)[place]]))
        if found:
            return joined(found)
        declaration = layout.declaration(layout.members[place or 0])
        return np.zeros(0, dtype_of(declaration))


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
