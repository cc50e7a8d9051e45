"""Times of types and operators as tables for people: M43, M50, M51, M52."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest
from mindspore_captures import hwts_record, write_capture
from mindspore_real import parsed

OUTPUT = "output_op_compute_time_detail_0.txt"

GRAPH = """\
op_name:Default/net/MatMul-op1 op_type:MatMul
op_name:Gradients/Cast-op2 op_type:Cast
op_name:Default/net/Cast-op3 op_type:Cast
op_name:Mine/TensorAdd-op4 op_type:TensorAdd
"""
TASKS = """\
Default/net/MatMul-op1 1 1 0
Gradients/Cast-op2 1 2 0
Default/net/Cast-op3 1 3 0
Mine/TensorAdd-op4 1 4 0
"""
TICKS = {1: 12_345_678, 2: 7, 3: 100_000_000, 4: 0}
RECORDS = [
    hwts_record(end, 0, task, 10**9 * task + end * ticks, 0)
    for task, ticks in TICKS.items()
    for end in (0, 1)
]

DRAWN = """\
====================op compute time====================
optype_name      compute_time(ms, per-step)    called_times(per-step)    percent
-------------  ----------------------------  ------------------------  ---------
Cast                               1000                             2      89.01
MatMul                              123.457                         1      10.99
TensorAdd                             0                             1       0

Detail:
op_name        op_type      avg_execution_time  subgraph
-------------  ---------  --------------------  ----------
Cast-op3       Cast                 1000        Default
Cast-op2       Cast                    7e-05    Gradients
MatMul-op1     MatMul                123.457    Default
Mine/TensorAdd-op4  TensorAdd               0
"""

LINES = """\
====================op compute time====================
optype_name compute_time(ms, per-step) called_times(per-step) percent
MatMul 123.45678 1 10.99
Cast 1000.00007 2 89.01
TensorAdd 0.0 1 0.0

Detail:
op_name op_type avg_execution_time subgraph full_op_name
MatMul-op1 MatMul 123.45678 Default Default/net/MatMul-op1
Cast-op3 Cast 1000.0 Default Default/net/Cast-op3
Cast-op2 Cast 7e-05 Gradients Gradients/Cast-op2
Mine/TensorAdd-op4 TensorAdd 0.0  Mine/TensorAdd-op4
"""


def written(folder: Path, day: str, records: Sequence[bytes] = RECORDS) -> str:
    """The tables of four operators, which are executed once each where nothing else is given."""
    job = folder / "JOB"
    job.mkdir()
    infix = "vm." if day < "2021-01-06" else "vm_"
    for kind, text in {"graph_desc_info": GRAPH, "task_desc_info": TASKS}.items():
        (job / f"Framework.host.{infix}{kind}.0.slice_0").write_text(text)
    name = "hwts.log.data.45.dev.profiler_default_tag.0.slice_0"
    (job / name).write_bytes(b"".join(records))
    assert parsed(job, folder / "out", day) == 0
    return (folder / "out" / OUTPUT).read_text()


def test_m43_m50_lines(tmp_path: Path) -> None:
    assert written(tmp_path, "2021-12-16") == LINES


def test_m51_the_full_name_comes_on_a_day(tmp_path: Path) -> None:
    text = written(tmp_path, "2020-09-08")
    assert text == "".join(
        line.rpartition(" ")[0] + "\n" if at > 6 else line
        for at, line in enumerate(LINES.splitlines(keepends=True))
    )


def test_m43_m50_drawn(tmp_path: Path) -> None:
    """Whatever the widths, which the longest cell of each column decides."""
    text = written(tmp_path, "2020-07-01")
    assert [line.split() for line in text.splitlines() if "--" not in line] == [
        line.split() for line in DRAWN.splitlines() if "--" not in line
    ]
    first, second = text.split("\n\nDetail:\n")
    assert first == DRAWN.split("\n\nDetail:\n", maxsplit=1)[0]
    assert (
        second.splitlines()[1] == "------------------  ---------  --------------------  ----------"
    )


@pytest.mark.parametrize(
    ("day", "shown"), [("2020-06-23", "3.33333e-05"), ("2020-06-24", "3.3e-05")]
)
def test_m51_times_of_types_are_rounded_before_they_are_drawn(
    tmp_path: Path, day: str, shown: str
) -> None:
    """Three executions, of 10 ticks together."""
    records = [
        hwts_record(end, 0, 1, 10**6 * at + end * ticks, 0)
        for at, ticks in enumerate([1, 4, 5], 1)
        for end in (0, 1)
    ]
    text = written(tmp_path, day, records)
    assert text.splitlines()[3].split() == ["MatMul", shown, "1", "100"]
    assert text.splitlines()[-1].split()[2] == "3.33333e-05"


@pytest.mark.parametrize("day", ["2020-07-01", "2021-12-16", "2023-07-02"])
def test_m52_tables_of_nothing(tmp_path: Path, day: str) -> None:
    write_capture(tmp_path / "JOB", 2, day)
    for path in (tmp_path / "JOB/data").glob("hwts*"):
        path.write_bytes(hwts_record(0, 77, 77, 77, 0))
    assert parsed(tmp_path / "JOB", tmp_path / "out", day) == 0
    lines = (tmp_path / "out" / OUTPUT).read_text().splitlines()
    assert len(lines) == (7 if day == "2020-07-01" else 5)


@pytest.mark.parametrize("day", ["2020-09-14", "2022-10-01", "2023-07-02"])
def test_m43_every_operator_is_shown_once(tmp_path: Path, day: str) -> None:
    write_capture(tmp_path / "JOB", 5, day)
    assert parsed(tmp_path / "JOB", tmp_path / "out", day) == 0
    lines = (tmp_path / "out" / OUTPUT).read_text().splitlines()
    with (tmp_path / "out/aicore_intermediate_0_detail.csv").open(newline="") as file:
        names = {row[0] for row in list(csv.reader(file))[1:]}
    shown = lines[lines.index("Detail:") + 2 :]
    assert {line.rpartition(" ")[2] for line in shown} == names
