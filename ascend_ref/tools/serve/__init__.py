"""The reference server of the MindStudio Insight API, for one ``visualize_data.bin``."""

from .answer import Answer
from .answers import Answers, open_answers
from .session import Session

__all__ = ["Answer", "Answers", "Session", "open_answers"]
