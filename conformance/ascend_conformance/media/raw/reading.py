"""The folder whose files are being read, and what all of them need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from ascend_ref.raw.context import Context
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.layout import Ambiguous, Layout, layout_of
from ascend_ref.raw.slices import Block, read_blocks
from ascend_ref.raw.vocabulary import level
from ascend_spec import ge_catalog, per_spec, raw_catalog
from ascend_spec.raw import RawFile

from ...engine.file_folder import FolderOfFacts
from .facts import OF_KINDS


@dataclass
class Folder(FolderOfFacts):
    """What was read of one PROF_*, or of one text."""

    of_kinds: ClassVar[Collection[str]] = OF_KINDS

    contexts: Sequence[Context] = ()
    damage: list[tuple[Damage, RawFile]] = field(default_factory=list)
    records: dict[Path, int] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict)
    types: Mapping[tuple[int, int], str] = field(default_factory=dict)

    @property
    def host(self) -> Context | None:
        """The host, where it has files."""
        return next((one for one in self.contexts if one.folder.side == "host"), None)

    def blocks(self, context: Context, file: str) -> Iterator[tuple[Layout, Block, int]]:
        """The records of a kind of file block by block, each with the number of its file."""
        kind, damage = raw_catalog().files[file], list[Damage]()
        layout = self.layout(context, kind)
        slices = context.folder.files.get(file)
        if layout is None or slices is None:
            return
        for _, run in slices.runs():
            for block in read_blocks(run, layout, kind.side, damage):
                count = len(block.rows)
                self.records[block.path] = self.records.get(block.path, 0) + count
                _note_unknown(layout, block, damage)
                yield layout, block, self.number(block.path)
        self.damage += [(one, kind) for one in damage]

    def layout(self, context: Context, kind: RawFile) -> Layout | None:
        """How the records of a kind lie in its files; nothing where that cannot be known."""
        try:
            return layout_of(kind, context.side.chip, context.side.settings)
        except Ambiguous:
            return None


def _note_unknown(layout: Layout, block: Block, damage: list[Damage]) -> None:
    """State records of none of several kinds, where the first of them stands."""
    known = np.logical_or.reduce(layout.split(block.rows))
    if not known.all():
        first = int(np.argmin(known))
        value = int(layout.kinds(block.rows[first : first + 1])[0])
        count = int(np.sum(~known))
        text = f"{count:,} records of an unknown kind (first {layout.select} {value})"
        damage.append(Damage(block.path, text, max(block.offset + first * layout.size, 0)))


@per_spec
def known_types() -> Mapping[tuple[int, int], str]:
    """Names of types by level and type, as far as no dictionary is needed for them."""
    sets = raw_catalog().vocabularies
    of_levels = {
        "NODE": "node_types",
        "MODEL": "model_types",
        "RUNTIME": "runtime_task_types",
        "HCCL_NODE": "hccl_types",
    }
    found = {
        (level(layer), int(one.value)): one.label or one.name or ""
        for layer, name in of_levels.items()
        for one in sets[name].members
    }
    return {**found, **ge_catalog().enumerated}
