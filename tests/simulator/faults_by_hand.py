"""Runs with and without faults, read back from their databases by plain SQL."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
from truth_by_hand import truth_of

from ascend_ref.capture import Switches
from ascend_simulator.choices import (
    FaultChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
)
from ascend_simulator.run import write_run
from ascend_simulator.truth import schema

Key = tuple[Any, ...]
SEED = 3
TIMES = ("startNs", "endNs", "startTimeNs", "endTimeNs", "timestampNs", "timestamp")
TIMES += ("allocationTime", "releaseTime", "activeReleaseTime")
NONE = 4_294_967_295


class Rank:
    """The database of one rank."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables = {name for (name,) in self.rows("SELECT name FROM sqlite_master")}

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as connection:
            return connection.execute(query, values).fetchall()

    def of(self, table: str, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return self.rows(query, values) if table in self.tables else []

    def steps(self) -> list[tuple[int, int, int]]:
        return self.rows("SELECT id, startNs, endNs FROM STEP_TIME ORDER BY id")

    def kernels(self) -> dict[Key, tuple[int, int]]:
        """Start and end by what a task is: (AI CPU or not, stream, task, context)."""
        return _by_key(
            self.of(
                "COMPUTE_TASK_INFO",
                """
                SELECT value LIKE '%AICPU', streamId, taskId, contextId, startNs, endNs
                FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)
                JOIN STRING_IDS ON STRING_IDS.id = TASK.taskType
                """,
            )
        )

    def motions(self) -> dict[Key, tuple[int, int]]:
        """Of the small tasks that move or tell: all but the waits; the first part of the key is the
        places of both ends and the size, which only exist from level 1 on.
        """
        return _by_key(
            self.of(
                "COMMUNICATION_TASK_INFO",
                """
                SELECT srcRank || '>' || dstRank || ':' || size, streamId, taskId, contextId,
                    startNs, endNs
                FROM COMMUNICATION_TASK_INFO JOIN TASK USING (globalTaskId)
                JOIN STRING_IDS ON STRING_IDS.id = TASK.taskType
                WHERE lower(replace(value, '_', ' ')) <> 'notify wait'
                """,
            )
        )

    def launches(self) -> dict[Key, tuple[int, int]]:
        """The calls of the thread that launches, in order."""
        found = self.of(
            "PYTORCH_API",
            """
            SELECT value, CAST(startNs AS INTEGER), CAST(endNs AS INTEGER) FROM PYTORCH_API
            JOIN STRING_IDS ON STRING_IDS.id = name WHERE value LIKE 'Dequeue@%' ORDER BY 2
            """,
        )
        return {(number, name): (start, end) for number, (name, start, end) in enumerate(found)}

    def loadings(self) -> list[tuple[int, int]]:
        return self.rows(
            """
            SELECT CAST(startNs AS INTEGER), CAST(endNs AS INTEGER) FROM PYTORCH_API
            JOIN STRING_IDS ON STRING_IDS.id = name
            WHERE value LIKE 'enumerate(DataLoader)%' ORDER BY 1
            """
        )

    def held(self, moment: int) -> tuple[int, int]:
        """Allocated and reserved by the framework just before a moment."""
        ((allocated, reserved),) = self.rows(
            """
            SELECT totalAllocated, totalReserved FROM MEMORY_RECORD
            JOIN STRING_IDS ON STRING_IDS.id = component WHERE value = 'PTA' AND timestamp < ?
            ORDER BY timestamp DESC, MEMORY_RECORD.rowid DESC LIMIT 1
            """,
            [moment],
        )
        return allocated, reserved

    def content(self, ahead: int = 0, without: Iterable[str] = ()) -> dict[str, Any]:
        """All rows of all tables, as told by a clock that is less ahead."""
        found = {}
        for table in sorted(self.tables - set(without)):
            columns = [name for _, name, *_ in self.rows(f"PRAGMA table_info({table})")]
            if not columns:
                continue
            chosen = ", ".join(
                f"CAST({name} AS INTEGER) - {ahead}" if name in TIMES else name for name in columns
            )
            found[table] = self.rows(f"SELECT {chosen} FROM {table}")
        return found


def _by_key(found: list[Any]) -> dict[Key, tuple[int, int]]:
    keyed = {tuple(key): (start, end) for *key, start, end in found}
    assert len(keyed) == len(found)
    return keyed


class Run:
    """A run on disk. ``ranks``: in order."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.folder = write_run(scenario, SEED, folder).folder
        self.truth = truth_of(self.folder)
        self.faults = self.truth["faults"]
        self.ranks = []
        for rank in range(scenario.parallelism.ranks):
            name = f"ascend_pytorch_profiler_{rank}.db"
            (path,) = self.folder.glob(f"*_ascend_pt/ASCEND_PROFILER_OUTPUT/{name}")
            self.ranks.append(Rank(path))


def step_of(rank: Rank, moment: int) -> int:
    (number,) = (number for number, start, end in rank.steps() if start <= moment < end)
    return number


Lengths = dict[tuple[int, int, Key], tuple[int, int]]
"""By rank, step and key: before, after."""


def longer(before: Run, after: Run, what: str) -> Lengths:
    """What has another length now. ``what``: kernels, motions, launches."""
    found: Lengths = {}
    for number, (one, other) in enumerate(zip(before.ranks, after.ranks, strict=True)):
        plain, faulty = getattr(one, what)(), getattr(other, what)()
        assert plain.keys() == faulty.keys()
        steps = other.steps()
        for key, (start, end) in faulty.items():
            was = plain[key][1] - plain[key][0]
            if was != end - start:
                (step,) = (step for step, first, last in steps if first <= start < last)
                found[number, step, key] = was, end - start
    return found


def added(lengths: Lengths) -> int:
    return sum(after - before for before, after in lengths.values())


def places_hit(lengths: Mapping[tuple[int, int, Key], object]) -> Counter[tuple[int, int]]:
    """How often each (rank, step) is there."""
    return Counter((rank, step) for rank, step, _ in lengths)


def named(fault: Mapping[str, Any]) -> set[tuple[int, int]]:
    """Every (rank, step) that the truth names."""
    first, last = fault["steps"]
    return {(rank, step) for rank in fault["ranks"] for step in range(first, last + 1)}


def assert_only(healthy: Run, faulty: Run, *hit: str) -> None:
    """Kernels, motions of data and launches have the lengths that they had, but for some."""
    for what in {"kernels", "motions", "launches"} - set(hit):
        assert longer(healthy, faulty, what) == {}, what


RECORDED = Switches(memory=True, gc=True, sys_hardware_mem=100)


def scenario_of(ranks: int, level: int) -> Scenario:
    return Scenario(
        "hit",
        model=ModelChoice("recommendation", layers=1, hidden=64, tables=2, rows=100, width=16),
        parallelism=Parallelism(ranks),
        schedule=Schedule(first=5, active=4),
        capture=replace(RECORDED, level=level),  # type: ignore[arg-type]
    )


def small_transformer(ranks: int, **split: int) -> Scenario:
    return Scenario(
        "parallel",
        model=ModelChoice(layers=2, hidden=64, heads=4, sequence=64, vocabulary=256),
        parallelism=Parallelism(ranks, **split),
        schedule=Schedule(first=5, active=3),
        capture=Switches(level=1),
    )


class Pair:
    """A run without faults, and folders for runs with some."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario, self.folder, self.runs = scenario, folder, 0
        self.healthy = self.run()

    def run(self, *faults: FaultChoice) -> Run:
        self.runs += 1
        run = Run(replace(self.scenario, faults=faults), self.folder / str(self.runs))
        jsonschema_rs.validate(schema(), run.truth)
        assert len(run.faults) == len(faults)
        for fault, told in zip(faults, run.faults, strict=True):
            self.assert_told(run, fault, told)
        return run

    def assert_told(self, run: Run, fault: FaultChoice, told: dict[str, Any]) -> None:
        """What the truth names is what the scenario asked for, in terms of the databases."""
        everybody = range(self.scenario.parallelism.ranks)
        assert told["kind"] == fault.kind
        assert told["ranks"] == sorted(fault.link or fault.ranks or everybody)
        expected = []
        for number in told["ranks"]:
            steps = {step: bounds for step, *bounds in run.ranks[number].steps()}
            first, last = fault.steps or (min(steps), max(steps))
            assert told["steps"] == [first, last]
            span = {"rank": number, "start_ns": steps[first][0], "end_ns": steps[last][1]}
            expected.append(span)
        assert told["intervals"] == expected

    @property
    def last(self) -> int:
        return self.scenario.parallelism.ranks - 1
