"""The analyser of time lines: their summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .files import Folder

SUMMARIES = ("ascend_timeline_summary", "gpu_timeline_summary")
SCOPES = "max_scope_name_num"


def answer_timeline(folder: Folder) -> dict[str, Any]:
    """The summary of the first device that has one."""
    found = folder.first(SUMMARIES)
    summary = None if found is None else folder.document(found[0])
    return {SCOPES: 0, **summary} if isinstance(summary, Mapping) else {SCOPES: 0}
