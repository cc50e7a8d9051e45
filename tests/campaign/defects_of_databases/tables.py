"""Times of every table in another clock or unit, and rows that stand twice."""

from __future__ import annotations

from damaged_profiles import Database
from exporter_defects import defect

LATE = 8 * 3600 * 10**9
"""Eight hours, ns: local time of China taken for UTC."""

CLOCKS = {
    "TASK": ("startNs", "endNs"),
    "CANN_API": ("startNs", "endNs"),
    "PYTORCH_API": ("startNs", "endNs"),
    "COMMUNICATION_OP": ("startNs", "endNs"),
    "STEP_TIME": ("startNs", "endNs"),
    "GC_RECORD": ("startNs", "endNs"),
    "MSTX_EVENTS": ("startNs", "endNs"),
    "OVERLAP_ANALYSIS": ("startNs", "endNs"),
    "OP_MEMORY": ("allocationTime", "releaseTime", "activeReleaseTime"),
    "MEMORY_RECORD": ("timestamp",),
    "NPU_OP_MEM": ("timestampNs",),
    "NPU_MEM": ("timestampNs",),
    "NPU_MODULE_MEM": ("timestampNs",),
    "HBM": ("timestampNs",),
    "DDR": ("timestampNs",),
    "LLC": ("timestampNs",),
    "ACC_PMU": ("timestampNs",),
    "AICORE_FREQ": ("timestampNs",),
    "SOC_BANDWIDTH_LEVEL": ("timestampNs",),
    "HCCS": ("timestampNs",),
    "PCIE": ("timestampNs",),
    "NIC": ("timestampNs",),
    "ROCE": ("timestampNs",),
    "QOS": ("timestampNs",),
    "SESSION_TIME_INFO": ("startTimeNs", "endTimeNs"),
}
"""Times of each table."""


def set_all(db: Database, table: str, formula: str) -> None:
    """Replace each time of a table; ``{}`` stands for its old value, a PYTORCH_API one is text."""
    old = {name: f"CAST({name} AS INTEGER)" for name in CLOCKS[table]}
    new = {name: formula.replace("{}", value) for name, value in old.items()}
    if table == "PYTORCH_API":
        new = {name: f"CAST({value} AS TEXT)" for name, value in new.items()}
    columns = ", ".join(
        f"{name} = CASE WHEN {name} IS NULL THEN NULL ELSE {value} END"
        for name, value in new.items()
    )
    db.change(f"UPDATE {table} SET {columns}")


def _times(table: str) -> None:
    lower = table.lower().replace("_", "-")

    @defect("database", "it lies hours outside the session", f"{lower}-in-local-time")
    def local(db: Database) -> None:
        """Local time is written as if it were UTC."""
        set_all(db, table, f"{{}} + {LATE}")

    @defect("database", "it lies decades before the session", f"{lower}-in-us")
    def microseconds(db: Database) -> None:
        """Times are written in us."""
        set_all(db, table, "{} / 1000")

    @defect("database", "it lies decades before the session", f"{lower}-since-boot")
    def since_boot(db: Database) -> None:
        """The clock since boot is not converted to Unix time."""
        set_all(db, table, "{} % 1000000000000000")


for _table in CLOCKS:
    _times(_table)

ROWS = (
    "TASK",
    "CANN_API",
    "PYTORCH_API",
    "COMMUNICATION_OP",
    "COMMUNICATION_TASK_INFO",
    "COMPUTE_TASK_INFO",
    "TASK_PMU_INFO",
    "CONNECTION_IDS",
    "OP_MEMORY",
    "MEMORY_RECORD",
    "NPU_OP_MEM",
    "NPU_MEM",
    "NPU_MODULE_MEM",
    "HBM",
    "LLC",
    "AICORE_FREQ",
    "STEP_TIME",
    "GC_RECORD",
    "MSTX_EVENTS",
    "OVERLAP_ANALYSIS",
    "PYTORCH_CALLCHAINS",
    "RANK_DEVICE_MAP",
    "META_DATA",
)


def _doubled(table: str) -> None:
    @defect("database", "rows are equal in all columns", f"{table.lower().replace('_', '-')}-twice")
    def twice(db: Database) -> None:
        """The table is flushed twice."""
        db.twice(table)


for _table in ROWS:
    _doubled(_table)
