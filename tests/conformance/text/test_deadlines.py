"""What takes too long is ended, and nothing else is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import duckdb
import pytest

from ascend_conformance.media.text.deadlines import TICK, Deadlines

SOON = 0.05
LATER = 60.0
LONG = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"


def until(true: Callable[[], object], seconds: float = 10.0) -> bool:
    """Whether something comes true in time."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if true():
            return True
        time.sleep(0.005)
    return False


def watchers(before: set[threading.Thread]) -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one not in before]


def test_a_block_that_takes_too_long_is_interrupted_once() -> None:
    calls: list[float] = []
    began = time.monotonic()
    with Deadlines().within(SOON, lambda: calls.append(time.monotonic())):
        assert until(lambda: calls)
        time.sleep(4 * TICK)
    assert len(calls) == 1
    assert SOON <= calls[0] - began < 5.0


def test_a_block_that_has_ended_is_not_interrupted() -> None:
    calls: list[int] = []
    deadlines = Deadlines()
    with deadlines.within(SOON, lambda: calls.append(1)):
        pass
    time.sleep(SOON + 3 * TICK)
    assert calls == []


def test_a_block_that_failed_is_not_interrupted() -> None:
    calls: list[int] = []
    deadlines = Deadlines()
    with pytest.raises(ZeroDivisionError), deadlines.within(SOON, lambda: calls.append(1)):
        raise ZeroDivisionError
    time.sleep(SOON + 3 * TICK)
    assert calls == []


def test_a_block_does_not_end_while_it_is_interrupted() -> None:
    """Else the interrupt would hit what the connection does next."""
    order: list[str] = []
    begun = threading.Event()

    def interrupt() -> None:
        begun.set()
        time.sleep(3 * TICK)
        order.append("interrupted")

    with Deadlines().within(SOON, interrupt):
        assert begun.wait(10)
    order.append("ended")
    assert order == ["interrupted", "ended"]


def test_of_two_blocks_the_late_one_alone_is_interrupted() -> None:
    calls: list[str] = []
    deadlines = Deadlines()
    with (
        deadlines.within(LATER, lambda: calls.append("patient")),
        deadlines.within(SOON, lambda: calls.append("late")),
    ):
        assert until(lambda: calls)
        time.sleep(3 * TICK)
    assert calls == ["late"]


def test_blocks_that_are_late_together_are_all_interrupted() -> None:
    calls: set[int] = set()
    deadlines = Deadlines()
    with (
        deadlines.within(SOON, lambda: calls.add(1)),
        deadlines.within(SOON, lambda: calls.add(2)),
        deadlines.within(SOON, lambda: calls.add(3)),
    ):
        assert until(lambda: len(calls) == 3)


def test_one_thread_looks_after_all_and_ends_with_the_last() -> None:
    before = set(threading.enumerate())
    deadlines = Deadlines()
    with deadlines.within(LATER, lambda: None):
        for _ in range(50):
            with deadlines.within(LATER, lambda: None):
                pass
        (watcher,) = watchers(before)
        assert watcher.daemon
        # It goes on as long as one block runs.
        time.sleep(3 * TICK)
        assert watcher.is_alive()
    assert until(lambda: not watcher.is_alive())
    assert watchers(before) == []


def test_after_the_thread_has_ended_another_one_begins() -> None:
    before = set(threading.enumerate())
    calls: list[int] = []
    deadlines = Deadlines()
    with deadlines.within(LATER, lambda: None):
        pass
    assert until(lambda: not watchers(before))
    with deadlines.within(SOON, lambda: calls.append(1)):
        assert until(lambda: calls)


def test_of_two_connections_the_slow_query_alone_is_ended() -> None:
    deadlines = Deadlines()
    answers: list[object] = []
    ready = threading.Event()

    def quick() -> None:
        with (
            duckdb.connect() as connection,
            deadlines.within(LATER, connection.interrupt),
        ):
            assert ready.wait(10)
            for _ in range(20):
                answers.append(connection.execute("SELECT 7").fetchone())
                time.sleep(TICK / 4)

    other = threading.Thread(target=quick)
    other.start()
    with duckdb.connect() as connection:
        with deadlines.within(2 * TICK, connection.interrupt):
            ready.set()
            with pytest.raises(duckdb.InterruptException):
                connection.execute(LONG).fetchone()
        # The connection goes on, and its next query is not ended for the one before.
        time.sleep(3 * TICK)
        assert connection.execute("SELECT 8").fetchone() == (8,)
    other.join(10)
    assert answers == [(7,)] * 20


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_after_an_interrupt_that_failed_others_are_interrupted() -> None:
    before = set(threading.enumerate())
    calls: list[int] = []
    deadlines = Deadlines()
    with deadlines.within(SOON, lambda: 1 // 0):
        assert until(lambda: not watchers(before))
    with deadlines.within(SOON, lambda: calls.append(1)):
        assert until(lambda: calls)
