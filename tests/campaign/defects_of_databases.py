"""Defects of databases, as exporters make them."""

from __future__ import annotations

from damaged_profiles import Database, Folder, text_id
from exporter_defects import Inapplicable, defect

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


def _set(db: Database, table: str, formula: str) -> None:
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
        _set(db, table, f"{{}} + {LATE}")

    @defect("database", "it lies decades before the session", f"{lower}-in-us")
    def microseconds(db: Database) -> None:
        """Times are written in us."""
        _set(db, table, "{} / 1000")

    @defect("database", "it lies decades before the session", f"{lower}-since-boot")
    def since_boot(db: Database) -> None:
        """The clock since boot is not converted to Unix time."""
        _set(db, table, "{} % 1000000000000000")


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


# Links.


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


# Times of the device and the host.


@defect("database", "steps and ProfilerStep calls differ")
def framework_five_milliseconds_late(db: Database) -> None:
    """The framework's clock is adjusted with the wrong offset."""
    _set(db, "PYTORCH_API", "{} + 5000000")


@defect("database", "launches lie outside the queue's calls, tasks start before their launch")
def host_calls_three_milliseconds_late(db: Database) -> None:
    """The host's clock is adjusted with the wrong offset."""
    _set(db, "CANN_API", "{} + 3000000")


@defect("database", "launches lie outside the calls that leave the queue")
def host_calls_ninety_microseconds_early(db: Database) -> None:
    """The host's clock drifts."""
    db.need("SELECT 1 FROM PYTORCH_API")
    _set(db, "CANN_API", "{} - 90000")


@defect("database", "kernels start before they are launched, by more than other clocks differ")
def tasks_two_milliseconds_early(db: Database) -> None:
    """The device's clock is adjusted with the wrong offset."""
    _set(db, "TASK", "{} - 2000000")


@defect("database", "each end is before its start")
def task_end_holds_the_length(db: Database) -> None:
    """The length is written where the end belongs."""
    db.change("UPDATE TASK SET endNs = endNs - startNs")


@defect("database", "each end is before its start")
def task_start_and_end_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.change("UPDATE TASK SET startNs = endNs, endNs = startNs")


@defect("database", "each end is before its start")
def host_start_and_end_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.change("UPDATE CANN_API SET startNs = endNs, endNs = startNs")


@defect("database", "counters give longer times than the tasks took")
def task_lengths_in_us(db: Database) -> None:
    """The length is divided by 1000 before it is added to the start."""
    db.change("UPDATE TASK SET endNs = startNs + (endNs - startNs) / 1000")


@defect("database", "calls that are caused by others end behind them")
def host_lengths_in_us(db: Database) -> None:
    """The length is divided by 1000 before it is added to the start."""
    db.change("UPDATE CANN_API SET endNs = startNs + (endNs - startNs) / 1000")


@defect("database", "tasks overlap on their streams")
def task_lengths_times_a_thousand(db: Database) -> None:
    """The length is taken for us and multiplied."""
    db.change("UPDATE TASK SET endNs = startNs + (endNs - startNs) * 1000")


@defect("database", "calls overlap on their threads")
def host_lengths_times_a_thousand(db: Database) -> None:
    """The length is taken for us and multiplied."""
    db.change("UPDATE CANN_API SET endNs = startNs + (endNs - startNs) * 1000")


@defect("database", "all times of the device are multiples of 1000 ns")
def task_times_cut_to_us(db: Database) -> None:
    """Times pass through whole us."""
    _set(db, "TASK", "{} / 1000 * 1000")


@defect("database", "all times of the host are multiples of 1000 ns")
def host_times_cut_to_us(db: Database) -> None:
    """Times pass through whole us."""
    _set(db, "CANN_API", "{} / 1000 * 1000")


@defect("database", "all times of the framework are multiples of 1000 ns")
def framework_times_cut_to_us(db: Database) -> None:
    """Times pass through whole us."""
    _set(db, "PYTORCH_API", "{} / 1000 * 1000")


@defect("database", "all times are multiples of 256 ns, the spacing of doubles there")
def task_times_through_doubles(db: Database) -> None:
    """Times pass through floating point."""
    _set(db, "TASK", "({} / 256) * 256")


@defect("database", "all times are multiples of 256 ns, the spacing of doubles there")
def host_times_through_doubles(db: Database) -> None:
    """Times pass through floating point."""
    _set(db, "CANN_API", "({} / 256) * 256")


@defect("database", "times lie decades before the session")
def task_times_in_32_bits(db: Database) -> None:
    """Times lose their upper half."""
    _set(db, "TASK", "({} & 4294967295)")


