"""What the exporters of one revision do that no column states: values, orders, sentinels."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_spec import Schema, catalog

PUBLIC_SOURCE = "2025-12-25"
"""Date of the first public source; what it does differently from 2025-01 began no later."""

HALF_HOUR_NS = 30 * 60 * 1_000_000_000
ROUNDED_ALL_ONES = -616
"""UINT64_MAX rounded down to whole microseconds, as SQLite stores it."""


@dataclass(frozen=True, slots=True)
class Habits:
    """Behaviour of the exporters at one revision (db-schema.md 4 and 5.3).

    no_connection: TASK.connectionId without host call (erratum E33).
    masters_bound: the interval of a communication operator spans its master tasks only (I14).
    first_operator: smallest COMMUNICATION_OP.opId (4.9).
    sorted_frequency: AICORE_FREQ rows ascend in time instead of session bounds last (I40).
    enqueue_named: Enqueue rows carry the operator, as Dequeue rows always did.
    private_connections: smallest framework-private connection id; None puts them above CANN's.
    workspace: MEMORY_RECORD knows the component WORKSPACE.
    rank_map: msprof writes RANK_DEVICE_MAP (note of the table).
    assumed_length: what is taken for the length of a session without end; None writes a
        rounded all-ones number instead (4.10).
    receive_floored: exposed communication less receiving is never negative (StepTraceTime).
    """

    no_connection: int
    masters_bound: bool
    first_operator: int
    sorted_frequency: bool
    enqueue_named: bool
    private_connections: int | None
    workspace: bool
    rank_map: bool
    assumed_length: int | None
    receive_floored: bool

    @classmethod
    def of(cls, schema: Schema) -> Habits:
        """The habits at a schema's revision."""
        date = schema.revision.date
        public_source = date >= PUBLIC_SOURCE
        before, since = catalog().tables["TASK"].columns["connectionId"].none
        offset_connections = date >= "2025-08-20"
        return cls(
            no_connection=since if public_source else before,
            masters_bound=public_source,
            first_operator=0 if public_source else 1,
            sorted_frequency=public_source,
            enqueue_named=date >= "2025-06-04",
            private_connections=5 << 28 if offset_connections else None,
            workspace=date >= "2025-06-24",
            rank_map=public_source,
            assumed_length=HALF_HOUR_NS if date >= "2026-05-06" else None,
            receive_floored=date >= "2026-03-27",
        )

    def missing_end(self, start: int) -> int:
        """SESSION_TIME_INFO.endTimeNs where the capture was cut off."""
        return ROUNDED_ALL_ONES if self.assumed_length is None else start + self.assumed_length
