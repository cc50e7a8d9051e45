"""What the author of an exporter asks: each question is answered by one command.

The expected facts are taken by hand from the documents on msprof's output, on the database of the
PyTorch profiler and on the compute pages of MindStudio Insight, and from databases of Ascend 910B.
"""

from __future__ import annotations

import pytest

from ascend_ref.cli import main

QUESTIONS = [
    (
        "in which unit is the bandwidth of a communication task",
        "spec show COMMUNICATION_TASK_INFO.bandwidth",
        ["**Unit:** Byte/s"],
    ),
    (
        "what is notifyId where there is none",
        "spec show COMMUNICATION_TASK_INFO.notifyId",
        ["9223372036854775807", "write -1"],
    ),
    (
        "what is connectionId where no call is known",
        "spec show TASK.connectionId",
        ["write 4294967295 at 1.0.0 and -1 from 1.2.0 on"],
    ),
    ("which product has HCCS", "spec show table/HCCS", ["`910A`", "`A2`", "`A3`"]),
    (
        "which product has a NIC",
        "spec show table/NIC",
        ["`A3`, `A2`, `200I-500-A2`, `310P`, `910A`"],
    ),
    (
        "what does A3 have",
        "spec show product/A3",
        ["`HCCS`", "`NPU_MEM`", "`op_summary`", "`Ascend Hardware`"],
    ),
    (
        "what changed from 1.0.0 to 1.2.0",
        "diff spec 1.0.0 1.2.0 -v",
        ["ENUM_MODULE", "QOS", "COMPUTE_TASK_INFO.blockNum"],
    ),
    (
        "which tables are there at level 0",
        "spec list tables --level 0",
        ["table/TASK ", "table/COMPUTE_TASK_INFO "],
    ),
    (
        "how is op_summary sliced",
        "spec show op_summary",
        [
            "cpp: of 1,000,000 rows, from 1,000,001 rows on",
            "python: of 1,000,000 rows, from 1,000,000 rows on",
            "_slice_{slice}_{timestamp}.csv` with {slice} counted from 0",
        ],
    ),
    (
        "where do string ids start",
        "spec show STRING_IDS.id",
        ["268435456", "536870912", "Three id spaces in a pytorch database"],
    ),
    (
        "what is the header of a block",
        "spec show header",
        [
            "| 0 | `contentSize` | u64 |",
            "| 8 | `type` | u8 |",
            "| 9 | `padding` | u8 |",
            "0x5a5a",
            "12 bytes",
        ],
    ),
    (
        "what is asked and answered by source/details/baseInfo",
        "spec show source/details/baseInfo",
        ["`/isCompared` | boolean", "`/compare/blockDim`", "`/blockDim`", "Until upstream", "9999"],
    ),
    (
        "how is an event of trace_view.json written",
        "spec show trace_view.json",
        [
            "`ph`, `name`, `pid`, `tid`, `ts`, `dur`, `cat`, `args`",
            "| `ts` | string |",
            "osPid * 1024 | sortIndex * 32 | deviceId * 1",
        ],
    ),
    ("what is ROCE.rxPackets at overflow", "spec show ROCE.rxPackets", ["Growing modulo 2^32"]),
    ("what is vec_ratio on 200I/500 A2", "spec show vec_ratio", ["**Holds N/A on:** 200I-500-A2"]),
]


@pytest.mark.parametrize(
    ("command", "facts"),
    [(command, facts) for _, command, facts in QUESTIONS],
    ids=[question.replace(" ", "-") for question, _, _ in QUESTIONS],
)
def test_a_question_is_answered_by_one_command(
    command: str, facts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 0
    out = capsys.readouterr().out
    for fact in facts:
        assert fact in out
