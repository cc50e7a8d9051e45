"""The reference server of the MindStudio Insight API, for one ``visualize_data.bin``."""

from .answer import Answer, Failure
from .answers import Answers, open_answers
from .session import Session

__all__ = ["Answer", "Answers", "Failure", "Session", "open_answers"]
