"""Known answers: what each revision of the schema holds, written out.

The five revisions of 1.2.0 are the columns of db-schema.md §5.5, the two of 1.0.0 its real files.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ascend_spec import catalog
from ascend_spec.db.model import Carrier

REVISIONS = [
    "1.0.0-2024-10",
    "1.0.0-2025-01",
    "1.2.0-2025-12",
    "1.0.2-documented",
    "1.2.0-2026-02",
    "1.2.0-2026-04",
    "1.2.0-2026-06",
    "1.2.0-2026-07",
]
OLDEST, *_, NEWEST = REVISIONS


def columns(revision: str, table: str, carrier: Carrier = "msprof") -> list[str]:
    return list(catalog().at(revision, carrier).tables[table].columns)


def enum(revision: str, name: str, carrier: Carrier = "msprof") -> Mapping[int, str]:
    return catalog().at(revision, carrier).enums[name]


def from_revision(first: str) -> list[str]:
    return REVISIONS[REVISIONS.index(first) :]


def before_revision(first: str) -> list[str]:
    return REVISIONS[: REVISIONS.index(first)]


def test_the_revisions_are_these_oldest_first() -> None:
    assert [revision.id for revision in catalog().revisions] == REVISIONS
    assert [revision.schema_version for revision in catalog().revisions] == [
        *["1.0.0"] * 2,
        "1.2.0",
        "1.0.2",
        *["1.2.0"] * 4,
    ]


def test_a_schema_version_stands_for_its_newest_revision() -> None:
    assert catalog().revision("1.0.0").id == "1.0.0-2025-01"
    assert catalog().revision("1.0.2").id == "1.0.2-documented"
    assert catalog().revision("1.2.0").id == "1.2.0-2026-07"
    with pytest.raises(KeyError, match=r"unknown revision '1\.1\.0'; known: 1\.0\.0-2024-10, "):
        catalog().revision("1.1.0")


# --- tables --------------------------------------------------------------------------------------

MSPROF_1_0_0 = {
    "ACC_PMU",
    "AICORE_FREQ",
    "CANN_API",
    "COMMUNICATION_OP",
    "COMMUNICATION_TASK_INFO",
    "COMPUTE_TASK_INFO",
    "DDR",
    "ENUM_API_TYPE",
    "ENUM_HCCL_DATA_TYPE",
    "ENUM_HCCL_LINK_TYPE",
    "ENUM_HCCL_RDMA_TYPE",
    "ENUM_HCCL_TRANSPORT_TYPE",
    "ENUM_MODULE",
    "ENUM_MSTX_EVENT_TYPE",
    "HBM",
    "HCCS",
    "HOST_INFO",
    "LLC",
    "META_DATA",
    "MSTX_EVENTS",
    "NIC",
    "NPU_INFO",
    "NPU_MEM",
    "NPU_MODULE_MEM",
    "NPU_OP_MEM",
    "PCIE",
    "ROCE",
    "SAMPLE_PMU_SUMMARY",
    "SAMPLE_PMU_TIMELINE",
    "SESSION_TIME_INFO",
    "SOC_BANDWIDTH_LEVEL",
    "STRING_IDS",
    "TASK",
    "TASK_PMU_INFO",
}
ADDED_BY_2025_12 = {
    "COMMUNICATION_SCHEDULE_TASK_INFO",
    "CPU_USAGE",
    "ENUM_MEMCPY_OPERATION",
    "HOST_DISK_USAGE",
    "HOST_MEM_USAGE",
    "HOST_NETWORK_USAGE",
    "MEMCPY_INFO",
    "NETDEV_STATS",
    "OSRT_API",
    "QOS",
    "RANK_DEVICE_MAP",
}
ADDED_BY_2026_06 = {"CCU", "DPU_TASK", "SIO", "UB"}
ADDED_BY_2026_07 = {"ENUM_OVERLAP_ANALYSIS_TYPE", "OVERLAP_ANALYSIS"}
PYTORCH_ONLY = {
    "RANK_DEVICE_MAP",
    "CONNECTION_IDS",
    "GC_RECORD",
    "MEMORY_RECORD",
    "OP_MEMORY",
    "PYTORCH_API",
    "PYTORCH_CALLCHAINS",
    "STEP_TIME",
}
ANALYSIS = {"CommAnalyzerBandwidth", "CommAnalyzerMatrix", "CommAnalyzerTime", "StepTraceTime"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_tables_of_a_revision(revision: str) -> None:
    expected = set(MSPROF_1_0_0)
    if revision in from_revision("1.2.0-2025-12"):
        expected |= ADDED_BY_2025_12
    if revision in from_revision("1.2.0-2026-06"):
        expected |= ADDED_BY_2026_06
    if revision in from_revision("1.2.0-2026-07"):
        expected |= ADDED_BY_2026_07
    assert set(catalog().at(revision, "msprof").tables) == expected
    assert set(catalog().at(revision, "pytorch").tables) == expected | PYTORCH_ONLY
    assert set(catalog().at(revision, "analysis").tables) == ANALYSIS


def test_the_newest_msprof_database_has_51_tables_9_of_them_enums() -> None:
    schema = catalog().at(NEWEST, "msprof")
    assert (len(schema.tables), len(schema.enums)) == (51, 9)


# --- columns -------------------------------------------------------------------------------------

COMPUTE_ATTRIBUTES = [
    "taskType",
    "opType",
    "inputFormats",
    "inputDataTypes",
    "inputShapes",
    "outputFormats",
    "outputDataTypes",
    "outputShapes",
    "attrInfo",
]


@pytest.mark.parametrize(
    ("revisions", "cores", "added"),
    [
        (before_revision("1.2.0-2025-12"), ["blockDim", "mixBlockDim"], []),
        (
            ["1.2.0-2025-12", "1.0.2-documented"],
            ["blockDim", "mixBlockDim"],
            ["opState", "hf32Eligible"],
        ),
        (
            ["1.2.0-2026-02", "1.2.0-2026-04"],
            ["blockNum", "mixBlockNum"],
            ["opState", "hf32Eligible"],
        ),
        (
            ["1.2.0-2026-06", "1.2.0-2026-07"],
            ["blockNum", "mixBlockNum"],
            ["opState", "hf32Eligible", "gridDim", "blockDim"],
        ),
    ],
)
def test_the_columns_of_compute_task_info(
    revisions: list[str], cores: list[str], added: list[str]
) -> None:
    for revision in revisions:
        assert columns(revision, "COMPUTE_TASK_INFO") == [
            "name",
            "globalTaskId",
            *cores,
            *COMPUTE_ATTRIBUTES,
            *added,
        ]


def test_block_dim_came_back_as_a_string_id() -> None:
    old = catalog().at("1.2.0-2025-12", "msprof").tables["COMPUTE_TASK_INFO"].columns["blockDim"]
    new = catalog().at("1.2.0-2026-06", "msprof").tables["COMPUTE_TASK_INFO"].columns["blockDim"]
    assert old.references == ()
    assert new.references == ("STRING_IDS.id",)


@pytest.mark.parametrize(
    ("table", "column", "first"),
    [
        ("COMMUNICATION_TASK_INFO", "isMaster", "1.2.0-2025-12"),
        ("COMMUNICATION_TASK_INFO", "bandwidth", "1.2.0-2025-12"),
        ("COMMUNICATION_OP", "deviceId", "1.2.0-2025-12"),
        ("COMMUNICATION_OP", "rankSize", "1.2.0-2026-06"),
        ("AICORE_FREQ", "dieId", "1.2.0-2026-06"),
        ("QOS", "dieId", "1.2.0-2026-07"),
    ],
)
def test_a_column_is_there_from_its_revision_on(table: str, column: str, first: str) -> None:
    holding = [
        revision
        for revision in REVISIONS
        if table in catalog().at(revision, "msprof").tables and column in columns(revision, table)
    ]
    assert holding == from_revision(first)
    assert columns(NEWEST, table)[-1] in {column, "bandwidth", "rankSize"}


def test_host_uid_was_a_number_in_2024() -> None:
    declared = {
        revision: catalog().at(revision, "msprof").tables["HOST_INFO"].columns["hostUid"].declared
        for revision in REVISIONS
    }
    assert declared == {OLDEST: "INTEGER", **dict.fromkeys(REVISIONS[1:], "TEXT")}


def test_step_trace_time_gained_its_first_column_in_2025() -> None:
    for revision in before_revision("1.2.0-2025-12"):
        assert columns(revision, "StepTraceTime", "analysis")[0] == "step"
    for revision in from_revision("1.2.0-2025-12"):
        assert columns(revision, "StepTraceTime", "analysis")[:2] == ["deviceId", "step"]


STABLE_COLUMNS: Mapping[str, list[str]] = {
    "TASK": [
        "startNs",
        "endNs",
        "deviceId",
        "connectionId",
        "globalTaskId",
        "globalPid",
        "taskType",
        "contextId",
        "streamId",
        "taskId",
        "modelId",
    ],
    "CANN_API": ["startNs", "endNs", "type", "globalTid", "connectionId", "name"],
    "LLC": ["deviceId", "llcId", "timestampNs", "hitRate", "throughput", "mode"],
    "PYTORCH_API": [
        "startNs",
        "endNs",
        "globalTid",
        "connectionId",
        "name",
        "sequenceNumber",
        "fwdThreadId",
        "inputDtypes",
        "inputShapes",
        "callchainId",
        "type",
    ],
}


@pytest.mark.parametrize("revision", REVISIONS)
def test_these_tables_never_changed(revision: str) -> None:
    for table, expected in STABLE_COLUMNS.items():
        assert columns(revision, table, "pytorch") == expected


# --- enums ---------------------------------------------------------------------------------------

CANN_LAYERS = {20000: "acl", 15000: "model", 10000: "node", 5000: "runtime"}
FRAMEWORK_LAYERS = {50001: "op", 50002: "queue", 50003: "trace", 50004: "mstx"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_api_types(revision: str) -> None:
    name = "hccl" if revision in before_revision("1.2.0-2025-12") else "communication"
    cann = {**CANN_LAYERS, 5500: name}
    assert enum(revision, "ENUM_API_TYPE", "msprof") == cann
    assert enum(revision, "ENUM_API_TYPE", "pytorch") == {**cann, **FRAMEWORK_LAYERS}


# Ids 0 to 73 of the first two generations, in order.
OLD_MODULE_NAMES = """
    SLOG IDEDD IDEDH HCCL FMK HIAIENGINE DVPP RUNTIME CCE HDC DRV MDCFUSION MDCLOCATION
    MDCPERCEPTION MDCFSM MDCCOMMON MDCMONITOR MDCBSWP MDCDEFAULT MDCSC MDCPNC MLL DEVMM KERNEL
    LIBMEDIA CCECPU ASCENDDK ROS HCCP ROCE TEFUSION PROFILING DP APP TS TSDUMP AICPU LP TDT FE
    MD MB ME IMU IMP GE MDCFUSA CAMERA ASCENDCL TEEOS ISP SIS HSM DSS PROCMGR BBOX AIVECTOR
    TBE FV MDCMAP TUNE HSS FFTS OP UDF HICAID TSYNC AUDIO TPRT ASCENDCKERNEL ASYS ATRACE RTC
    SYSMONITOR
