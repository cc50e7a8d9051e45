"""Slices and their rows, of events made by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest
from api_events import Event, event, flag, shown, timeline, traces
from api_files import answers, body, text_block, trace_block

from ascend_ref.tools.serve.timeline.read import nanoseconds
from ascend_ref.tools.serve.timeline.tables import NONE, depths

# --- times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("microseconds", "expected"),
    [
        (0, 0),
        (3, 3000),
        (3.568000078201294, 3568),
        ("3.568000078201294", 3568),
        (0.0004, 0),
        (0.0005, 1),  # halves go up
        (2.0005, 2001),
        (0.00149, 1),
        ("12abc", 12000),
        (1e12, 10**15),
        (123456789012.3456, 123456789012346),
        (9223372036854775, 9223372036854775000),
        (9223372036854776, 0),  # beyond 64 bits
        (-1, 0),
        (-0.5, 0),
        (1e300, 0),
        ("1e400", 0),
        ("x", 0),
        (None, 0),
        (True, 0),
        ([1], 0),
        ("9" * 5000, 0),
        (10**400, 0),
    ],
)
def test_microseconds_become_whole_nanoseconds(microseconds: object, expected: int) -> None:
    assert nanoseconds(microseconds) == expected


def test_an_end_is_rounded_as_the_sum() -> None:
    assert nanoseconds(0.0004, 0.0004) == 1
    assert nanoseconds(1.0, "0.25") == 1250


# --- slices --------------------------------------------------------------------------------------


def test_a_slice_shows_what_its_event_says() -> None:
    asked = timeline(event(5, 2.5, cname="good", name="MOV"), event(4))
    told = traces(asked, 0, 100_000)
    assert told["data"] == [
        [
            {
                "name": "n",
                "duration": 0,
                "startTime": 0,
                "endTime": 0,
                "depth": 0,
                "threadId": "MTE1",
                "cname": "",
                "id": "2",
            },
            {
                "name": "MOV",
                "duration": 2500,
                "startTime": 1000,
                "endTime": 3500,
                "depth": 0,
                "threadId": "MTE1",
                "cname": "good",
                "id": "1",
            },
        ]
    ]
    assert (told["maxDepth"], told["currentMaxDepth"]) == (1, 1)
    assert (told["havePythonFunction"], told["isLoading"]) == (False, False)


@pytest.mark.parametrize(
    "odd",
    [
        {"ph": "I"},
        {"ph": "f"},
        {"ph": 5},
        {"ph": None},
        {"pid": ""},
        {"tid": None},
        {"tid": True},
        {"pid": ["core0"]},
    ],
)
def test_other_phases_and_events_without_a_lane_are_no_slices(odd: Event) -> None:
    asked = timeline({**event(1), **odd}, event(2))
    assert shown(traces(asked), "id") == [[("1",)]]


def test_numbers_name_lanes_as_well() -> None:
    asked = timeline({**event(1), "pid": 3, "tid": 1.5})
    told = body(asked, "unit/threadTraces", processId="3", threadId="1.5", startTime=0, endTime=9)
    assert len(told["data"][0]) == 1


@pytest.mark.parametrize("name", ["SET_FLAG", "WAIT_FLAG", "set_event", "wait_event"])
def test_begin_and_end_of_an_id_make_a_slice(name: str) -> None:
    asked = timeline(flag("B", name, "c_1", 1), flag("E", name, "c_1", 1.5))
    assert shown(traces(asked), "name", "duration") == [[(name, 500)]]


def test_an_end_may_stand_before_its_begin() -> None:
    asked = timeline(flag("E", "SET_FLAG", 1, 1.5), flag("B", "SET_FLAG", 1, 1))
    assert shown(traces(asked), "duration") == [[(500,)]]


def test_set_and_wait_of_one_id_are_told_apart() -> None:
    asked = timeline(
        flag("B", "SET_FLAG", 1, 1),
        flag("B", "WAIT_FLAG", 1, 2, "MTE2"),
        flag("E", "SET_FLAG", 1, 4),
        flag("E", "WAIT_FLAG", 1, 9, "MTE2"),
    )
    assert shown(traces(asked, 0, 9000), "duration", "id") == [[(3000, "1")]]
    assert shown(traces(asked, 0, 9000, "MTE2"), "duration", "id") == [[(7000, "2")]]


def test_pairs_of_other_names_and_single_halves_are_no_slices() -> None:
    asked = timeline(
        flag("B", "SET_INTRA_BLOCK", 1, 1),
        flag("E", "SET_INTRA_BLOCK", 1, 2),
        flag("B", "SET_FLAG", 2, 1),
        flag("E", "WAIT_FLAG", 3, 1),
        flag("E", "WAIT_FLAG", 3, 2),
    )
    assert traces(asked, 0, 0)["data"] == []
    assert asked.timeline.bounds() is None


def test_flags_can_be_hidden() -> None:
    asked = timeline(event(1, 5), flag("B", "SET_FLAG", 1, 1), flag("E", "SET_FLAG", 1, 2))
    assert shown(traces(asked), "name") == [[("n",)], [("SET_FLAG",)]]
    assert shown(traces(asked, isHideFlagEvents=True), "name") == [[("n",)]]


def test_all_blocks_of_a_timeline_are_one() -> None:
    asked = answers(trace_block([event(1)]), trace_block([event(2, 1, args={"a": "b"})]))
    assert shown(traces(asked, 0, 2000), "id") == [[("1",), ("2",)]]
    assert body(asked, "unit/threadDetail", id="2")["data"]["args"] == '{"a":"b"}'


# --- rows ----------------------------------------------------------------------------------------


def test_a_slice_lies_in_the_highest_row_that_is_free() -> None:
    asked = timeline(event(0, 10), event(1, 2), event(2, 5), event(3, 1), event(10, 1))
    rows = shown(traces(asked, 0, 20_000), "startTime")
    assert rows == [[(0,), (10000,)], [(1000,), (3000,)], [(2000,)]]


def test_slices_of_a_group_share_a_row() -> None:
    asked = timeline(
        event(0, 2, group_id="g"),
        event(1, 3, group_id="g"),
        event(3, 1),  # while the group lasts
        event(4, 1),
    )
    rows = shown(traces(asked, 0, 9000), "startTime")
    assert rows == [[(0,), (1000,), (4000,)], [(3000,)]]


def test_rows_are_those_of_the_simple_rule() -> None:
    """Against the rule itself, tried on every row in turn."""
    draw = random.Random(1)
    for _ in range(200):
        size = draw.randint(1, 30)
        start = sorted(draw.randint(0, 40) for _ in range(size))
        end = [begin + draw.choice([0, 0, 1, 3, 20]) for begin in start]
        group = [draw.choice([NONE, NONE, NONE, 1, 2]) for _ in range(size)]
        expected = rows_one_by_one(start, end, group)
        columns = (np.array(column, np.int64) for column in (start, end, group))
        assert depths(*columns).tolist() == expected


def rows_one_by_one(start: list[int], end: list[int], group: list[int]) -> list[int]:
    rows: list[int] = []
    of_group: dict[int, int] = {}
    taken: list[int] = []  # until when each row is taken
    for begin, stop, number in zip(start, end, group, strict=True):
        if number not in of_group:
            last = max(e for e, g in zip(end, group, strict=True) if g == number)
            until = stop if number == NONE else last
            free = [row for row, busy in enumerate(taken) if busy <= begin]
            row = min(free, default=len(taken))
            taken[row : row + 1] = [until]
            if number == NONE:
                rows.append(row)
                continue
            of_group[number] = row
        rows.append(of_group[number])
    return rows


# --- damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[",
        "not JSON",
        '{"traceEvents":[{"ph":"X"},]}',
        '{"traceEvents":[{"ph":"X","ts":NaN}]}',
    ],
)
def test_a_timeline_that_is_no_json_is_empty_and_says_so(text: str) -> None:
    asked = answers(text_block(0x02, text))
    assert asked.timeline_problem is not None
    assert asked.unit("card")["children"] == []
    assert traces(asked, 0, 0)["data"] == []


@pytest.mark.parametrize("text", ["{}", '{"traceEvents":[]}', '{"traceEvents":[1,null,[],{}]}'])
def test_a_timeline_without_events_is_empty(text: str) -> None:
    asked = answers(text_block(0x02, text))
    assert asked.timeline_problem is None
    assert asked.timeline.bounds() is None


def test_too_many_events_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascend_ref.tools.serve.timeline.read.MAX_EVENTS", 3)
    assert "more than 3 events" in str(timeline(*[event(1)] * 4).timeline_problem)
    assert timeline(*[event(1)] * 3).timeline_problem is None