@defect("database", "operators and steps lie outside")
def session_ends_before_its_tasks(db: Database) -> None:
    """The session is closed before the last data has come."""
    db.change(
        "UPDATE SESSION_TIME_INFO SET endTimeNs = (SELECT (min(startNs) + max(endNs)) / 2"
        " FROM TASK)"
    )


@defect("database", "tasks run before the session starts")
def session_begins_after_its_tasks(db: Database) -> None:
    """The start of the session is that of its analysis."""
    db.change(
        "UPDATE SESSION_TIME_INFO SET startTimeNs = (SELECT (min(startNs) + max(endNs)) / 2"
        " FROM TASK)"
    )


@defect("database", "kernels of one stream overlap")
def tasks_lengthened_by_the_wait(db: Database) -> None:
    """The end is that of the next task of the stream, plus a little."""
    db.change(
        "UPDATE TASK SET endNs = coalesce((SELECT min(u.startNs) + 500 FROM TASK u WHERE"
        " u.streamId = TASK.streamId AND u.contextId = 4294967295 AND u.startNs > TASK.startNs),"
        " endNs) WHERE contextId = 4294967295"
    )


# Identities.


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


# Kinds.


@defect("database", "calls named acl... are of another level")
def acl_and_runtime_exchanged(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.change("UPDATE CANN_API SET type = 25000 - type WHERE type IN (5000, 20000)")


@defect("database", "nodes are not called launch")
def node_and_acl_exchanged(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.change("UPDATE CANN_API SET type = 30000 - type WHERE type IN (10000, 20000)")


@defect("database", "enqueue and dequeue differ in number or nesting")
def operators_are_queue_calls(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.need("SELECT 1 FROM PYTORCH_API WHERE type = 50001")
    db.change("UPDATE PYTORCH_API SET type = 50002 WHERE type = 50001")


@defect("database", "a vector kernel has counts of the cube cores")
def cube_and_vector_exchanged(db: Database) -> None:
    """Two kinds of cores are exchanged."""
    core, vector = text_id("AI_CORE"), text_id("AI_VECTOR_CORE")
    db.need("SELECT 1 FROM STRING_IDS WHERE value = 'AI_VECTOR_CORE'")
    db.need("SELECT 1 FROM STRING_IDS WHERE value = 'AI_CORE'")
    db.change(
        f"UPDATE COMPUTE_TASK_INFO SET taskType = CASE taskType WHEN {core} THEN {vector}"
        f" WHEN {vector} THEN {core} ELSE taskType END"
        f" WHERE taskType IN ({core}, {vector})"
    )


@defect("database", "data types stand among the formats")
def formats_and_types_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE inputFormats <> {text_id('N/A')}")
    db.change(
        "UPDATE COMPUTE_TASK_INFO SET inputFormats = inputDataTypes, inputDataTypes = inputFormats"
    )


@defect("database", "data types stand among the formats")
def output_formats_and_types_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE outputFormats <> {text_id('N/A')}")
    db.change(
        "UPDATE COMPUTE_TASK_INFO SET outputFormats = outputDataTypes,"
        " outputDataTypes = outputFormats"
    )


@defect("database", "formats stand among the shapes")
def shapes_and_formats_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE inputFormats <> {text_id('N/A')}")
    db.change("UPDATE COMPUTE_TASK_INFO SET inputFormats = inputShapes, inputShapes = inputFormats")


@defect("database", "types contain their names")
def kernel_names_and_types_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need(f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE opType <> {text_id('N/A')}")
    db.change("UPDATE COMPUTE_TASK_INFO SET name = opType, opType = name")


@defect("database", "plain kernels have blocks on the second kind of core")
def block_columns_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.need("SELECT 1 FROM COMPUTE_TASK_INFO WHERE $block > 0".replace("$block", _block(db)))
    db.change("UPDATE COMPUTE_TASK_INFO SET $block = $mixed, $mixed = $block")


@defect("database", "kernels with counts ran on no core")
def blocks_are_zero(db: Database) -> None:
    """The number of blocks is not filled in."""
    db.need("SELECT 1 FROM TASK_PMU_INFO")
    db.change("UPDATE COMPUTE_TASK_INFO SET $block = 0")


@defect("database", "cycles, time and blocks give no one clock")
def blocks_halved(db: Database) -> None:
    """Blocks are counted in pairs of cores."""
    db.need("SELECT 1 FROM TASK_PMU_INFO")
    db.change("UPDATE COMPUTE_TASK_INFO SET $block = $block / 2 WHERE $block > 2")


def _block(db: Database) -> str:
    return "blockNum" if "blockNum" in db.columns("COMPUTE_TASK_INFO") else "blockDim"


@defect("database", "no exporter writes such names of tasks")
def task_kinds_in_lower_case(db: Database) -> None:
    """Kinds of tasks are spelt in another way."""
    db.change("UPDATE STRING_IDS SET value = lower(value) WHERE id IN (SELECT taskType FROM TASK)")


@defect("database", "no exporter writes such names of small tasks")
def transfer_kinds_in_capitals(db: Database) -> None:
    """NOTIFY_WAIT is written for Notify_Wait."""
    db.change(
        "UPDATE STRING_IDS SET value = upper(value) WHERE id IN"
        " (SELECT taskType FROM COMMUNICATION_TASK_INFO) AND value <> 'N/A'"
    )


@defect("database", "the character is that of text that could not be decoded")
def names_lose_characters(db: Database) -> None:
    """Names are decoded with another encoding, and every third text loses a character."""
    db.change(
        "UPDATE STRING_IDS SET value = char(65533) || substr(value, 2)"
        " WHERE id IN (SELECT name FROM CANN_API)"
    )


@defect("database", "names are in quotation marks")
def names_in_quotation_marks(db: Database) -> None:
    """Texts are quoted as if for a CSV file."""
    db.change("UPDATE STRING_IDS SET value = '\"' || value || '\"'")


@defect("database", "texts end in a tab")
def texts_end_in_a_tab(db: Database) -> None:
    """Texts are taken from CSV cells, with their tab."""
    db.change("UPDATE STRING_IDS SET value = value || char(9)")


@defect("database", "the first function of a stack calls none of those behind it")
def call_stacks_upside_down(db: Database) -> None:
    """Frames are written from the inside."""
    db.change(
        "CREATE TEMP TABLE depths AS SELECT id AS i, max(stackDepth) AS deepest"
        " FROM PYTORCH_CALLCHAINS GROUP BY id",
        "UPDATE PYTORCH_CALLCHAINS SET stackDepth ="
        " (SELECT deepest FROM depths WHERE i = PYTORCH_CALLCHAINS.id) - stackDepth",
    )


@defect("database", "the enum is the same in all databases")
def enum_of_host_calls_shifted(db: Database) -> None:
    """The names of an enum are written one place too late."""
    db.change(
        "CREATE TEMP TABLE shifted AS SELECT rowid AS r, name FROM ENUM_API_TYPE",
        "UPDATE ENUM_API_TYPE SET name = coalesce((SELECT name FROM shifted"
        " WHERE r = ENUM_API_TYPE.rowid + 1), (SELECT name FROM shifted WHERE r = 1))",
    )


# Communication.


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


# Memory.


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


# Samples and counters.


@defect("database", "no core has such a clock")
def clock_in_hertz(db: Database) -> None:
    """Hz are written for MHz."""
    db.change("UPDATE AICORE_FREQ SET freq = freq * 1000000")


@defect("database", "no core has such a clock")
def clock_in_kilohertz(db: Database) -> None:
    """kHz are written for MHz."""
    db.change("UPDATE AICORE_FREQ SET freq = freq * 1000")


@defect("database", "no core has such a clock")
def clock_in_gigahertz(db: Database) -> None:
    """GHz are written for MHz."""
    db.change("UPDATE AICORE_FREQ SET freq = freq / 1000.0")


@defect("database", "cycles, time and blocks give another clock")
def clock_of_another_chip(db: Database) -> None:
    """The clock is that of the first chip of the list."""
    db.need("SELECT 1 FROM TASK_PMU_INFO")
    db.change("UPDATE AICORE_FREQ SET freq = 1000")


@defect("database", "rates that never exceed 1 in a session of tasks")
def hit_rates_as_fractions(db: Database) -> None:
    """A fraction is written for a percentage."""
    db.need("SELECT 1 FROM LLC WHERE hitRate > 20")
    db.change("UPDATE LLC SET hitRate = hitRate / 100")


@defect("database", "rates above 100 by far")
def hit_rates_times_hundred(db: Database) -> None:
    """A percentage is converted twice."""
    db.need("SELECT 1 FROM LLC WHERE hitRate > 20")
    db.change("UPDATE LLC SET hitRate = hitRate * 100")


@defect("database", "memory that moves bytes where others move gigabytes")
def memory_rates_in_gb(db: Database) -> None:
    """GB/s are written for B/s."""
    db.need("SELECT 1 FROM HBM WHERE bandwidth > 1000000000")
    db.change("UPDATE HBM SET bandwidth = bandwidth / 1000000000")


@defect("database", "no memory is that fast")
def memory_rates_times_a_million(db: Database) -> None:
    """B/s are taken for MB/s and converted once more."""
    db.need("SELECT 1 FROM HBM WHERE bandwidth > 1000000000")
    db.change("UPDATE HBM SET bandwidth = bandwidth * 1048576")


@defect("database", "one sample holds a unit twice")
def all_samples_of_one_unit(db: Database) -> None:
    """The unit of the memory is not filled in."""
    db.need("SELECT 1 FROM HBM WHERE hbmId > 0")
    db.change("UPDATE HBM SET hbmId = 0")


def _metric(pattern: str) -> str:
    return f"name IN (SELECT id FROM STRING_IDS WHERE value GLOB '{pattern}')"


@defect("database", "cycles and time give no clock")
def counter_times_in_ns(db: Database) -> None:
    """ns are written for us."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value * 1000 WHERE {_metric('*_time')}")


@defect("database", "cycles and time give no clock")
def total_counter_times_in_ns(db: Database) -> None:
    """The whole is in ns, its parts are in us."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value * 1000 WHERE {_metric('*total_time')}")


@defect("database", "cycles and time give no clock")
def counter_times_in_ms(db: Database) -> None:
    """ms are written for us."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value / 1000 WHERE {_metric('*_time')}")


@defect("database", "a share is above 1")
def counter_shares_in_percent(db: Database) -> None:
    """Percent are written for fractions."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value * 100 WHERE {_metric('*_ratio*')}")


@defect("database", "cycles and time give no clock")
def counter_cycles_in_thousands(db: Database) -> None:
    """Cycles are divided by 1000."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value / 1000 WHERE {_metric('*cycles')}")


@defect("database", "vector kernels have counts of the cube cores")
def counters_of_the_other_cores(db: Database) -> None:
    """The prefixes of the cores are exchanged."""
    db.need("SELECT 1 FROM TASK_PMU_INFO")
    db.change(
        "UPDATE STRING_IDS SET value = CASE substr(value, 1, 3) WHEN 'aic' THEN 'aiv'"
        " ELSE 'aic' END || substr(value, 4) WHERE (value GLOB 'aic_*' OR value GLOB 'aiv_*')"
        " AND id IN (SELECT name FROM TASK_PMU_INFO)"
    )


@defect("database", "shares times the whole are not the times of the pipes")
def counter_shares_off_by_one(db: Database) -> None:
    """Shares are joined with the task that follows."""
    ratio = _metric("*_ratio")
    db.change(
        f"CREATE TEMP TABLE shifted AS SELECT globalTaskId AS t, name, value FROM TASK_PMU_INFO"
        f" WHERE {ratio}",
        f"UPDATE TASK_PMU_INFO SET value = coalesce((SELECT value FROM shifted s WHERE"
        f" s.t = globalTaskId + 1 AND s.name = TASK_PMU_INFO.name), value) WHERE {ratio}",
    )


@defect("database", "the four numbers do not make up the version")
def version_in_parts_of_another(db: Database) -> None:
    """The parts of the version are those of the product."""
    db.change("UPDATE META_DATA SET value = '8' WHERE name = 'SCHEMA_VERSION_MAJOR'")


@defect("database", "overlap is not that of communication and computation")
def overlap_kinds_exchanged(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.change("UPDATE OVERLAP_ANALYSIS SET type = 3 - type WHERE type IN (1, 2)")


@defect("database", "free time lies where tasks run")
def free_and_computing_exchanged(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.change("UPDATE OVERLAP_ANALYSIS SET type = 3 - type WHERE type IN (0, 3)")


# analysis.db next to its profile.


def _analysis(folder: Folder, *statements: str) -> None:
    Database(folder.files("analysis.db")[0]).change(*statements)


@defect("analysis", "matrix and transfers name other pairs")
def matrix_source_and_target_exchanged(folder: Folder) -> None:
    """Two columns are exchanged."""
    _analysis(folder, "UPDATE CommAnalyzerMatrix SET src_rank = dst_rank, dst_rank = src_rank")


@defect("analysis", "rates are not size by time")
def analysed_times_in_us(folder: Folder) -> None:
    """us are written for ms."""
    _analysis(
        folder,
        "UPDATE CommAnalyzerTime SET elapse_time = elapse_time * 1000, transit_time ="
        " transit_time * 1000, wait_time = wait_time * 1000, idle_time = idle_time * 1000,"
        " synchronization_time = synchronization_time * 1000",
    )


@defect("analysis", "rates are not size by time")
def analysed_sizes_in_bytes(folder: Folder) -> None:
    """Bytes are written for MB."""
    _analysis(folder, "UPDATE CommAnalyzerBandwidth SET transit_size = transit_size * 1000000")


@defect("analysis", "rates are not size by time")
def analysed_rates_in_mb(folder: Folder) -> None:
    """MB/s are written for GB/s."""
    _analysis(folder, "UPDATE CommAnalyzerBandwidth SET bandwidth = bandwidth * 1000")


@defect("analysis", "rates are not size by time")
def matrix_sizes_in_bytes(folder: Folder) -> None:
    """Bytes are written for MB."""
    _analysis(folder, "UPDATE CommAnalyzerMatrix SET transit_size = transit_size * 1000000")


@defect("analysis", "operators start at other times than in the profile")
def analysed_starts_in_ms(folder: Folder) -> None:
    """ms are written for us."""
    _analysis(folder, "UPDATE CommAnalyzerTime SET start_timestamp = start_timestamp / 1000")


@defect("analysis", "operators start at other times than in the profile")
def analysed_starts_in_local_time(folder: Folder) -> None:
    """Local time is written as if it were UTC."""
    _analysis(
        folder, "UPDATE CommAnalyzerTime SET start_timestamp = start_timestamp + 28800000000.0"
    )


@defect("analysis", "the tasks of the step give other times")
def step_trace_in_ns(folder: Folder) -> None:
    """ns are written for us."""
    _analysis(
        folder,
        "UPDATE StepTraceTime SET computing = computing * 1000, free = free * 1000,"
        " communication = communication * 1000, overlapped = overlapped * 1000, stage ="
        " stage * 1000, communication_not_overlapped = communication_not_overlapped * 1000",
    )


@defect("analysis", "the tasks of the step give other times")
def computing_and_free_exchanged(folder: Folder) -> None:
    """Two columns are exchanged."""
    _analysis(folder, "UPDATE StepTraceTime SET computing = free, free = computing")


@defect("analysis", "a synchronisation is part of the wait")
def wait_and_synchronisation_exchanged(folder: Folder) -> None:
    """Two columns are exchanged."""
    _analysis(
        folder,
        "UPDATE CommAnalyzerTime SET wait_time = synchronization_time,"
        " synchronization_time = wait_time WHERE wait_time <> synchronization_time",
    )


@defect("analysis", "the profile has no such step")
def steps_off_by_one(folder: Folder) -> None:
    """Steps are counted from another number."""
    _analysis(folder, "UPDATE StepTraceTime SET step = CAST(CAST(step AS INTEGER) + 1 AS TEXT)")


@defect("analysis", "the profile has no such group")
def analysed_groups_of_another_run(folder: Folder) -> None:
    """The hash of the group is computed in another way."""
    _analysis(
        folder,
        "UPDATE CommAnalyzerTime SET group_name = '1234567890123456789'",
        "UPDATE CommAnalyzerBandwidth SET group_name = '1234567890123456789'",
    )


@defect("analysis", "sums are not those of the operators")
def totals_of_one_operator(folder: Folder) -> None:
    """The row of totals counts its last operator alone."""
    _analysis(
        folder,
        "UPDATE CommAnalyzerTime SET elapse_time = elapse_time / 2 WHERE hccl_op_name LIKE"
        " 'Total%' OR rowid = 1",
    )


@defect("analysis", "packets do not make up the size")
def packets_counted_twice(folder: Folder) -> None:
    """Packets of both directions are counted."""
    _analysis(folder, "UPDATE CommAnalyzerBandwidth SET count = count * 2 WHERE count > 0")


@defect("analysis", "rows are equal in all columns")
def analysed_operators_twice(folder: Folder) -> None:
    """The table is flushed twice."""
    _analysis(folder, "INSERT INTO CommAnalyzerTime SELECT * FROM CommAnalyzerTime")


@defect("analysis", "rows are equal in all columns")
def analysed_matrix_twice(folder: Folder) -> None:
    """The table is flushed twice."""
    _analysis(folder, "INSERT INTO CommAnalyzerMatrix SELECT * FROM CommAnalyzerMatrix")


@defect("analysis", "rows are equal in all columns")
def analysed_links_twice(folder: Folder) -> None:
    """The table is flushed twice."""
    _analysis(folder, "INSERT INTO CommAnalyzerBandwidth SELECT * FROM CommAnalyzerBandwidth")
