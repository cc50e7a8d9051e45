"""What of a lane and of a process is sent for a window."""

from __future__ import annotations

import random
from typing import Any

import pytest
from api_events import event, shown, timeline, traces
from api_files import ask, body

from ascend_ref.tools.serve import Answers

# --- the screen ----------------------------------------------------------------------------------


def test_of_a_short_window_every_slice_that_touches_it_is_sent() -> None:
    asked = timeline(*(event(at / 1000, 0.001) for at in range(0, 100, 10)))
    assert [start for (start,) in shown(traces(asked, 11, 40), "startTime")[0]] == [10, 20, 30, 40]
    assert len(traces(asked, 0, 999)["data"][0]) == 10


def test_of_a_long_window_the_longest_of_each_stretch_is_sent() -> None:
    """A window of 10,000 ns has stretches of 10 ns."""
    asked = timeline(
        event(0.000, 0.001),
        event(0.004, 0.003),  # the longest of the first stretch, 0 to 10
        event(0.010, 0.002),
        event(0.012, 0.002),  # begins the next, 12 to 22
        event(0.020, 0.002),  # as long, and later
        event(0.100, 0.001),
    )
    assert shown(traces(asked, 0, 10_000), "startTime") == [[(4,), (20,), (100,)]]


def test_what_is_sent_of_a_long_window_is_what_the_rule_says() -> None:
    """Against the rule itself, one slice after the other."""
    draw = random.Random(2)
    for _ in range(60):
        events, at = [], 0
        for _ in range(draw.randint(1, 60)):
            at += draw.choice([0, 1, 5, 30])
            events.append(event(at / 1000, draw.choice([0, 1, 2, 9]) / 1000))
        asked = timeline(*events)
        start = draw.randint(0, 50)
        end = start + draw.choice([1000, 5000, 20_000])
        origin = asked.origin()
        lane = asked.timeline.slices_of(0)
        columns, rows = asked.timeline.slices, asked.timeline.depths_of(0)
        expected = set()
        for row in set(rows.tolist()):
            listed = [
                (
                    int(columns["start"][place]) - origin,
                    int(columns["end"][place]) - origin,
                    int(place) + 1,
                )
                for place, depth in zip(lane, rows, strict=True)
                if depth == row
            ]
            expected |= longest_one_by_one(listed, start, end)
        told = traces(asked, start, end)
        assert {int(one["id"]) for row in told["data"] for one in row} == expected


def longest_one_by_one(listed: list[tuple[int, int, int]], start: int, end: int) -> set[int]:
    unit = (end - start) // 1000
    limit, best, longest, chosen = start + unit, 0, 0, set()
    for begins, stops, number in listed:
        if stops < start or begins > end:
            continue
        if begins > limit:
            chosen.add(best)
            best, longest, limit = 0, 0, begins + unit
        if stops - begins >= longest:
            best, longest = number, stops - begins
    return (chosen | {best}) - {0}


def test_several_lanes_are_laid_over_one_another() -> None:
    asked = timeline(event(1, 1, tid="a"), event(0, 1, tid="b"), event(0.5, 1, tid="b"))
    told = traces(asked, 0, 5000, threadIdList=["a", "b", "no such lane"])
    assert shown(told, "threadId", "startTime") == [[("b", 0), ("a", 1000)], [("b", 500)]]
    assert told["maxDepth"] == 2


def test_an_unknown_lane_shows_nothing() -> None:
    told = traces(timeline(event(1)), tid="no such lane")
    assert (told["data"], told["maxDepth"], told["currentMaxDepth"]) == ([], 0, 0)


@pytest.mark.parametrize(
    ("start", "end"), [(5, 4), (0, (1 << 64) - 1000), ((1 << 64) - 1, (1 << 64) - 1)]
)
@pytest.mark.parametrize(
    "command", ["unit/threadTraces", "unit/threadTracesSummary", "unit/flows", "unit/counter"]
)
def test_a_window_that_is_none_is_refused(command: str, start: int, end: int) -> None:
    answer = ask(timeline(event(1)), command, startTime=start, endTime=end)
    assert not answer.result
    assert answer.error is not None
    assert answer.error.code == 1101


@pytest.mark.parametrize("odd", [-1, 1.5, "5", 1 << 64, None, True])
def test_a_time_that_is_none_counts_as_missing(odd: object) -> None:
    told = body(
        timeline(event(1)), "unit/threadTraces", processId="core0", threadId="MTE1", endTime=odd
    )
    assert shown(told, "startTime") == [[(0,)]]


def test_the_widest_window_is_answered() -> None:
    asked = timeline(event(1, 1), event(9223372036854774, 0.5))
    widest = (1 << 64) - 1 - asked.origin()
    assert shown(traces(asked, 0, widest), "id") == [[("1",), ("2",)]]
    assert shown(traces(asked, 5000, widest), "id") == [[("2",)]]
    assert shown(traces(asked, widest, widest), "id") == []


# --- summary -------------------------------------------------------------------------------------


def summary(asked: Answers, start: int, end: int, process: str = "core0") -> Any:
    return body(asked, "unit/threadTracesSummary", processId=process, startTime=start, endTime=end)[
        "data"
    ]


def test_a_process_is_busy_while_any_of_its_lanes_is() -> None:
    asked = timeline(
        event(1, 2),
        event(2, 3, tid="MTE2"),
        event(5.001, 1),  # a gap of 1 ns
        event(9, 1),
        event(8, 1, pid="core1"),
    )
    assert summary(asked, 0, 100) == [
        {"startTime": 0, "duration": 5001},
        {"startTime": 8000, "duration": 1000},
    ]
    assert summary(asked, 0, 100, "core1") == [{"startTime": 7000, "duration": 1000}]
    assert summary(asked, 0, 100, "core2") == []


def test_gaps_are_closed_up_to_a_part_of_the_window() -> None:
    asked = timeline(event(0, 1), event(1.01, 1), event(2.021, 1))
    assert len(summary(asked, 0, 29_999)) == 3
    assert len(summary(asked, 0, 300_000)) == 2  # 10 ns
    assert len(summary(asked, 0, 330_000)) == 1
    assert summary(asked, 10**6, 10**6)[0]["startTime"] == 0  # the window does not choose
