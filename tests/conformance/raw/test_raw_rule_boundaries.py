"""Rules on raw record streams by hand-made facts: the last good row and the first bad one.

Each case lists rows of tables, and which of them (from 1) the rule finds. What a row does not state
is NULL. The answers follow from what a rule's summary says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from ascend_conformance.engine.file_rules import query_of
from ascend_conformance.media.raw.facts import open_facts
from ascend_conformance.media.raw.rules import load_raw_rules

Row = Mapping[str, Any]


class Case(NamedTuple):
    """``bad``: rows of the rule's table."""

    rule: str
    bad: set[int]
    tables: Mapping[str, Sequence[Row]]


def found(case: Case) -> set[int]:
    """The rows that a rule finds."""
    with open_facts() as facts:
        for table, rows in case.tables.items():
            columns = facts.tables[table]
            assert {name for row in rows for name in row} <= set(columns)
            facts.add(table, [[row.get(name) for name in columns] for row in rows])
        query = query_of(facts, load_raw_rules()[case.rule])
        return {row for (row,) in facts.rows(f"SELECT DISTINCT row FROM ({query})")}


def call(begin: int, end: int | None, level: int = 10000, **more: Any) -> Row:
    """A call, an event where there is no end."""
    own = {"type": 1, "thread": 7, "request": 0, "item": 0, "name": "x", "level_text": "x"}
    own |= {"is_event": int(end is None), "is_known": 1}
    return {**own, "begin": begin, "end": end, "level": level, **more}


def step(meaning: str | None, time: int, **more: Any) -> Row:
    own = {"device": 0, "model": 1, "stream": 3, "tag": 2, "index": 1, "iteration": 1}
    return {**own, "meaning": meaning, "time": time, **more}


def pair(meaning: str, number: int, side: int, time: int, **more: Any) -> Row:
    return step(meaning, time, pair=number, side=side, **more)


def one(name: str, *values: Any, **fixed: Any) -> list[Row]:
    """Rows that differ in one column."""
    return [{**fixed, name: value} for value in values]


KINDS = (
    *("cut", "missing-slice", "unknown-record", "line", "dump-line"),
    *("lost-start", "continued", "other"),
)
DAMAGE = {"damage": one("kind", *KINDS)}
EXECUTED = {"level": 15000, "type": 1, "item": 4}

