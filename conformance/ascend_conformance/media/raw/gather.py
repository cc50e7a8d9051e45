"""One PROF_* read into facts: its files, what cannot be read of them, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ascend_ref.raw.context import contexts
from ascend_ref.raw.damage import Unreadable
from ascend_spec import per_spec
from ascend_spec.core import packaged

from ...engine.candidate import size_of
from ...engine.progress import Progress
from ...engine.sqlite_facts import SqliteFacts
from .dictionaries import gather_dictionaries
from .gather_calls import gather_calls
from .gather_dumps import gather_dump
from .gather_host import gather_host
from .gather_steps import gather_steps
from .reading import Folder

SETTINGS, SAMPLE = "host_sample", "sample.json/"
_LINE = re.compile(r"[(]line ([0-9,]+)[)](?:$|; )")


def read_folder(
    facts: SqliteFacts, path: Path, label: str, progress: Progress | None = None
) -> Folder:
    """Read the record streams of a PROF_*. What cannot be read is among the facts (``damage``)."""
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
