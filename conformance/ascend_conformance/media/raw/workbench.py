"""How raw files are read, changed and judged where rules are tried."""

from __future__ import annotations

from functools import partial

import construct

from ascend_ref.raw.layout import Layout
from ascend_spec import raw_catalog

from ...engine.file_edits import Edit
from ...engine.file_trials import Workbench
from ...engine.trials import NotBreakable
from ...options import Options
from .facts import open_facts
from .folder import MEDIUM
from .gather import read_folder
from .judge import judge_folder
from .reading import Folder


def layout_in(folder: Folder, edit: Edit) -> tuple[Layout, construct.Struct]:
    """The layout of the file of an edit, and the declaration that the edit is about.

    Raises ``KeyError`` for a file of texts, :class:`.NotBreakable` without such a file.
    """
    kind = raw_catalog().files[edit["file"]]  # KeyError for a text of the graph engine
    if kind.form != "records":
        raise KeyError(f"{kind.file} has no records")
    for context in folder.contexts:
        if context.folder.side == kind.side and kind.file in context.folder.files:
            found = folder.layout(context, kind)
            if found is not None:
                record = edit.get("record", found.members[0].record)
                return found, raw_catalog().record(record)
    raise NotBreakable(f"no file of {kind.file}")


WORKBENCH = Workbench(
    MEDIUM,
    open_facts,
    read_folder,
    partial(judge_folder, options=Options(max_examples=0)),
    layout_in,
    not_compared=frozenset(
        [
            *("place", "batch", "before", "is_mixed", "iteration", "held", "item", "is_seen"),
            *("text_before", "number_before"),
        ]
    ),
)
