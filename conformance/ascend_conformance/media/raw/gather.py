"""One PROF_* read into facts: its files, what cannot be read of them, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from ascend_ref.raw.context import Context, contexts
from ascend_ref.raw.damage import Damage, Unreadable
from ascend_ref.raw.layout import Ambiguous, Layout, layout_of
from ascend_ref.raw.slices import Block, read_blocks
from ascend_spec import ge_catalog, per_spec, raw_catalog
from ascend_spec.core import packaged
from ascend_spec.raw import RawFile

from ...engine.candidate import size_of
from ...engine.progress import Progress
from ...engine.sqlite_facts import SqliteFacts
from .dictionaries import gather_dictionaries
from .facts import OF_KINDS

SETTINGS, SAMPLE = "host_sample", "sample.json/"
_LINE = re.compile(r"[(]line ([0-9,]+)[)]$")


@dataclass
class Folder:
    """What was read. ``files`` by their number, which is ``file`` in the facts."""

    facts: SqliteFacts
    path: Path
    label: str
    contexts: Sequence[Context] = ()
    numbers: dict[Path, int] = field(default_factory=dict)
    damage: list[tuple[Damage, RawFile]] = field(default_factory=list)
    records: dict[Path, int] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict)
    types: Mapping[tuple[int, int], str] = field(default_factory=dict)
    unreadable: str | None = None

    @cached_property
    def files(self) -> Mapping[int, Path]:
        """Files by their number."""
        return {number: path for path, number in self.numbers.items()}

    @property
    def of_kinds(self) -> Collection[str]:
        """Tables whose rows are about files of the kind in their column ``of``."""
        return OF_KINDS

    @property
    def host(self) -> Context | None:
        """The host, where it has files."""
        return next((one for one in self.contexts if one.folder.side == "host"), None)

    def number(self, path: Path) -> int:
        """The number of a file."""
        return self.numbers.setdefault(path, len(self.numbers))

    def shown(self, path: Path) -> str:
        """How reports call a file of the folder."""
        if path == self.path:
            return self.label
        try:
            return str(Path(self.label) / path.relative_to(self.path))
        except ValueError:
            return str(path)

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


def read_folder(
    facts: SqliteFacts, path: Path, label: str, progress: Progress | None = None
) -> Folder:
    """Read the record streams of a PROF_*. What cannot be read is among the facts (``damage``)."""
    from .gather_calls import gather_calls
    from .gather_host import gather_host
    from .gather_steps import gather_steps

    folder = Folder(facts, path, label)
    if not path.is_dir():
        _read_dump(folder, path)
        return folder
    try:
        folder.contexts = [one for one in contexts(path) if one.folder.side != "framework"]
    except Unreadable as reason:
        folder.unreadable = str(reason)
        return folder
    steps: list[Callable[[Folder], object]] = [
        _gather_settings,
        gather_dictionaries,
        gather_calls,
        gather_host,
        gather_steps,
    ]
    for done, gather in enumerate(steps):
        if progress:
            progress(done, len(steps), label)
        gather(folder)
    _list_files(folder)
    _state_damage(folder)
    return folder


def _read_dump(folder: Folder, path: Path) -> None:
    from .gather_dumps import gather_dump

    try:
        gather_dump(folder, path)
    except OSError as error:
        folder.unreadable = f"{path}: {error.strerror}"


def _gather_settings(folder: Folder) -> None:
    """The switches of the host."""
    host = folder.host
    slices = host.folder.files.get(SETTINGS, ()) if host is not None else ()
    for one in slices:
        folder.records[one.path] = 1
        number = folder.number(one.path)
        settings = host.side.settings.items() if host is not None else ()
        rows = [(key.partition("/")[2], value) for key, value in settings if key.startswith(SAMPLE)]
        folder.facts.add("setting", ((number, None, None, *row) for row in rows))


def _note_unknown(layout: Layout, block: Block, damage: list[Damage]) -> None:
    """State records of none of several kinds, where the first of them stands."""
    known = np.logical_or.reduce(layout.split(block.rows))
    if not known.all():
        first = int(np.argmin(known))
        value = int(layout.kinds(block.rows[first : first + 1])[0])
        count = int(np.sum(~known))
        text = f"{count:,} records of an unknown kind (first {layout.select} {value})"
        damage.append(Damage(block.path, text, max(block.offset + first * layout.size, 0)))


def _list_files(folder: Folder) -> None:
    for context in folder.contexts:
        for file, slices in context.folder.files.items():
            for one in slices:
                records = folder.records.get(one.path)
                if records is None:
                    continue
                device = None if context.folder.device is None else str(context.folder.device)
                own = (file, one.path.name, device, one.number, size_of(one.path), records)
                folder.facts.add("file", [(folder.number(one.path), None, None, *own)])


# --- damage --------------------------------------------------------------------------------------


def _state_damage(folder: Folder) -> None:
    forms = [(one["kind"], re.compile(one["text"])) for one in _damage_kinds()]
    rows = []
    for one, kind in folder.damage:
        found = next((name for name, form in forms if form.search(one.message)), "other")
        number = folder.number(one.file) if one.file != folder.path else None
        line = _LINE.search(one.message)
        place = int(line[1].replace(",", "")) if line else None
        rows.append((number, place, one.offset, found, kind.file, one.message))
    folder.facts.add("damage", rows)


@per_spec
def _damage_kinds() -> Sequence[Mapping[str, str]]:
    found: Sequence[Mapping[str, str]] = packaged(__package__, "damage.yaml")
    return found


@per_spec
def known_types() -> Mapping[tuple[int, int], str]:
    """Names of types by level and type, as far as no dictionary is needed for them."""
    raw = raw_catalog()
    nodes, models, tasks = (
        {int(one.value): one.label or one.name or "" for one in raw.vocabularies[name].members}
        for name in ("node_types", "model_types", "runtime_task_types")
    )
    found = {(10000, value): name for value, name in nodes.items()}
    found |= {(15000, value): name for value, name in models.items()}
    found |= {(5000, value): name for value, name in tasks.items()}
    found |= {
        (5500, int(one.value)): one.name or "" for one in raw.vocabularies["hccl_types"].members
    }
    return {**found, **ge_catalog().enumerated}
