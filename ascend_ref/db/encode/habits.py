"""What the exporters of one revision do that no column states: values, orders, sentinels."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_spec import Schema, catalog

HALF_HOUR_NS = 30 * 60 * 1_000_000_000
EXCLUDED = "communication_not_overlapped_and_exclude_receive"
ROUNDED_ALL_ONES = -616
"""UINT64_MAX rounded down to whole microseconds, as SQLite stores it."""


@dataclass(frozen=True, slots=True)
class Habits:
    """Behaviour of the exporters at one revision, by what ``changed`` of tables and columns says.

    no_connection: TASK.connectionId without host call (erratum E33).
    masters_bound: the interval of a communication operator spans its master tasks only (I14).
    first_operator: smallest COMMUNICATION_OP.opId (4.9).
    sorted_frequency: AICORE_FREQ rows ascend in time instead of session bounds last (I40).
    enqueue_named: Enqueue rows carry the operator, as Dequeue rows always did.
    private_connections: smallest framework-private connection id; None puts them above CANN's.
    workspace: MEMORY_RECORD knows the component WORKSPACE.
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
    assumed_length: int | None
    receive_floored: bool

    @classmethod
    def of(cls, schema: Schema) -> Habits:
        """The habits at a schema's revision."""

        def is_new(place: str) -> bool:
            return _new_from(place) <= schema.revision.date

        before, since = catalog().tables["TASK"].columns["connectionId"].none
        return cls(
            no_connection=since if is_new("TASK.connectionId") else before,
            masters_bound=is_new("COMMUNICATION_OP.startNs"),
            first_operator=0 if is_new("COMMUNICATION_OP.opId") else 1,
            sorted_frequency=is_new("AICORE_FREQ"),
            enqueue_named=is_new("PYTORCH_API.name"),
            private_connections=5 << 28 if is_new("CONNECTION_IDS.connectionId") else None,
            workspace=is_new("MEMORY_RECORD.component"),
            assumed_length=HALF_HOUR_NS if is_new("SESSION_TIME_INFO.endTimeNs") else None,
            receive_floored=is_new(f"StepTraceTime.{EXCLUDED}"),
        )

    def missing_end(self, start: int) -> int:
        """SESSION_TIME_INFO.endTimeNs where the capture was cut off."""
        return ROUNDED_ALL_ONES if self.assumed_length is None else start + self.assumed_length


def _new_from(place: str) -> str:
    """The day from which a table or column is as it is now, under the same name; the spec has one.

    A working copy without it has always been as it is now.
    """
    table, _, column = place.partition(".")
    owner = catalog().tables[table]
    changed = owner.columns[column].changed if column else owner.changed
    return next((one.since for one in changed if one.since), "")
