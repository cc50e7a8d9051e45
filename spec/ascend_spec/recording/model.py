"""Entities of the recording, and what shows them, as immutable objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ascend_spec.core.shows import RowTest, Show

Medium = Literal["database", "csv", "timeline", "mindspore", "raw"]


@dataclass(frozen=True, slots=True)
class EntityColumn:
    """One value of an entity, in the unit of its value type.

    ``enum``: the enum table whose member names are its only texts.
    """

    name: str
    type: str
    summary: str
    unit: str | None = None
    is_text: bool = False
    enum: str | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """One kind of thing that a profiler records.

    ``key``: columns that identify a row in every medium. ``identity``: numbers that only link the
    rows of one medium to each other: followed, never compared. ``interval``: start, end and
    length, of which any two give the third. ``inherits``: by a column that is a number of a task,
    what it has of that task; a medium that shows tasks with that number need not repeat it.
    ``capture``: the attribute of ``Capture`` that holds it, where one does. ``derived_by``: the
    derivation in ``ascend_ref.derive`` that computes it.
    """

    name: str
    summary: str
    key: tuple[str, ...]
    columns: Mapping[str, EntityColumn]
    identity: tuple[str, ...] = ()
    interval: tuple[str, str, str] | None = None
    inherits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    capture: str | None = None
    derived_by: str | None = None


@dataclass(frozen=True, slots=True)
class Shower:
    """One table, CSV file or kind of timeline event, with what its cells show.

    ``name``: ``TASK``, ``op_summary`` or ``ascend-hardware/task``. ``cells``: by the name of the
    column, header or arg; keys of an event and parts of its name as in
    :func:`ascend_spec.core.shows.event_shows`. ``rows``: which rows show an entity, where not
    all do. ``fixed``: values that every row shows by its kind.
    """

    medium: Medium
    name: str
    cells: Mapping[str, Show]
    rows: Mapping[str, RowTest] = field(default_factory=dict)
    fixed: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def entities(self) -> tuple[str, ...]:
        """The entities of which it shows a column, in the order of its cells."""
        shown = [value.partition(".")[0] for show in self.cells.values() for value in show.of]
        return tuple(dict.fromkeys(shown))

    def columns(self, entity: str) -> tuple[str, ...]:
        """The columns of an entity that it shows."""
        shown = [value for show in self.cells.values() for value in show.of]
        names = [value.partition(".") for value in (*shown, *self.fixed)]
        return tuple(dict.fromkeys(column for owner, _, column in names if owner == entity))
