"""The reference server of the MindStudio Insight API, for one ``visualize_data.bin``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascend_ref.deferred import deferred

if TYPE_CHECKING:
    from .answer import Answer as Answer
    from .answers import Answers as Answers
    from .answers import open_answers as open_answers
    from .session import Session as Session

__getattr__ = deferred(
    __name__,
    {"Answer": "answer", "Answers": "answers", "open_answers": "answers", "Session": "session"},
)
