"""Files of odd proportions: nothing grows with the square of what they hold."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from api_events import event, timeline, traces
from api_files import answers
from api_spots import instructions_block

from ascend_ref.tools.serve.hot_spots import RegisterRows

MANY = 30_000
SECONDS = 3.0  # of the processor; the square of MANY takes more


@contextmanager
def quick() -> Iterator[None]:
    started = time.process_time()
    yield
    assert time.process_time() - started < SECONDS


def test_a_lane_with_nothing_but_counts_shows_no_slices() -> None:
    asked = timeline({"ph": "C", "name": "rate", "pid": "core0", "ts": 5, "args": {"v": 1}})
    shown = traces(asked, tid="rate")
    assert shown["data"] == []
    assert shown["maxDepth"] == 0


@pytest.mark.exhaustive
def test_many_processes_are_shown() -> None:
    asked = timeline(*(event(1, pid=f"p{number}") for number in range(MANY)))
    with quick():
        assert len(asked.unit("card")["children"]) == MANY


@pytest.mark.exhaustive
def test_many_rows_are_shown() -> None:
    """Two slices in each row, the second behind all of the first."""
    nested = [event(number, 3 * MANY - 2 * number) for number in range(MANY)]
    asked = timeline(*nested, *(event(4 * MANY + number, 2 * MANY) for number in range(MANY)))
    window = {"startTime": 0, "endTime": 10_000 * MANY}
    lane = {"processId": "core0", "threadId": "MTE1"}
    with quick():
        shown = asked.answer("unit/threadTraces", {**lane, **window}).body
    assert shown["maxDepth"] == MANY
    assert [len(row) for row in shown["data"]] == [2] * MANY


def test_registers_of_many_rows_stand_close_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a file says of registers that live for ever, the answer stays about as long."""
    monkeypatch.setattr("ascend_ref.tools.serve.hot_spots.MAX_EMPTY", 10)
    living = [{"regIndex": f"R{number}", "survivalTime": 99, "regStatus": 1} for number in range(8)]
    rows = RegisterRows()
    assert len(rows.rewritten(living)) == 8
    told = [rows.rewritten(living[-1:]) for _ in range(3)]
    assert [len(one) for one in told] == [8, 1, 1]  # seven empty rows, and then no more of them
    assert [one[-1]["name"] for one in told] == ["R7"] * 3
    assert len(rows.rewritten([living[4], living[6]])) == 2
    assert [one["name"] for one in rows.rewritten(living[:3])] == ["R0", "R1", "R2"]


def test_many_columns_of_many_instructions_are_looked_up_where_they_stand() -> None:
    listed = [{"Address": hex(number)} for number in range(MANY // 2)]
    types = {"Address": 3, **{f"c{number}": 1 for number in range(MANY // 2)}}
    asked = answers(instructions_block(listed, types))
    with quick():
        told = asked.answer("source/api/instructions/dynamic", {}).body
    assert len(told["Instructions"]) == len(listed)
