"""Databases and files in which comparisons of relations are met exactly, and which no writer makes.

By rule, the statements that make each of them of the newest database of torch_npu, or of the facts
of clean files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def _text(value: str) -> str:
    return f"(SELECT min(id) FROM STRING_IDS WHERE value = '{value}')"


def _sampled(table: str, *milliseconds: int) -> Iterator[str]:
    """One place of a table, sampled at first and so long after it."""
    yield f"CREATE TEMP TABLE one AS SELECT * FROM {table} LIMIT 1"
    yield f"DELETE FROM {table}"
    yield f"INSERT INTO {table} SELECT * FROM temp.one"
    last = 0
    for at in milliseconds:
        yield f"UPDATE temp.one SET timestampNs = timestampNs + {(at - last) * 1_000_000}"
        yield f"INSERT INTO {table} SELECT * FROM temp.one"
        last = at


FIVE_GAPS = 1, 2, 3, 4, 90_000
THREE_TIMES_THE_MEAN = 1, 2, 3, 4, 5, 10
"""Five gaps of 1 and one of 5: 6 x 5 = 3 x 10."""

ELEVEN_FIFTHS_OF_THE_MEAN = 19, 38, 57, 76, 95, 150
"""Five gaps of 19 and one of 55: 6 x 55 x 5 = 11 x 150."""


def _without_levels(component: str) -> Sequence[str]:
    named = f"(SELECT id FROM STRING_IDS WHERE value = '{component}')"
    return [f"DELETE FROM MEMORY_RECORD WHERE component IN {named}"]


NO_NODE = ["DELETE FROM CANN_API WHERE type = 10000"]
OVER_LINKS = (
    f"opId = 0 AND taskType IN ({_text('Memcpy')}, {_text('Reduce_Inline')}) AND linkType <> "
    "(SELECT id FROM ENUM_HCCL_LINK_TYPE WHERE name = 'ON_CHIP')"
)
"""The transfers of the first operator, which sums, but those on the chip."""

OF_COPIES = f"UPDATE COMMUNICATION_TASK_INFO SET size = {{}} WHERE {OVER_LINKS} AND taskType = "
OF_COPIES += _text("Memcpy")
OF_SUMS = OF_COPIES.replace("Memcpy", "Reduce_Inline")
IN_A_RING = [
    "INSERT INTO STRING_IDS SELECT max(id) + 1, 'RING-RING' FROM STRING_IDS WHERE id < 268435456",
    f"UPDATE COMMUNICATION_OP SET algType = {_text('RING-RING')} WHERE opId = 0",
]
NUMBER_0 = (
    "UPDATE PYTORCH_API SET sequenceNumber = 0 WHERE sequenceNumber = "
    "(SELECT min(sequenceNumber) FROM PYTORCH_API WHERE fwdThreadId > 0)"
)


def _moved(size: int, count: int) -> Sequence[str]:
    """The first operator moves so many bytes, of as many elements of four bytes."""
    return (
        "UPDATE COMMUNICATION_TASK_INFO SET size = 0 WHERE opId = 0",
        f"UPDATE COMMUNICATION_TASK_INFO SET size = {size} WHERE rowid = "
        f"(SELECT min(rowid) FROM COMMUNICATION_TASK_INFO WHERE {OVER_LINKS})",
        f"UPDATE COMMUNICATION_OP SET count = {count} WHERE opId = 0",
    )


def _of_rate(bandwidth: int) -> Sequence[str]:
    """The first transfer over a link: 1,000 bytes in 1,000 ns."""
    first = f"(SELECT min(rowid) FROM COMMUNICATION_TASK_INFO WHERE {OVER_LINKS})"
    return (
        f"UPDATE COMMUNICATION_TASK_INFO SET size = 1000, bandwidth = {bandwidth} "
        f"WHERE rowid = {first}",
        "UPDATE TASK SET endNs = startNs + 1000 WHERE globalTaskId = "
        f"(SELECT globalTaskId FROM COMMUNICATION_TASK_INFO WHERE rowid = {first})",
    )


def _block(**values: int) -> str:
    given = ", ".join(f"{name} = {value}" for name, value in values.items())
    first = "(SELECT min(rowid) FROM OP_MEMORY WHERE streamPtr IS NOT NULL)"
    return f"UPDATE OP_MEMORY SET {given} WHERE rowid = {first}"


CASES: Mapping[str, Sequence[Sequence[str]]] = {
    "LOS104": [[*_sampled("LLC", *FIVE_GAPS)], [*_sampled("LLC", *THREE_TIMES_THE_MEAN)]],
    "LOS105": [
        [*_sampled("NPU_MODULE_MEM", *FIVE_GAPS)],
        [*_sampled("NPU_MODULE_MEM", *THREE_TIMES_THE_MEAN)],
    ],
    "LOS106": [
        [*_sampled("NPU_MEM", *FIVE_GAPS)],
        [*_sampled("NPU_MEM", *ELEVEN_FIFTHS_OF_THE_MEAN)],
    ],
    "REL114": [
        [
            "INSERT INTO TASK SELECT * FROM TASK WHERE endNs > startNs LIMIT 1",
            "UPDATE TASK SET endNs = startNs WHERE startNs IN (SELECT startNs FROM TASK "
            "GROUP BY startNs, streamId, taskId, contextId HAVING count(*) > 1)",
        ]
    ],
    "REL201": [
        [
            "INSERT INTO STRING_IDS SELECT max(id) + 1, 'A' FROM STRING_IDS WHERE id < 268435456",
            f"UPDATE COMPUTE_TASK_INFO SET opType = {_text('A')} WHERE rowid = "
            "(SELECT min(c.rowid) FROM COMPUTE_TASK_INFO c JOIN STRING_IDS s ON s.id = c.name "
            "WHERE instr(lower(s.value), 'a') = 0)",
        ]
    ],
    "REL207": [
        [
            f"UPDATE COMPUTE_TASK_INFO SET opType = {_text('N/A')}, taskType = {_text('N/A')} "
            "WHERE rowid IN (SELECT rowid FROM COMPUTE_TASK_INFO "
            "LIMIT (SELECT count(*) / 2 FROM COMPUTE_TASK_INFO))"
        ]
    ],
    "REL307": [NO_NODE],
    "REL308": [NO_NODE],
    "REL314": [
        [
            "DELETE FROM PYTORCH_API WHERE type = 50001",
            "DELETE FROM CANN_API WHERE name IN "
            "(SELECT id FROM STRING_IDS WHERE value GLOB 'aclrtSynchronizeDevice*')",
        ]
    ],
    "REL408": [[NUMBER_0]],
    "REL409": [
        [
            NUMBER_0,
            "UPDATE PYTORCH_API SET startNs = '1' WHERE sequenceNumber = 0 AND fwdThreadId > 0",
        ]
    ],
    "REL519": [
        [f"DELETE FROM COMMUNICATION_TASK_INFO WHERE opId = 0 AND taskType = {_text('Memcpy')}"],
        [OF_COPIES.format(16_000), OF_SUMS.format(15_000)],
        [*IN_A_RING, f"{OF_SUMS.format(348_160)} AND size = 352256"],
        [*IN_A_RING, OF_COPIES.format(16_384), OF_SUMS.format(15_000)],
    ],
    "REL521": [
        [
            f"UPDATE COMMUNICATION_TASK_INFO SET taskType = {_text('N/A')}, size = 0 WHERE rowid = "
            "(SELECT min(rowid) FROM COMMUNICATION_TASK_INFO)"
        ]
    ],
    "REL523": [_moved(7_200, 2_000), _moved(60_000, 2_000), _moved(1, 1_024), _moved(0, 2_000)],
    "REL525": [_of_rate(1_010_000_000), _of_rate(990_000_000)],
    "REL526": [_moved(40, 3_000), _moved(1, 1_024), _moved(0, 2_000)],
    "REL607": [_without_levels("PTA")],
    "REL610": [_without_levels("PTA+GE")],
    "REL611": [
        [_block(size=0, allocationTotalAllocated=-1024, allocationTotalReserved=-512)],
        [_block(size=2_097_152, allocationTotalReserved=2_097_152, allocationTotalAllocated=0)],
    ],
    "REL612": [
        [
            "DELETE FROM CANN_API WHERE type = 20000",
            "UPDATE NPU_OP_MEM SET globalTid = globalTid - (globalTid & 4294967295) + 12",
        ]
    ],
    "REL618": [_without_levels("GE")],
    "REL620": [["DELETE FROM OP_MEMORY WHERE streamPtr IS NOT NULL"]],
    "REL705": [[*_sampled("HBM", *FIVE_GAPS)], [*_sampled("HBM", *THREE_TIMES_THE_MEAN)]],
}

TEN_SAMPLES = (
    'DELETE FROM raw.npu_module_mem WHERE "Timestamp(us)" NOT IN '
    '(SELECT DISTINCT "Timestamp(us)" FROM raw.npu_module_mem ORDER BY ALL LIMIT 10)'
)
A_TENTH_LESS = (
    "DELETE FROM raw.npu_module_mem WHERE row IN (SELECT row FROM raw.npu_module_mem QUALIFY "
    'row_number() OVER (ORDER BY "Timestamp(us)", "Component") % 10 = 0)'
)

NO_NOTIFICATION = (
    "UPDATE trace.event SET args = json_merge_patch(args, "
    """'{"notify_id": "9223372036854775807"}')::VARCHAR WHERE row IN """
    """(SELECT min(row) FROM trace.event WHERE args ->> '$."task type"' = 'Notify_Record')"""
)
"""What databases of 2024 and 2025 have for none, in a timeline."""

CASES_OF_FILES: Mapping[str, Sequence[Sequence[str]]] = {
    "CSV330": [["UPDATE raw.step_trace SET \"Iteration End(us)\" = '0' WHERE row = 0"]],
    "DB613": [[NO_NOTIFICATION]],
    "REL415": [
        ["UPDATE trace.event SET ts = ts + 3600000000000 WHERE args ->> '$.\"Python id\"' = '0'"]
    ],
    "REL516": [[NO_NOTIFICATION]],
    "REL703": [[TEN_SAMPLES, A_TENTH_LESS]],
}

CASES_OF_FACTS: Mapping[str, Sequence[Sequence[str]]] = {
    "MSP413": [
        [
            "UPDATE day SET day = '2021-08-24'",
            "UPDATE framework_point SET tag = 3, name = 'Default/Cast-op9999'",
        ]
    ],
    "MSP702": [
        [
            "UPDATE day SET day = '2022-01-01'",
            "UPDATE header SET since = '2021-01-01', until = '2021-01-01'",
        ],
    ],
    "MSP824": [
        [
            "DELETE FROM ascend_cluster_analyse WHERE line > 2 AND line < "
            "(SELECT max(line) FROM ascend_cluster_analyse)",
            "UPDATE ascend_cluster_analyse SET computation_time = 99 WHERE line > 2",
        ]
    ],
}
