"""Changing clean files as a rule's ``break`` says: the edits of :mod:`...engine.file_edits`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import construct

from ascend_ref.mindspore.raw.records import layout_of
from ascend_ref.raw.layout import Layout
from ascend_spec import mindspore_catalog

from ...engine import file_edits
from ...engine.file_edits import Edit, Victim
from .gather import Folder


def apply_edits(folder: Folder, edits: Iterable[Edit], victim: Victim) -> list[tuple[Path, Edit]]:
    """Carry edits out in the files of a folder; each with the file that it changed.

    The folder is that of the facts, whose files are changed in place. Raises
    :class:`.NotBreakable` where an edit finds no place, ``OSError``.
    """

    def layout(edit: Edit) -> tuple[Layout, construct.Struct]:
        found = layout_of(edit["file"], folder.day)
        return found, mindspore_catalog().record(edit.get("record", found.members[0].record))

    return file_edits.apply_edits(folder, edits, victim, layout)
