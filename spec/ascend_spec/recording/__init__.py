"""What a profiler records, described once: entities, and which cell of which medium shows them.

``entities()`` are the documents of this folder; ``showers()`` every table, CSV file and kind of
timeline event with what its cells show (``shows:`` in their own documents). Both are those of the
packaged spec; ``Spec.recording`` has those of any other.
"""

from ascend_spec.core.shows import REASONS, Form, RowTest, Show

from .catalog import Recording
from .model import Entity, EntityColumn, Medium, Shower

__all__ = [
    "REASONS",
    "Entity",
    "EntityColumn",
    "Form",
    "Medium",
    "Recording",
    "RowTest",
    "Show",
    "Shower",
]
