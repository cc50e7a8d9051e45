"""Iterations of two graphs that take turns on a device, as msprof lists them in step_trace.csv.

``create_step_table.py`` puts iterations of all graphs in order of their ends, and counts the wait
for data from the last end before the forward start, of whatever graph it is.
"""

from __future__ import annotations

from pathlib import Path

from ascend_conformance.check import check
from ascend_conformance.options import Options

HEADER = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),"
    "FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID"
)
ORIGIN = 1_767_258_000_000_000
TURNS = ((1, 1, 1000, 2000, 0), (2, 1, 2100, 3000, 100), (1, 2, 3050, 4000, 50))
"""Graph, iteration, forward start, end and wait for data in us."""


def row(graph: int, iteration: int, start: int, end: int, wait: int) -> str:
    instants = [f"{ORIGIN + one}.000\t" for one in (start, end - 200, end)]
    lengths = [f"{one}.000" for one in (end - start, end - 200 - start, 200)]
    waited = f"{wait}.000" if wait else "N/A"
    return ",".join(["0", str(iteration), *instants, *lengths, waited, str(graph)])


def faults(folder: Path, *waits: int) -> list[str]:
    lines = [HEADER, *(row(*turn[:4], wait) for turn, wait in zip(TURNS, waits, strict=True))]
    path = folder / "step_trace_20260101000000.csv"
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    findings = check([folder], Options(workers=1)).findings
    return [f"{one.rule} {one.message}" for one in findings if one.rule == "CSV332"]


def test_the_wait_for_data_starts_with_the_last_end_of_any_graph(tmp_path: Path) -> None:
    assert faults(tmp_path, *(turn[-1] for turn in TURNS)) == []


def test_a_wait_from_an_earlier_end_is_a_fault(tmp_path: Path) -> None:
    assert len(faults(tmp_path, 0, 100, 1050)) == 1
