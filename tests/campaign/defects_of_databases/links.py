"""Links between calls, tasks and operators."""

from __future__ import annotations

from damaged_profiles import Database
from exporter_defects import defect


@defect("database", "no link names a call that launched a task")
def connection_ids_off_by_one(db: Database) -> None:
    """The numbers of launches are counted from 1 instead of 0."""
    db.need("SELECT 1 FROM CONNECTION_IDS")
    db.change("UPDATE CONNECTION_IDS SET connectionId = connectionId + 1")


@defect("database", "the host call of a kernel is no launch")
def task_connection_off_by_one(db: Database) -> None:
    """The numbers of launches are counted from 1 on the device's side alone."""
    db.change("UPDATE TASK SET connectionId = connectionId + 1 WHERE connectionId < 4294967295")


@defect("database", "launches and tasks are in different order, or kernels have no launch")
def task_connection_of_its_neighbour(db: Database) -> None:
    """Launch and task are joined one row too late."""
    db.change(
        "UPDATE TASK SET connectionId = coalesce((SELECT u.connectionId FROM TASK u"
        " WHERE u.rowid = TASK.rowid + 1), connectionId)"
    )


@defect("database", "tasks have no launch")
def host_connection_off_by_one(db: Database) -> None:
    """The numbers of launches are counted from 1 on the host's side alone."""
    db.change(
        "UPDATE CANN_API SET connectionId = connectionId + 1000000000",
        "UPDATE CANN_API SET connectionId = connectionId - 999999999",
    )


@defect("database", "an operator launches a call outside its own time")
def operator_linked_to_the_next_launch(db: Database) -> None:
    """Operators are joined with the launch that follows."""
    db.need("SELECT 1 FROM PYTORCH_API WHERE connectionId IS NOT NULL")
    db.change(
        "UPDATE PYTORCH_API SET connectionId = connectionId + 1"
        " WHERE connectionId IS NOT NULL AND connectionId < (SELECT max(id) FROM CONNECTION_IDS)"
    )


@defect("database", "its tasks have another link")
def collective_linked_to_its_neighbour(db: Database) -> None:
    """Collectives are joined with the launch of the next."""
    db.need("SELECT 1 FROM COMMUNICATION_OP WHERE rowid = 2")
    db.change(
        "UPDATE COMMUNICATION_OP SET connectionId = coalesce((SELECT u.connectionId"
        " FROM COMMUNICATION_OP u WHERE u.rowid = COMMUNICATION_OP.rowid + 1), connectionId)"
    )


@defect("database", "every task carries the same link")
def connections_are_zero(db: Database) -> None:
    """The link is never filled in."""
    db.change("UPDATE TASK SET connectionId = 0")
