"""What is computed again follows from the cells by the facts, not by what is nearest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ascend_conformance.media.text.database import Facts, open_facts
from ascend_conformance.media.text.derived import FUNCTIONS
from ascend_conformance.media.text.derived.reading import Asked
from ascend_conformance.media.text.selftest import open_specimen
from ascend_conformance.media.text.sources import Sources

OPERATOR = "file, row, pid, tid, ts, dur, end_ns, name, group_name"
TASK = (
    'file, row, pid, tid, ts, dur, plane, "stream id", "task type", "link type", '
    '"transport type", "src rank", "dst rank", "size(Byte)"'
)


@pytest.fixture
def facts() -> Iterator[Facts]:
    with open_facts() as opened:
        yield opened


def fill(facts: Facts, table: str, columns: str, rows: str) -> None:
    facts.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {table.partition('.')[0]}")
    facts.connection.execute(f"CREATE TABLE {table} AS SELECT * FROM (VALUES {rows}) t({columns})")


def packets(facts: Facts, operators: str, tasks: str) -> list[tuple[str, int]]:
    """Names of operators with the packets that they moved."""
    fill(facts, "view.drawn_communication", OPERATOR, operators)
    fill(facts, "view.drawn_communication_task", TASK, tasks)
    found = FUNCTIONS["communication_packets"](Asked(facts))
    return list(zip(found["name"].to_pylist(), found["packets"].to_pylist(), strict=True))


def test_of_operators_at_the_same_time_the_stream_tells_whose_a_task_is(facts: Facts) -> None:
    operators = """
      (0, 1, 7, 0, 1000, 9.0, 10000, 'hcom_send__1_0_1', 'g'),
      (0, 2, 7, 0, 1040, 9.5, 10540, 'hcom_receive__1_1_1', 'g')"""
    tasks = """
      (0, 3, 7, 1, 1000, 0.5, 0, 4, 'Notify_Record', 'HCCS', 'SDMA', 0, 1, 0),
      (0, 4, 7, 1, 1040, 0.5, 0, 5, 'Notify_Record', 'HCCS', 'SDMA', 0, 1, 0),
      (0, 5, 7, 1, 6000, 2.0, 0, 4, 'Memcpy', 'HCCS', 'SDMA', 0, 1, 4096)"""
    assert packets(facts, operators, tasks) == [("hcom_send__1_0_1", 1)]


def test_on_a_stream_where_no_operator_began_a_task_is_of_the_last_one(facts: Facts) -> None:
    operators = """
      (0, 1, 7, 0, 1000, 3.0, 4000, 'hcom_allReduce__1_0_1', 'g'),
      (0, 2, 7, 0, 5000, 5.0, 10000, 'hcom_allReduce__1_1_1', 'g')"""
    tasks = """
      (0, 3, 7, 1, 1000, 0.5, 0, 4, 'Notify_Record', 'HCCS', 'SDMA', 0, 1, 0),
      (0, 4, 7, 1, 5000, 0.5, 0, 5, 'Notify_Record', 'HCCS', 'SDMA', 0, 1, 0),
      (0, 5, 7, 2, 6000, 1.0, 1, 4, 'Memcpy', 'HCCS', 'SDMA', 0, 1, 4096),
      (0, 6, 7, 3, 7000, 1.0, 2, 6, 'Memcpy', 'HCCS', 'SDMA', 0, 1, 4096)"""
    assert packets(facts, operators, tasks) == [("hcom_allReduce__1_1_1", 2)]


@pytest.mark.parametrize(
    ("cycles", "metric"), [("total_cycles", "total_time"), ("aic_total_cycles", "aic_total_time")]
)
def test_the_layout_tells_which_total_a_time_is(facts: Facts, cycles: str, metric: str) -> None:
    columns = (
        f'file, row, "Stream ID", "Task ID", "Task Start Time(us)", "aicore_time(us)", "{cycles}"'
    )
    fill(facts, "csv.op_summary", columns, "(0, 0, 2, 108, 1000, 51.983::DOUBLE, 63627)")
    Sources(facts).columns("derived.counters_of_op_summary")
    told = set(facts.rows('SELECT "column", metric, value FROM derived.counters_of_op_summary'))
    assert told == {("aicore_time(us)", metric, 51983.0), (cycles, cycles, 63627.0)}


def test_tables_are_told_as_they_are_now(facts: Facts) -> None:
    execute = facts.connection.execute
    execute("CREATE TABLE raw.a (x VARCHAR)")
    execute("CREATE VIEW csv.a AS SELECT x AS y FROM raw.a")
    assert (facts.columns("raw.a"), facts.tables()["csv.a"]) == (("x",), {"y"})
    execute("ALTER TABLE raw.a ADD COLUMN z VARCHAR")
    assert (facts.columns("raw.a"), facts.tables()["raw.a"]) == (("x", "z"), {"x", "z"})
    execute("BEGIN")
    execute("CREATE OR REPLACE TABLE raw.b AS SELECT 1 AS one")
    assert facts.columns("raw.b") == ("one",)
    execute("ROLLBACK")
    execute("CREATE OR REPLACE TABLE raw.b AS SELECT 2 AS two")
    assert facts.columns("raw.b") == ("two",)
    assert facts.columns("raw.none") == ()


def test_to_ask_for_columns_of_nothing_does_not_end_a_transaction(facts: Facts) -> None:
    facts.connection.execute("BEGIN")
    assert facts.columns("raw.none") == ()
    assert facts.value("SELECT 1") == 1


def test_all_files_of_a_folder_are_of_the_families_that_most_of_them_fit() -> None:
    with open_specimen("adapter-200I-500-A2-ResourceConflictRatio") as folder:
        agreed = {(one.writer, one.family) for one in folder.circumstances}
        # Files of both writers look alike at level 1, so that the newest is taken.
        writers = ("adapter", "adapter-2026-08")
        assert agreed == {(writer, "200I-500-A2") for writer in writers}
        assert {(at.writer, at.family) for at in folder.at.values()} == {
            (writers[0], "200I-500-A2")
        }
