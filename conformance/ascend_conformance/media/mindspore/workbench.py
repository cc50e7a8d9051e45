"""How raw and intermediate files are read, changed and judged where rules are tried."""

from __future__ import annotations

from functools import partial

import construct

from ascend_ref.mindspore.raw.records import layout_of
from ascend_ref.raw.layout import Layout
from ascend_spec import mindspore_catalog

from ...engine.file_edits import Edit
from ...engine.file_trials import Workbench
from ...options import Options
from .facts import open_facts
from .folder import MEDIUM
from .gather import Folder, read_folder
from .judge import judge_folder
from .rules import FileRule, in_force


def layout_in(folder: Folder, edit: Edit) -> tuple[Layout, construct.Struct]:
    """The layout of the file of an edit, and the declaration that the edit is about.

    Raises ``KeyError`` for a file of texts.
    """
    found = layout_of(edit["file"], folder.day)
    return found, mindspore_catalog().record(edit.get("record", found.members[0].record))


def is_of_day(rule: FileRule, folder: Folder) -> bool:
    """Whether a rule is for the files of a folder."""
    return in_force(rule, folder.day)


WORKBENCH = Workbench(
    MEDIUM,
    open_facts,
    read_folder,
    partial(judge_folder, options=Options(max_examples=0)),
    layout_in,
    not_compared=frozenset(
        [
            *("cnt_before", "tick_before", "time_before", "end_before", "step_before"),
            *("is_first", "type_before"),
        ]
    ),
    fits=is_of_day,
)
