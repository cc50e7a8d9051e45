"""Memory of the framework, the graph engine and the device."""

from __future__ import annotations

from damaged_profiles import Database, text_id
from exporter_defects import defect


@defect("database", "sizes are no multiple of 512")
def blocks_in_kib(db: Database) -> None:
    """KiB are written for bytes, as the CSV file does."""
    db.change("UPDATE OP_MEMORY SET size = size / 1024")


@defect("database", "totals differ from the levels of the same time")
def levels_in_kib(db: Database) -> None:
    """KiB are written for bytes."""
    db.change(
        "UPDATE MEMORY_RECORD SET totalAllocated = totalAllocated / 1024,"
        " totalReserved = totalReserved / 1024, totalActive = totalActive / 1024"
    )


@defect("database", "totals differ from the levels of the same time")
def allocated_levels_in_kib(db: Database) -> None:
    """One of three columns is in KiB."""
    db.change("UPDATE MEMORY_RECORD SET totalAllocated = totalAllocated / 1024")


@defect("database", "totals differ from the levels of the same time")
def levels_in_mib(db: Database) -> None:
    """MiB are written for bytes, as the CSV file does."""
    db.change(
        "UPDATE MEMORY_RECORD SET totalAllocated = totalAllocated >> 20,"
        " totalReserved = totalReserved >> 20, totalActive = totalActive >> 20"
    )


@defect("database", "totals differ from the levels of the same time")
def totals_of_blocks_in_kib(db: Database) -> None:
    """KiB are written for bytes."""
    db.change(
        "UPDATE OP_MEMORY SET allocationTotalAllocated = allocationTotalAllocated / 1024,"
        " allocationTotalReserved = allocationTotalReserved / 1024,"
        " allocationTotalActive = allocationTotalActive / 1024"
    )


@defect("database", "totals differ from the levels of the same time")
def totals_of_blocks_off_by_one(db: Database) -> None:
    """Totals are joined one row too late."""
    db.change(
        "CREATE TEMP TABLE shifted AS SELECT rowid AS r, allocationTotalAllocated AS a"
        " FROM OP_MEMORY",
        "UPDATE OP_MEMORY SET allocationTotalAllocated = coalesce((SELECT a FROM shifted"
        " WHERE r = OP_MEMORY.rowid + 1), allocationTotalAllocated)",
    )


@defect("database", "totals differ from the levels of the same time")
def totals_before_the_allocation(db: Database) -> None:
    """The total is taken before the block is added."""
    db.change(
        "UPDATE OP_MEMORY SET allocationTotalAllocated = allocationTotalAllocated - size"
        " WHERE allocationTotalAllocated > size"
    )


@defect("database", "lifetimes are not release minus allocation")
def lifetimes_in_us(db: Database) -> None:
    """us are written for ns."""
    db.change("UPDATE OP_MEMORY SET duration = duration / 1000 WHERE duration > 1000")


@defect("database", "lifetimes are not release minus allocation")
def active_lifetimes_in_us(db: Database) -> None:
    """us are written for ns."""
    db.change("UPDATE OP_MEMORY SET activeDuration = activeDuration / 1000")


@defect("database", "a release is before its allocation")
def release_and_allocation_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.change(
        "UPDATE OP_MEMORY SET allocationTime = releaseTime, releaseTime = allocationTime"
        " WHERE releaseTime IS NOT NULL"
    )


@defect("database", "more is allocated than reserved")
def allocated_and_reserved_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.change(
        "UPDATE MEMORY_RECORD SET totalAllocated = totalReserved, totalReserved = totalAllocated"
    )


@defect("database", "more is allocated than reserved")
def allocated_and_reserved_of_blocks_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.change(
        "UPDATE OP_MEMORY SET allocationTotalAllocated = allocationTotalReserved,"
        " allocationTotalReserved = allocationTotalAllocated"
    )


@defect("database", "the sum of the allocators is one of them")
def components_exchanged(db: Database) -> None:
    """Names of two allocators are exchanged."""
    first, second = text_id("PTA"), text_id("GE")
    db.need("SELECT 1 FROM STRING_IDS WHERE value = 'PTA'")
    db.change(
        f"UPDATE MEMORY_RECORD SET component = CASE component WHEN {first} THEN {second}"
        f" ELSE {first} END WHERE component IN (SELECT id FROM STRING_IDS"
        " WHERE value IN ('PTA', 'GE'))"
    )


@defect("database", "a release has a size below 0")
def releases_without_sign(db: Database) -> None:
    """The size of a release loses its sign."""
    db.change("UPDATE NPU_OP_MEM SET size = -size WHERE size < 0")


@defect("database", "totals do not follow from the blocks")
def graph_blocks_in_kib(db: Database) -> None:
    """KiB are written for bytes."""
    db.change("UPDATE NPU_OP_MEM SET size = size / 1024")


@defect("database", "allocated is above reserved, or no multiple of 512")
def graph_totals_in_kib(db: Database) -> None:
    """KiB are written for bytes."""
    db.change("UPDATE NPU_OP_MEM SET totalAllocate = totalAllocate / 1024")


@defect("database", "a size is below what it is made of")
def device_memory_in_kib(db: Database) -> None:
    """KiB are written for bytes: the device uses less than its modules."""
    db.change("UPDATE NPU_MEM SET hbm = hbm / 1024, ddr = ddr / 1024")


@defect("database", "sizes are no multiple of a page")
def module_memory_in_kib(db: Database) -> None:
    """KiB are written for bytes."""
    db.change("UPDATE NPU_MODULE_MEM SET totalReserved = totalReserved / 1024")


@defect("database", "no such module is in its enum")
def modules_off_by_one(db: Database) -> None:
    """The modules are counted from 1."""
    db.change("UPDATE NPU_MODULE_MEM SET moduleId = moduleId + 1000")
