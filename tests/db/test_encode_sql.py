"""Derived figures of written databases, recomputed by plain SQL and plain Python."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pytest
from encode_captures import EVERYTHING, capture
from encode_profiles import NEWEST, REVISIONS, encoded, opened, texts
from slices import some

from ascend_ref.profile import write_pytorch_profile
from ascend_spec import catalog

Pairs = list[tuple[int, int]]

BOUNDS = """
SELECT p.id, p.startNs, min(t.startNs), max(max(t.endNs), p.endNs)
FROM STEP_TIME p JOIN CANN_API a ON a.type = 10000 AND a.startNs >= p.startNs AND a.endNs <= p.endNs
JOIN TASK t ON t.connectionId = a.connectionId GROUP BY p.id
"""
COMPUTED = """
SELECT startNs, endNs FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId)
WHERE startNs >= ? AND startNs < ?
"""
COMMUNICATED = "SELECT startNs, endNs FROM COMMUNICATION_OP WHERE startNs >= ? AND startNs < ?"
RECEIVED = (
    COMMUNICATED + " AND opName IN (SELECT id FROM STRING_IDS WHERE value LIKE 'hcom_receive%')"
)
WRITTEN = (
    "step, computing, communication_not_overlapped, overlapped, communication, free, stage, "
    "bubble, communication_not_overlapped_and_exclude_receive, preparing"
)


def covered(pairs: Pairs) -> int:
    """Length of a union, from one bound to the next."""
    bounds = sorted({bound for pair in pairs for bound in pair})
    return sum(
        high - low
        for low, high in pairwise(bounds)
        if any(start <= low and high <= end for start, end in pairs)
    )


def expected_steps(connection: sqlite3.Connection, *, floored: bool) -> list[tuple[object, ...]]:
    found = []
    for number, begin, low, high in connection.execute(BOUNDS).fetchall():
        computed, communicated, received = (
            connection.execute(query, (low, high)).fetchall()
            for query in (COMPUTED, COMMUNICATED, RECEIVED)
        )
        first = min(start for start, _ in computed + communicated)
        length = max(end for _, end in computed + communicated) - first
        alone = covered(computed + communicated) - covered(computed)
        bubble = sum(end - start for start, end in received)
        exposed = max(alone - bubble, 0) if floored else alone - bubble
        parts = (
            covered(computed),
            alone,
            covered(communicated) - alone,
            covered(communicated),
            length - covered(computed + communicated),
            length - bubble,
            bubble,
            exposed,
            first - begin,
        )
        found.append((str(number), *(part / 1_000 for part in parts)))
    return found


@pytest.mark.parametrize(("revision", "seed"), some(product(REVISIONS, range(3)), every=5))
def test_the_step_trace_is_what_sql_makes_of_the_tasks(
    tmp_path: Path, revision: str, seed: int
) -> None:
    folder = write_pytorch_profile(tmp_path, capture(seed, steps=3), revision)
    output = folder / "ASCEND_PROFILER_OUTPUT"
    floored = catalog().revision(revision).date >= "2026-03-27"
    with (
        opened(output / "ascend_pytorch_profiler_0.db") as profiler,
        opened(output / "analysis.db") as analysis,
    ):
        written = analysis.execute(f"SELECT {WRITTEN} FROM StepTraceTime").fetchall()
        assert written == expected_steps(profiler, floored=floored)


def test_without_steps_there_is_one_row_for_everything() -> None:
    no_steps = replace(capture(), switches=replace(EVERYTHING, cpu=False))
    (step,) = encoded(no_steps, carrier="analysis")["StepTraceTime"]["step"]
    assert step is None
    assert set(encoded(no_steps, carrier="analysis")["CommAnalyzerTime"]["step"]) == {"step"}


SPANS = """
SELECT o.opId, o.startNs, o.endNs, min(t.startNs), max(t.endNs), count(*)
FROM COMMUNICATION_OP o JOIN COMMUNICATION_TASK_INFO c USING (opId) JOIN TASK t USING (globalTaskId)
"""


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_operator_spans_its_tasks_or_its_master_tasks(tmp_path: Path, revision: str) -> None:
    folder = write_pytorch_profile(tmp_path, capture(2), revision)
    masters = catalog().revision(revision).date >= "2025-12-25"
    where = "WHERE c.isMaster = 1 " if masters else ""
    path = folder / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
    with opened(path) as connection:
        rows = connection.execute(f"{SPANS} {where} GROUP BY o.opId ORDER BY o.opId").fetchall()
    assert [row[0] for row in rows] == list(range(1 - masters, 1 - masters + len(rows)))
    for _, start, end, first, last, _ in rows:
        assert (start, end) == (first, last)
    assert rows == sorted(rows, key=lambda row: row[1:3])


@pytest.mark.parametrize("seed", range(3))
def test_overlap_intervals_are_cut_out_of_time_as_their_kinds_say(seed: int) -> None:
    tables = encoded(capture(seed))
    overlap = tables["OVERLAP_ANALYSIS"]
    rows = list(zip(*overlap.values(), strict=True))
    assert overlap["id"] == list(range(len(rows)))
    kinds = {kind: [(row[2], row[3]) for row in rows if row[4] == kind] for kind in range(4)}
    tasks = {
        task: (start, end, kind)
        for task, start, end, kind in zip(
            tables["TASK"]["globalTaskId"],
            tables["TASK"]["startNs"],
            tables["TASK"]["endNs"],
            texts(tables, "TASK", "taskType"),
            strict=True,
        )
    }
    computed = [tasks[task][:2] for task in tables["COMPUTE_TASK_INFO"]["globalTaskId"]]
    operators = tables["COMMUNICATION_OP"]
    communicated = list(zip(operators["startNs"], operators["endNs"], strict=True))
    assert sum(end - start for start, end in kinds[0]) == covered(computed)
    assert sum(end - start for start, end in kinds[1]) == covered(communicated)
    own = [task[:2] for task in tasks.values() if not task[2].startswith("PROFILING")]
    window = (min(start for start, _ in own), max(end for _, end in own))
    parts = kinds[0] + kinds[2] + kinds[3]
    assert sum(end - start for start, end in parts) == covered([window]) == covered(parts)


def test_totals_are_followed_by_the_sum_with_the_other_component() -> None:
    tables = encoded(capture(4, steps=3))
    components = texts(tables, "MEMORY_RECORD", "component")
    record = tables["MEMORY_RECORD"]
    amounts = list(
        zip(record["totalAllocated"], record["totalReserved"], record["totalActive"], strict=True)
    )
    last: dict[str, tuple[int, ...]] = {}
    for place, component in enumerate(components):
        if component in ("PTA", "GE"):
            last[component] = amounts[place]
            assert components[place + 1] == "PTA+GE"
            assert record["timestamp"][place + 1] == record["timestamp"][place]
            sums = [sum(column) for column in zip(*last.values(), strict=True)]
            assert list(amounts[place + 1]) == sums
    assert set(components) == {"PTA", "GE", "PTA+GE", "WORKSPACE"}
    assert record["timestamp"] == sorted(record["timestamp"])
    streams = {
        name: {
            stream
            for stream, component in zip(record["streamPtr"], components, strict=True)
            if component == name
        }
        for name in ("PTA", "GE")
    }
    assert streams["GE"] == {None} != streams["PTA"]


def test_an_engine_block_lasts_from_its_allocation_to_the_release_after_it() -> None:
    tables = encoded(capture(4))
    events = tables["NPU_OP_MEM"]
    open_blocks: dict[tuple[int, int], tuple[int, int]] = {}
    expected = []
    for name, address, kind, size, time in zip(
        events["operatorName"],
        events["addr"],
        texts(tables, "NPU_OP_MEM", "type"),
        events["size"],
        events["timestampNs"],
        strict=True,
    ):
        if kind == "allocate":
            open_blocks[name, address] = (time, size)
        else:
            begin, taken = open_blocks.pop((name, address))
            expected.append((name, taken, begin, time, time - begin, None, None))
    blocks = tables["OP_MEMORY"]
    found = list(
        zip(
            *(
                blocks[column]
                for column in (
                    "name", "size", "allocationTime", "releaseTime", "duration",
                    "activeReleaseTime", "streamPtr",
                )
            ),
            strict=True,
        )
    )  # fmt: skip
    framework = len(found) - len(expected)
    assert found[framework:] == expected
    assert all(row[-1] is not None for row in found[:framework])


def test_the_newest_database_holds_only_what_the_schema_knows() -> None:
    schema = catalog().at(NEWEST, "pytorch")
    for name, columns in encoded(capture()).items():
        assert list(columns) == list(schema.tables[name].columns)
