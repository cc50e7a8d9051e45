"""What the encoders of the tables share: one capture, the schema, and facts derived once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture import Batch, Capture, Integers, Transfers
from ascend_ref.capture.kinds import OP
from ascend_ref.capture.model import NONE
from ascend_ref.db.columns import Values
from ascend_ref.derive.transit import Operators, operators_of, task_rows
from ascend_ref.spill import Spill, sorted_rows
from ascend_spec import Schema, catalog

from .collection import collected, taken
from .framework_order import Identified, identify
from .habits import Habits

Rows: TypeAlias = Mapping[str, Values]
"""Columns of an entity by name; texts are numbers of :attr:`Recording.texts`."""


def none_as(values: Integers, sentinel: int) -> Integers:
    """The values with NONE as the sentinel of the column."""
    return np.where(values == NONE, sentinel, values)


def nullable(values: Integers, present: npt.NDArray[np.bool_]) -> pa.Array:
    """Integers, NULL where they are not present."""
    return pa.array(values, pa.int64(), mask=~present)


class Recording:
    """A capture as the exporters of one revision see it, without what the switches leave out."""

    def __init__(
        self,
        capture: Capture,
        schema: Schema,
        *,
        for_texts: bool = False,
        spill: Spill,
    ) -> None:
        self.spill = spill
        self.capture = collected(capture, spill)
        self.for_texts = for_texts
        self.schema = schema
        self.habits = Habits.of(schema)
        # A copy: the encoders add texts, and the numbers of the capture must not depend on that.
        self.texts = capture.texts.copy()

    @property
    def level(self) -> int:
        """The level of the profiler."""
        return self.capture.switches.level

    @property
    def has_framework(self) -> bool:
        """Whether the framework's exporter wrote the database."""
        return self.schema.carrier == "pytorch"

    def text(self, text: str, rows: int) -> Integers:
        """A column that holds one text everywhere."""
        return np.broadcast_to(np.int64(self.texts.number(text)), rows)

    def with_connection(self, connection: Integers) -> Integers:
        """A column of connections with the revision's sentinel for none."""
        return self.spill.made(lambda some: none_as(some, self.habits.no_connection), connection)

    def rewritten(self, numbers: Integers, rule: Callable[[str], str]) -> Integers:
        """A column of texts with ``rule`` applied to each distinct one; NONE stays."""
        used = np.zeros(len(self.texts) + 1, np.bool_)
        for batch in self.spill.batches(len(numbers)):
            used[numbers[batch]] = True
        values = self.texts.all
        table = np.full(len(used), NONE)
        for number in np.flatnonzero(used[:-1]).tolist():
            table[number] = self.texts.number(rule(values[number]))
        return self.spill.made(table.take, numbers)

    def rows(self, batch: Batch) -> dict[str, Values]:
        """The columns of a batch, which are those of its entity, and the own process."""
        return {**dict(batch.columns()), "process": self.process(len(batch))}

    def process(self, rows: int) -> Integers:
        """The own process in every row."""
        return np.broadcast_to(np.int64(self.capture.origin.pid), rows)

    def members(self, enum: str) -> Mapping[int, str]:
        """An enum at this revision, also where the carrier does not hold its table."""
        return catalog().at(self.schema.revision.id, "pytorch").enums[enum]

    def enum_id(self, enum: str, name: str) -> int:
        """The id of a member at this revision."""
        return next(number for number, member in self.members(enum).items() if member == name)

    @cached_property
    def _row_of_task(self) -> Integers:
        return task_rows(self.capture.tasks, self.spill)

    def task_rows(self, identities: Integers) -> Integers:
        """The rows of Tasks with these identities."""
        return self.spill.taken(self._row_of_task, identities)

    @cached_property
    def operators(self) -> Operators:
        """The communication operators that have an interval, with their opId."""
        habits = self.habits
        return operators_of(
            self.capture,
            first=habits.first_operator,
            masters=habits.masters_bound,
            spill=self.spill,
        )

    @cached_property
    def transfers(self) -> Transfers:
        """The tasks of those operators, in order of opId."""
        batch, spill = self.capture.transfers, self.spill
        number = spill.taken(self.operators.number_of, batch.collective)
        own = spill.where(lambda one: one >= 0, number)
        order = sorted_rows(spill, spill.taken(number, own))
        return taken(spill, batch, spill.taken(own, order))

    @cached_property
    def activities(self) -> Identified:
        """The activities in the order of PYTORCH_API, with their connections."""
        return identify(self.capture, self.habits)

    @cached_property
    def call_stacks(self) -> Integers:
        """The numbers of the call stacks that operators have, ascending."""
        batch = self.capture.activities
        stacks: Integers = np.unique(batch.stack[(batch.kind == OP) & (batch.stack != NONE)])
        return stacks