"""
REMOVED_IN_2025_12 = {*range(12, 22), 26, 46, 59}
RENAMED_IN_2025_12 = {2: "SCC", 5: "CCU", 11: "NET"}


def modules_of_2024() -> dict[int, str]:
    return {**dict(enumerate(OLD_MODULE_NAMES.split())), 74: "MBUFF", 75: "CUSTOM"}


def modules_of_2025() -> dict[int, str]:
    return {
        **dict(enumerate(OLD_MODULE_NAMES.split())),
        74: "AMP",
        75: "ADETECT",
        76: "MBUFF",
        77: "CUSTOM",
    }


def modules_of_2026() -> dict[int, str]:
    kept = {key: name for key, name in modules_of_2025().items() if key not in REMOVED_IN_2025_12}
    return {**kept, **RENAMED_IN_2025_12}


def test_modules_come_in_three_generations() -> None:
    assert [len(modules_of_2024()), len(modules_of_2025()), len(modules_of_2026())] == [76, 78, 65]
    assert enum("1.0.0-2024-10", "ENUM_MODULE") == modules_of_2024()
    assert enum("1.0.0-2025-01", "ENUM_MODULE") == modules_of_2025()
    assert enum("1.2.0-2025-12", "ENUM_MODULE") == modules_of_2025()
    for revision in from_revision("1.0.2-documented"):
        assert enum(revision, "ENUM_MODULE") == modules_of_2026()


def test_the_documents_keep_mdcmap() -> None:
    documented = catalog().at("1.0.2-documented", "msprof", "documented").enums["ENUM_MODULE"]
    assert documented == {**modules_of_2026(), 59: "MDCMAP"}
    assert not catalog().enums["ENUM_MODULE"].closed
    assert "MDCMAP" in catalog().at(NEWEST, "msprof").accepted["ENUM_MODULE"][59]


NOT_APPLICABLE = {65534: "N/A", 65535: "INVALID_TYPE"}
RESERVED = {255: "RESERVED"}
DATA_TYPES = dict(
    enumerate(
        [
            "INT8",
            "INT16",
            "INT32",
            "FP16",
            "FP32",
            "INT64",
            "UINT64",
            "UINT8",
            "UINT16",
            "UINT32",
            "FP64",
            "BFP16",
            "INT128",
        ]
    )
)
DATA_TYPES_2026 = {14: "HIF8", 15: "FP8E4M3", 16: "FP8E5M2", 17: "FP8E8M0"}
LINKS = dict(enumerate(["ON_CHIP", "HCCS", "PCIE", "ROCE", "SIO", "HCCS_SW", "STANDARD_ROCE"]))
TRANSPORTS = {0: "SDMA", 1: "RDMA", 2: "LOCAL"}
RDMA = {0: "RDMA_SEND_NOTIFY", 1: "RDMA_SEND_PAYLOAD"}
RDMA_UNTIL_2025_12 = {
    2: "RDMA_PAYLOAD_PREPARE",
    3: "RDMA_PAYLOAD_CHECK",
    4: "RDMA_PAYLOAD_ACK",
    5: "RDMA_SEND_OP",
}


@pytest.mark.parametrize("revision", before_revision("1.2.0-2025-12"))
def test_hccl_enums_of_1_0_0(revision: str) -> None:
    assert enum(revision, "ENUM_HCCL_DATA_TYPE") == {**DATA_TYPES, **NOT_APPLICABLE}
    assert enum(revision, "ENUM_HCCL_LINK_TYPE") == {**LINKS, 7: "RESERVED", **NOT_APPLICABLE}
    assert enum(revision, "ENUM_HCCL_TRANSPORT_TYPE") == {**TRANSPORTS, **NOT_APPLICABLE}
    assert enum(revision, "ENUM_HCCL_RDMA_TYPE") == {
        **RDMA,
        **RDMA_UNTIL_2025_12,
        **NOT_APPLICABLE,
    }


@pytest.mark.parametrize("revision", from_revision("1.2.0-2025-12"))
def test_hccl_enums_of_1_2_0(revision: str) -> None:
    from_april = revision in from_revision("1.2.0-2026-04")
    from_june = revision in from_revision("1.2.0-2026-06")
    rest = {**RESERVED, **NOT_APPLICABLE}
    data_types = DATA_TYPES_2026 if from_april else {}
    links = {7: "UB", 8: "UBoE"} if from_june else {}
    transports = {3: "UB"} if from_april else {}
    transports |= {4: "ROCE"} if from_june else {}
    assert enum(revision, "ENUM_HCCL_DATA_TYPE") == {**DATA_TYPES, **data_types, **rest}
    assert enum(revision, "ENUM_HCCL_LINK_TYPE") == {**LINKS, **links, **rest}
    assert enum(revision, "ENUM_HCCL_TRANSPORT_TYPE") == {**TRANSPORTS, **transports, **rest}
    assert enum(revision, "ENUM_HCCL_RDMA_TYPE") == {**RDMA, **rest}


@pytest.mark.parametrize("revision", REVISIONS)
def test_enums_that_never_changed(revision: str) -> None:
    enums = catalog().at(revision, "msprof").enums
    assert enums["ENUM_MSTX_EVENT_TYPE"] == {
        0: "marker",
        1: "push/pop",
        2: "start/end",
        3: "marker_ex",
    }
    if "ENUM_MEMCPY_OPERATION" in enums:
        assert enums["ENUM_MEMCPY_OPERATION"] == {
            0: "host to host",
            1: "host to device",
            2: "device to host",
            3: "device to device",
            4: "managed memory",
            5: "addr device to device",
            6: "host to device ex",
            7: "device to host ex",
            65535: "other",
        }
    if "ENUM_OVERLAP_ANALYSIS_TYPE" in enums:
        assert enums["ENUM_OVERLAP_ANALYSIS_TYPE"] == {
            0: "COMPUTE",
            1: "COMMUNICATION",
            2: "COMM_NOT_OVERLAP_COMP",
            3: "FREE",
            65535: "RESERVE",
        }


def test_the_names_of_every_revision_are_accepted() -> None:
    accepted = catalog().at(NEWEST, "msprof").accepted
    assert accepted["ENUM_API_TYPE"][5500] == {"hccl", "communication"}
    assert accepted["ENUM_API_TYPE"][50001] == {"op"}
    assert accepted["ENUM_HCCL_LINK_TYPE"][7] == {"RESERVED", "UB"}
    assert accepted["ENUM_MODULE"][74] == {"MBUFF", "AMP"}


def test_enums_stand_in_both_databases_alike_but_for_the_api_types() -> None:
    for revision in REVISIONS:
        msprof = dict(catalog().at(revision, "msprof").enums)
        pytorch = dict(catalog().at(revision, "pytorch").enums)
        del msprof["ENUM_API_TYPE"], pytorch["ENUM_API_TYPE"]
        assert msprof == pytorch
