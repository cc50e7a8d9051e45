"""The tables of a database with their texts: what the writers of text deliverables read.

The capture is the recording; this is its view as a database of one revision holds it. A capture
encoded for a revision and a database of that revision give the same :class:`Recorded`.
"""

from __future__ import annotations

from .from_capture import from_captures as from_captures
from .from_database import from_database as from_database
from .model import Output as Output
from .model import Recorded as Recorded
