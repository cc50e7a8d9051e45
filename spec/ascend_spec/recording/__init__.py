"""What a profiler records, described once: entities, and which cell of which medium shows them.

``entities()`` are the documents of this folder; ``showers()`` every table, CSV file and kind of
timeline event with what its cells show (``shows:`` in their own documents).
"""

from ascend_spec.shows import REASONS, Form, RowTest, Show

from .catalog import entities, enum_of, shower, showers, showers_of
from .model import Entity, EntityColumn, Medium, Shower

__all__ = [
    "REASONS",
    "Entity",
    "EntityColumn",
    "Form",
    "Medium",
    "RowTest",
    "Show",
    "Shower",
    "entities",
    "enum_of",
    "shower",
    "showers",
    "showers_of",
]
