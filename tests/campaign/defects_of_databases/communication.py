"""Collectives and transfers."""

from __future__ import annotations

from damaged_profiles import Database
from exporter_defects import defect


@defect("database", "the collective moves another number of bytes than its tasks")
def collective_count_in_bytes(db: Database) -> None:
    """The number of elements is multiplied by their size."""
    _need_transfers(db)
    db.change("UPDATE COMMUNICATION_OP SET count = count * 4")


@defect("database", "the collective has another type than its tasks")
def collective_of_another_type(db: Database) -> None:
    """The data type is that of another enum."""
    _need_transfers(db)
    db.change("UPDATE COMMUNICATION_OP SET dataType = CASE dataType WHEN 3 THEN 4 ELSE 3 END")


@defect("database", "the tasks move another number of bytes than the collective")
def transfer_sizes_in_kib(db: Database) -> None:
    """Bytes are divided by 1024."""
    _need_transfers(db)
    db.change("UPDATE COMMUNICATION_TASK_INFO SET size = size / 1024")


def _need_transfers(db: Database) -> None:
    db.need("SELECT 1 FROM COMMUNICATION_TASK_INFO WHERE size > 1024")


@defect("database", "the transfers of a rank have several sources")
def source_and_target_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need("SELECT 1 FROM COMMUNICATION_TASK_INFO WHERE srcRank <> dstRank")
    db.change("UPDATE COMMUNICATION_TASK_INFO SET srcRank = dstRank, dstRank = srcRank")


@defect("database", "waiting moves no data")
def all_transfers_over_sdma(db: Database) -> None:
    """The transport is not looked up."""
    db.need("SELECT 1 FROM COMMUNICATION_TASK_INFO WHERE transportType = 2")
    db.change("UPDATE COMMUNICATION_TASK_INFO SET transportType = 0 WHERE transportType = 2")


@defect("database", "a notification has no kind of link")
def notifications_over_hccs(db: Database) -> None:
    """The kind of link is taken from the plane instead of the task."""
    db.change("UPDATE COMMUNICATION_TASK_INFO SET linkType = 1 WHERE linkType = 65535")


@defect("database", "a notification has no type of data")
def notifications_of_a_type(db: Database) -> None:
    """The type of data is that of the collective."""
    db.change("UPDATE COMMUNICATION_TASK_INFO SET dataType = 4 WHERE dataType = 65535")


@defect("database", "a group has another hash than its operators")
def groups_by_another_name(db: Database) -> None:
    """The group is written by its raw number."""
    db.need("SELECT 1 FROM COMMUNICATION_OP")
    db.change(
        "UPDATE STRING_IDS SET value = '4711' WHERE id IN (SELECT groupName FROM COMMUNICATION_OP)"
        " AND value <> 'N/A'"
    )


@defect("database", "the name of an operator begins with its type")
def collective_types_in_another_form(db: Database) -> None:
    """The type of a collective lacks its hcom_."""
    db.change(
        "UPDATE STRING_IDS SET value = lower(replace(value, 'hcom_', '')) || '_x'"
        " WHERE id IN (SELECT opType FROM COMMUNICATION_OP) AND value LIKE 'hcom%'"
    )


@defect("database", "the rates are not size by time")
def transfer_rates_in_gb(db: Database) -> None:
    """GB/s are written for B/s."""
    db.need("SELECT 1 FROM COMMUNICATION_TASK_INFO WHERE bandwidth > 1000000000")
    db.change("UPDATE COMMUNICATION_TASK_INFO SET bandwidth = bandwidth / 1000000000")


@defect("database", "the rates are not size by time")
def transfer_rates_times_ten(db: Database) -> None:
    """Bits and bytes are confused."""
    db.change("UPDATE COMMUNICATION_TASK_INFO SET bandwidth = bandwidth * 8")


@defect("database", "each operator has tasks on a master stream")
def masters_inverted(db: Database) -> None:
    """The mark of the master stream is inverted."""
    db.change("UPDATE COMMUNICATION_TASK_INFO SET isMaster = 1 - isMaster")


@defect("database", "several transfers run on one plane at once")
def one_plane_for_all(db: Database) -> None:
    """The plane is not filled in."""
    db.need("SELECT 1 FROM COMMUNICATION_TASK_INFO WHERE planeId BETWEEN 1 AND 100")
    db.change("UPDATE COMMUNICATION_TASK_INFO SET planeId = 0")


@defect("database", "an operator does not span its tasks")
def collectives_end_early(db: Database) -> None:
    """The end of an operator is that of its first task."""
    db.change("UPDATE COMMUNICATION_OP SET endNs = startNs + (endNs - startNs) / 3")


@defect("database", "the group has fewer ranks than its transfers name")
def ranks_of_transfers_off_by_one(db: Database) -> None:
    """Ranks are counted from 1."""
    db.need("SELECT 1 FROM COMMUNICATION_TASK_INFO WHERE dstRank < 100")
    db.change("UPDATE COMMUNICATION_TASK_INFO SET srcRank = srcRank + 1 WHERE srcRank < 4294967295")
