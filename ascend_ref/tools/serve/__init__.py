"""The reference server of the MindStudio Insight API, for one ``visualize_data.bin``."""

from .answer import Answer as Answer
from .answers import Answers as Answers
from .answers import open_answers as open_answers
from .session import Session as Session
