"""Records changed as the break of a relation changes what they show."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ascend_ref.raw.damage import Unreadable

from ...engine.damaging import Change
from ...engine.relations.binding import Unjudged
from ...engine.relations.edits import CannotShow, change
from ...engine.relations.rule import Relation
from ...engine.trials import NotBreakable
from .editing import EditableRecords


def damage_records(path: Path, relation: Relation) -> list[Change]:
    """Carry out a relation's break in a folder. Raises :class:`NotBreakable`, ``OSError``."""
    try:
        with closing(EditableRecords(path)) as shown:
            for edit in relation.search.edits:
                done = change(relation, edit, shown)
                if isinstance(done, Unjudged):
                    raise NotBreakable(done.reason)
            return [Change(str(file), words) for file, words in shown.changes]
    except (CannotShow, Unreadable) as reason:
        raise NotBreakable(str(reason)) from reason
