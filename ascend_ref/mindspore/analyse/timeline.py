"""The analyser of time lines: their summary, or those of several ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .aligned import answer_aligned
from .condition import Condition
from .files import Folder

SUMMARIES = ("ascend_timeline_summary", "gpu_timeline_summary")
SCOPES = "max_scope_name_num"


def answer_timeline(folder: Folder, condition: Condition) -> dict[str, Any]:
    """The summary of the first kind of device that has one, or a step of several ranks.

    Raises :class:`WrongCondition` for a step that no rank has.
    """
    if condition.switch("show") == "ranks":
        return answer_aligned(folder, condition)
    found = folder.first(SUMMARIES)
    summary = None if found is None else folder.document(found[0])
    return {SCOPES: 0, **summary} if isinstance(summary, Mapping) else {SCOPES: 0}
