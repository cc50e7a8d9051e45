"""How raw files are read, changed and judged where rules are tried."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import construct

from ascend_ref.raw.layout import Ambiguous, Layout
from ascend_spec import raw_catalog

from ...engine import file_edits
from ...engine.file_edits import Edit, Victim
from ...engine.file_trials import Workbench
from ...engine.trials import NotBreakable
from ...options import Options
from .facts import open_facts
from .folder import MEDIUM
from .gather import read_folder
from .judge import judge_folder
from .reading import Folder


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


WORKBENCH = Workbench(
    MEDIUM,
    open_facts,
    read_folder,
    partial(judge_folder, options=Options(max_examples=0)),
    apply_edits,
    not_compared=frozenset(
        [
            *("place", "batch", "before", "is_mixed", "iteration", "held", "item", "is_seen"),
            *("text_before", "number_before"),
        ]
    ),
)
