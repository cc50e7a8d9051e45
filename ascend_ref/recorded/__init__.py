"""What was recorded, as the writers of text deliverables take it: database tables with texts.

A capture and a database of the same run give the same :class:`Recorded`, so that every CSV file,
timeline and document is an encoding of one truth, wherever it came from.
"""

from __future__ import annotations

from .from_capture import from_captures
from .from_database import from_database
from .model import Machine, Output, Recorded

__all__ = ["Machine", "Output", "Recorded", "from_captures", "from_database"]