CASES = [
    # --- framing
    Case("RAW101", {1}, DAMAGE),
    Case("RAW102", {2}, DAMAGE),
    Case("RAW104", {3}, DAMAGE),
    Case("RAW203", {4}, DAMAGE),
    Case("RAW804", {5}, DAMAGE),
    Case("RAW103", {2}, {"head": one("fits", 1, 0)}),
    # --- dictionaries
    Case("RAW201", {2}, {"hash_entry": one("fits", 1, 0)}),
    Case("RAW202", {2}, {"hash_entry": one("text_before", None, "a")}),
    Case(
        "RAW204",
        {3},
        {
            "type_entry": [
                {"name": "a", "wanted": None},
                {"name": "a", "wanted": "a"},
                {"name": "a", "wanted": "b"},
            ]
        },
    ),
    Case("RAW205", {1, 2}, {"unknown_text": one("number", "1", "2")}),
    Case("RAW206", {2}, {"call": one("is_known", 1, 0)}),
    # --- calls
    Case("RAW301", {2}, {"call": [call(5, 5), call(5, 4), call(5, None), call(5, 6)]}),
    Case("RAW302", {1, 2}, {"call": [call(0, 5), call(0, None), call(1, 5)]}),
    Case(
        "RAW303",
        # Of three the last one; others differ in one of the five.
        {3, 4, 5, 6, 7, 8},
        {
            "call": [
                *(call(1, None), call(2, None), call(3, None)),
                call(1, None, thread=8),
                call(1, None, level=9000),
                call(1, None, type=2),
                call(1, None, request=2),
                call(1, None, item=2),
                call(1, 2, thread=9),
                *(call(1, None, thread=10), call(5, None, thread=10)),
            ]
        },
    ),
    Case(
        "RAW304",
        {4},
        # The first two at one time; the third begins a pair that ends before; the fifth is alone.
        {"call": [call(5, None), call(5, None), call(9, None), call(8, None), call(1, None)]},
    ),
    Case(
        "RAW305",
        {2, 9},
        {
            "call": [
                *(call(10, 20), call(19, 30)),
                # One behind the other, one in the other, on another thread, of another level.
                *(call(30, 40), call(32, 40)),
                call(11, 25, thread=8),
                call(11, 25, level=5000),
                # Beyond the last one, not beyond the one that lasts longest; and beyond this too.
                *(call(100, 200), call(110, 120), call(119, 201)),
            ]
        },
    ),
    Case("RAW305", set(), {"call": [call(100, 200), call(110, 120), call(119, 200)]}),
    Case("RAW305", set(), {"call": [call(10, 20), call(20, 30), call(9, None)]}),
    *(
        Case(
            "RAW306",
            {2},
            {"call": [call(10, 20, upper), call(15, 21, lower), call(15, 21, lower, thread=8)]},
        )
        for upper, lower in (
            *((20000, 15000), (20000, 10000), (20000, 5500), (20000, 5000)),
            *((15000, 10000), (15000, 5500), (15000, 5000)),
            *((10000, 5500), (10000, 5000), (5500, 5000)),
        )
    ),
    *(
        Case("RAW306", set(), {"call": [call(10, 20, upper), call(*times, level=lower)]})
        for upper, lower, *times in (
            *((20000, 10000, 15, 20), (15000, 10000, 15, 20), (10000, 5500, 15, 20)),
            *((5500, 5000, 15, 20), (20000, 10000, 20, 30), (20000, 10000, 5, 15)),
            *((10000, 20000, 15, 25), (10000, 10000, 15, 25), (5000, 5500, 15, 25)),
        )
    ),
    Case("RAW306", set(), {"call": [call(0, 20, 20000), call(15, 21)]}),
    Case("RAW307", {2}, {"call": one("level_text", "node", None)}),
    Case(
        "RAW308",
        {5},
        {
            "call": [
                *(call(10, None, request=4, **EXECUTED), call(20, None, request=4, **EXECUTED)),
                *(call(30, None, request=5, **EXECUTED), call(40, None, request=5, **EXECUTED)),
                *(call(50, None, request=3, **EXECUTED), call(60, None, request=3, **EXECUTED)),
                # Two executions of one number; another model; another type.
                *(call(time, None, request=6, **EXECUTED) for time in (61, 62, 63, 64)),
                call(70, None, **{**EXECUTED, "item": 9}, request=1),
                call(80, None, **{**EXECUTED, "item": 9}, request=1),
                call(90, None, **{**EXECUTED, "type": 2}, request=1),
            ]
        },
    ),
    # --- operators
    *(
        Case(rule, {2}, {table: one("held", 1, 0, None)})
        for rule, table in (
            *(("RAW401", "operator"), ("RAW402", "tensor_record")),
            *(("RAW403", "context"), ("RAW404", "collective")),
        )
    ),
    Case(
        "RAW405",
        {2},
        {
            "operator": [
                {"held": 1, "item": "a", "name": "a", "op_type": "t"},
                {"held": 1, "item": "a", "name": "b", "op_type": "t"},
                {"held": 0, "item": "a", "name": "b", "op_type": "t"},
                {"held": 1, "item": None, "name": "b", "op_type": "t"},
                {"held": 1, "item": "a", "name": "a_MemSet", "op_type": "t"},
                {"held": 1, "item": "a", "name": "a_AtomicClean", "op_type": "t"},
                {"held": 1, "item": "a", "name": "b", "op_type": None},
            ]
        },
    ),
    Case("RAW406", {1, 4}, {"tensor_record": one("tensors", 0, 1, 5, 6)}),
    Case("RAW407", {2}, {"tensor_record": one("is_mixed", 0, 1)}),
    Case(
        "RAW408",
        {2},
        {
            "tensor_record": [
                {"place": 1, "batch": 3, "tensors": 5},
                {"place": 2, "batch": 3, "tensors": 4},
                {"place": 3, "batch": 3, "tensors": 1},
                {"place": 1, "batch": 1, "tensors": 1},
            ]
        },
    ),
    Case(
        "RAW409",
        {2, 3, 4},
        {
            "operator": [
                {"name": "a", "time": 5, "thread": 7},
                {"time": 5, "thread": 7},
                {"name": "c", "time": 5, "thread": 8},
            ],
            "tensor_record": [
                {"name": "a", "time": 5, "thread": 7},
                {"name": "b", "time": 5, "thread": 7},
                {"name": "a", "time": 4, "thread": 7},
                {"name": "a", "time": 5, "thread": 8},
                {"name": "c", "time": 5, "thread": 8},
            ],
        },
    ),
    Case("RAW410", {2, 3}, {"tensor_record": one("zeros", 0, 1, 2)}),
    Case(
        "RAW411",
        {3, 4},
        {
            "context": [
                {"held": 1, "contexts": 55, "ids": 55},
                {"held": 1, "contexts": 0, "ids": 0},
                {"held": 1, "contexts": 56, "ids": 56},
                {"held": 0, "contexts": 3, "ids": 2},
                {"held": None, "contexts": 3, "ids": 2},
            ]
        },
    ),
    Case("RAW412", {2}, {"operator": one("core", "AI_CORE", None)}),
    Case(
        "RAW413",
        {1, 3, 5, 6},
        {"operator": [*one("task_type", *range(8), blocks=0), {"task_type": 0, "blocks": 1}]},
    ),
    Case("RAW414", {3, 4}, {"operator": one("flag", 0, 1, 2, -1)}),
    Case(
        "RAW415",
        {1, 4, 5},
        {
            "fusion": [
                {"place": 1, "batch": 1, "originals": 0},
                {"place": 1, "batch": 1, "originals": 1},
                {"place": 1, "batch": 2, "originals": 8},
                {"place": 1, "batch": 1, "originals": 9},
                {"place": 1, "batch": 2, "originals": 7},
                {"place": 2, "batch": 2, "originals": 7},
            ]
        },
    ),
    Case("RAW416", {2}, {"fusion": one("total", 5, 6, sum=5)}),
    Case(
        "RAW417",
        {1},
        {"operator": [{"name": "a"}], "setting": one("value", "l0", "l1", key="profLevel")},
    ),
    Case("RAW417", set(), {"setting": one("value", "l0", key="profLevel")}),
    Case("RAW417", set(), {"operator": [{}], "setting": one("value", "l0", key="other")}),
    Case("RAW418", {2}, {"attribute": one("held", 1, 0)}),
    Case(
        "RAW419",
        {2},
        {"operator": one("name", "a", None, "c"), "attribute": one("name", "a", "b", "c")},
    ),
    # --- memory and graphs
    Case(
        "RAW501",
        {3},
        {
            "memory": [
                {"size": -5, "before": 5},
                {"size": -5, "before": 6},
                {"size": -5, "before": 4},
                {"size": 5, "before": 0},
            ]
        },
    ),
    Case(
        "RAW502",
        {2},
        {
            "planned": [
                {"start": 5, "end": 5},
                {"start": 6, "end": 5},
                {"start": 6, "end": -1},
                {"start": -1, "end": -2},
                {"start": 0, "end": 0},
            ]
        },
    ),
    Case("RAW601", {2}, {"graph": one("is_seen", 1, 0)}),
    Case(
        "RAW602",
        {3, 4},
        {
            "graph": [
                {"model": 1, "graph": 1},
                {"model": 1, "graph": 1},
                {"model": 1, "graph": 2},
                {"model": 1, "graph": 0},
                {"model": 2, "graph": 2},
            ]
        },
    ),
    # --- steps
    Case("RAW701", {2}, {"step": [step("fp", 1), step(None, 1)]}),
    Case(
        "RAW702",
        {4, 5, 6, 7, 8},
        {
            "step": [
                *(step("start", 1), step("fp", 2), step("bp", 3)),
                # Behind the end of the backward pass, and outside of all iterations.
                step("fp", 4),
                *(step(name, 5, iteration=None) for name in ("fp", "bp", "iteration", "end")),
                # Not of an iteration, and of a model that never starts.
                step("mark", 6, iteration=None),
                step("fp", 7, iteration=None, model=9),
                # At the same time; of another device, model or iteration.
                step("fp", 3),
                step("fp", 9, device=1),
                step("fp", 9, iteration=2),
            ]
        },
    ),
    Case(
        "RAW703",
        # An end too early, a start too often, a start that is left over.
        {1, 5, 6, 9},
        {
            "step": [
                pair("reduction", 0, 1, 1),
                *(pair("reduction", 1, 0, 1), pair("reduction", 1, 1, 2)),
                *(pair("reduction", 2, 0, 1), pair("reduction", 2, 0, 2)),
                pair("reduction", 2, 1, 3),
                *(pair("fetch", 0, 1, 1), pair("fetch", 0, 0, 1)),
                pair("fetch", 1, 0, 1, stream=4),
                *(pair("fetch", 1, 0, 1), pair("fetch", 1, 1, 2)),
            ]
        },
    ),
    Case(
        "RAW704",
        {3, 4},
        {
            "step": [
                *(step("start", 1, index=7), step("start", 2, index=8)),
                *(step("start", 3, index=10), step("start", 4, index=10)),
                step("start", 5, index=1, model=2),
                step("start", 6, index=1, device=1),
                step("fp", 7, index=9),
            ]
        },
    ),
    Case(
        "RAW705",
        {2, 4},
        {
            "step": [
                *(step("fp", 1), step("fp", 2), step("bp", 1), step("bp", 3)),
                *(step("fp", 4, iteration=2), step("fp", 5, iteration=None)),
                *(step("fp", 6, iteration=None), step("fp", 7, model=2), step("fp", 8, device=1)),
                *(step("mark", 9), step("mark", 9)),
            ]
        },
    ),
    *(
        Case(
            "RAW706",
            bad,
            {
                "call": [call(1, 2, type=65542)] * calls,
                "step": [step(name, 1) for name in ("start", "end", "framework", "fp")],
            },
        )
        for calls, bad in ((0, set[int]()), (2, {1}), (3, set()), (4, {1}))
    ),
    Case("RAW706", set(), {"call": [call(1, 2, type=65542)], "step": [step("fp", 1)]}),
    Case(
        "RAW707",
        {5, 7},
        {
            "step": [
                *(step("fp", 1), step("bp", 2), step("end", 3), step("mark", 3)),
                *(step("bp", 4, iteration=2), step("iteration", 5, iteration=2)),
                *(step("fp", 6, iteration=3), step("end", 7, iteration=3)),
                # Not ended; of a model that has one of them alone; outside.
                step("fp", 8, iteration=4),
                *(step("fp", 9, model=2), step("end", 10, model=2)),
                step("fp", 11, iteration=None),
            ]
        },
    ),
    Case(
        "RAW708",
        {3, 5},
        {
            "step": [
                *(pair("reduction", 0, 0, 1), pair("reduction", 1, 0, 2)),
                *(pair("reduction", 0, 0, 3, iteration=2), pair("reduction", 2, 0, 4, iteration=2)),
                pair("fetch", 1, 0, 5),
                pair("fetch", 0, 0, 6, iteration=2),
                pair("fetch", 5, 0, 7, iteration=None),
                *(pair("reduction", 0, 0, 8, model=2), pair("reduction", 0, 1, 9, model=2)),
            ]
        },
    ),
    # --- texts about the host
    Case(
        "RAW801",
        {2, 4, 6},
        {
            "dump": [
                {"count": 6, "records": 5, "bad": 1},
                {"count": 6, "records": 5, "bad": 0},
                {"count": 6, "records": 4, "bad": 0, "dropped_after": 4},
                {"count": 6, "records": 5, "bad": 0, "dropped_after": 4},
                {"count": 6, "records": 6, "bad": 0, "dropped_after": 9},
                {"count": 6, "records": 7, "bad": 0},
            ]
        },
    ),
    Case(
        "RAW802",
        {2, 3, 5},
        {
            "dump": [
                {"count": 6, "capacity": 6},
                {"count": 7, "capacity": 6},
                {"count": 6, "capacity": 6, "dropped_after": 6, "dropped_of": 6},
                {"count": 7, "capacity": 6, "dropped_after": 6, "dropped_of": 7},
                {"count": 7, "capacity": 6, "dropped_after": 6, "dropped_of": 8},
            ]
        },
    ),
    Case("RAW803", {2}, {"dump": one("is_ended", 1, 0)}),
    Case("RAW805", {2}, {"dump_record": one("open", 0, 1)}),
    Case(
        "RAW806",
        {2},
        {"dump_record": [{"start": 5, "time": 5}, {"start": 5, "time": 4}, {"time": 4}]},
    ),
    Case(
        "RAW807",
        {2},
        {"dump_record": [{"end_before": 5, "time": 5}, {"end_before": 6, "time": 5}, {"time": 1}]},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{one.rule}-{at}" for at, one in enumerate(CASES)])
def test_g146_g150_a_rule_finds_what_its_summary_says(case: Case) -> None:
    assert found(case) == case.bad


def test_every_rule_has_a_case() -> None:
    assert {one.rule for one in CASES} == load_raw_rules().keys()
