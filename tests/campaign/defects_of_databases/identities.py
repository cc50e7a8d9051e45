"""Names, processes, streams, devices and ranks."""

from __future__ import annotations

from damaged_profiles import Database, text_id
from exporter_defects import Inapplicable, defect


@defect("database", "names do not contain their types")
def kernel_names_off_by_one(db: Database) -> None:
    """Names are joined one row too late."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE opType <> {text_id('N/A')}")
    db.change(
        "CREATE TEMP TABLE shifted AS SELECT rowid AS r, name FROM COMPUTE_TASK_INFO",
        "UPDATE COMPUTE_TASK_INFO SET name = coalesce((SELECT name FROM shifted"
        " WHERE r = COMPUTE_TASK_INFO.rowid + 1), name)",
    )


@defect("database", "names do not contain their types")
def kernel_types_off_by_one(db: Database) -> None:
    """Types are joined one row too late."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE opType <> {text_id('N/A')}")
    db.change(
        "CREATE TEMP TABLE shifted AS SELECT rowid AS r, opType FROM COMPUTE_TASK_INFO",
        "UPDATE COMPUTE_TASK_INFO SET opType = coalesce((SELECT opType FROM shifted"
        " WHERE r = COMPUTE_TASK_INFO.rowid + 1), opType)",
    )


@defect("database", "a kernel stands on a task of another kind of core")
def kernels_on_the_next_task(db: Database) -> None:
    """Kernels are joined with the task that follows."""
    db.change(
        "UPDATE COMPUTE_TASK_INFO SET globalTaskId = globalTaskId + 1000000000",
        "UPDATE COMPUTE_TASK_INFO SET globalTaskId = globalTaskId - 999999999",
    )


@defect("database", "a kernel of the vector cores has counts of the cube cores")
def counters_on_the_next_task(db: Database) -> None:
    """Counters are joined with the task that follows."""
    db.change("UPDATE TASK_PMU_INFO SET globalTaskId = globalTaskId + 1")


@defect("database", "transfers lie outside their collective")
def transfers_on_the_next_task(db: Database) -> None:
    """Transfers are joined with the task that follows."""
    db.change("UPDATE COMMUNICATION_TASK_INFO SET globalTaskId = globalTaskId + 1")


@defect("database", "transfers lie outside their collective")
def transfers_of_the_next_collective(db: Database) -> None:
    """The number of the collective counts from 1."""
    db.need("SELECT 1 FROM COMMUNICATION_TASK_INFO")
    db.change("UPDATE COMMUNICATION_TASK_INFO SET opId = opId + 1")


@defect("database", "ids name texts of another meaning")
def texts_off_by_one(db: Database) -> None:
    """The dictionary of texts is written one place too late."""
    db.change(
        "CREATE TEMP TABLE shifted AS SELECT id, value FROM STRING_IDS",
        "UPDATE STRING_IDS SET value = coalesce((SELECT s.value FROM shifted s"
        " WHERE s.id = STRING_IDS.id - 1), value)",
    )


@defect("database", "two kernels have the shapes and counters of other kinds of cores")
def two_kernels_exchanged(db: Database) -> None:
    """Two kernels of different kinds of cores have exchanged tasks."""
    found = db.ask(
        "SELECT min(globalTaskId) FROM COMPUTE_TASK_INFO WHERE taskType IN (SELECT id"
        " FROM STRING_IDS WHERE value IN ('AI_CORE', 'AI_VECTOR_CORE', 'MIX_AIC', 'MIX_AIV'))"
        " GROUP BY taskType"
    )
    if len(found) < 2:
        raise Inapplicable
    first, second = found[:2]
    db.change(
        f"UPDATE COMPUTE_TASK_INFO SET globalTaskId = -1 WHERE globalTaskId = {first}",
        f"UPDATE COMPUTE_TASK_INFO SET globalTaskId = {first} WHERE globalTaskId = {second}",
        f"UPDATE COMPUTE_TASK_INFO SET globalTaskId = {second} WHERE globalTaskId = -1",
    )


@defect("database", "process and thread differ from the tasks' process")
def thread_and_process_exchanged(db: Database) -> None:
    """The halves of a global thread id are exchanged."""
    db.change("UPDATE CANN_API SET globalTid = (globalTid & 4294967295) << 32 | (globalTid >> 32)")


@defect("database", "a thread has no process")
def threads_without_a_process(db: Database) -> None:
    """The upper half of a global thread id is not filled in."""
    db.change("UPDATE CANN_API SET globalTid = globalTid & 4294967295")


@defect("database", "a process is one number in each table")
def tasks_of_another_process(db: Database) -> None:
    """The process is that of the profiler instead of that of the program."""
    db.change("UPDATE TASK SET globalPid = globalPid + 1")


@defect("database", "task numbers fall along a stream")
def stream_and_task_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.change("UPDATE TASK SET streamId = taskId, taskId = streamId")


@defect("database", "tasks of one stream overlap")
def one_stream_for_all(db: Database) -> None:
    """The stream is not filled in."""
    db.need("SELECT 1 FROM TASK GROUP BY 1 HAVING count(DISTINCT streamId) > 1")
    db.change("UPDATE TASK SET streamId = 0")


@defect("database", "sub-tasks have no task around them, kernels run among transfers")
def half_of_the_tasks_on_another_stream(db: Database) -> None:
    """Streams are joined by a key that is not unique."""
    db.change(
        "UPDATE TASK SET streamId = (SELECT max(streamId) FROM TASK) WHERE globalTaskId % 2 = 0"
    )


@defect("database", None)
def models_are_zero(db: Database) -> None:
    """The number of the model is 0 instead of 4294967295: model 0 exists as well."""
    db.change("UPDATE TASK SET modelId = 0")


@defect("database", "several tasks share stream, number and start, or no task is a whole one")
def contexts_are_zero(db: Database) -> None:
    """The context of a whole task is 0 instead of 4294967295."""
    db.change("UPDATE TASK SET contextId = 0 WHERE contextId = 4294967295")


DEVICES = (
    "TASK",
    "HBM",
    "LLC",
    "DDR",
    "NPU_MEM",
    "NPU_MODULE_MEM",
    "NPU_OP_MEM",
    "MEMORY_RECORD",
    "OP_MEMORY",
    "AICORE_FREQ",
    "ACC_PMU",
    "SOC_BANDWIDTH_LEVEL",
    "OVERLAP_ANALYSIS",
    "COMMUNICATION_OP",
    "HCCS",
    "PCIE",
    "NIC",
)


def _elsewhere(table: str) -> None:
    lower = table.lower().replace("_", "-")

    @defect("database", "no such device is among the devices", f"{lower}-of-another-device")
    def another(db: Database) -> None:
        """The device is that of another rank."""
        db.change(f"UPDATE {table} SET deviceId = deviceId + 3")


for _table in DEVICES:
    _elsewhere(_table)


@defect("database", "the name of the file holds another rank")
def rank_off_by_one(db: Database) -> None:
    """Ranks are counted from 1."""
    db.need("SELECT 1 FROM RANK_DEVICE_MAP WHERE rankId >= 0")
    db.change("UPDATE RANK_DEVICE_MAP SET rankId = rankId + 1")
