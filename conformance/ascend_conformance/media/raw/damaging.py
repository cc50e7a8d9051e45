"""Raw files damaged as a rule's break does."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import construct

from ascend_ref.raw.damage import Unreadable
from ascend_ref.raw.layout import Ambiguous, Layout
from ascend_spec import raw_catalog

from ...engine import file_edits
from ...engine.damaging import Change
from ...engine.file_edits import Edit, Victim
from ...engine.relations.binding import Unjudged
from ...engine.relations.edits import CannotShow, change
from ...engine.relations.rule import Relation
from ...engine.trials import NotBreakable
from ...ruleset import Rule
from .editing import EditableRecords
from .facts import open_facts
from .folder import MEDIUM
from .gather import read_folder
from .reading import Folder


def damage_files(path: Path, rule: Rule[Any]) -> list[Change]:
    """Carry out a rule's break, or that of a relation, in a folder.

    Raises :class:`NotBreakable`, ``OSError``.
    """
    if rule.medium != MEDIUM:
        return _damage_records(path, rule)
    if not rule.breaks:
        raise NotBreakable("the rule states no break")
    with open_facts() as facts:
        folder = read_folder(facts, path, path.name)
        done = apply_edits(folder, rule.breaks, facts.victim(rule.search.victim))
    return [Change(str(changed), f"edit {dict(edit)}") for changed, edit in done]


def _damage_records(path: Path, relation: Relation) -> list[Change]:
    try:
        with closing(EditableRecords(path)) as shown:
            for edit in relation.search.edits:
                done = change(relation, edit, shown)
                if isinstance(done, Unjudged):
                    raise NotBreakable(done.reason)
            return [Change(str(file), words) for file, words in shown.changes]
    except (CannotShow, Unreadable) as reason:
        raise NotBreakable(str(reason)) from reason


def apply_edits(folder: Folder, edits: Iterable[Edit], victim: Victim) -> list[tuple[Path, Edit]]:
    """Carry edits out in the files of a folder; each with the file that it changed.

    Raises :class:`.NotBreakable` where an edit finds no place, ``OSError``.
    """

    def layout(edit: Edit) -> tuple[Layout, construct.Struct]:
        kind = raw_catalog().files[edit["file"]]  # KeyError for a text
        if kind.form != "records":
            raise KeyError(f"{kind.file} has no records")
        for context in folder.contexts:
            if context.folder.side == kind.side and kind.file in context.folder.files:
                found = folder.layout(context, kind)
                if found is not None:
                    record = edit.get("record", found.members[0].record)
                    return found, raw_catalog().record(record)
        raise NotBreakable(f"no file of {kind.file}")

    try:
        return file_edits.apply_edits(folder, edits, victim, layout)
    except Ambiguous as reason:
        raise NotBreakable(str(reason)) from reason
