"""Statements that take too long end, and only those."""

from __future__ import annotations

import time

import duckdb
import pytest

from ascend_conformance.media.text import watch as module
from ascend_conformance.media.text.watch import Watch

ENDLESS = "SELECT count(*) FROM range(1000000000) a(x), range(1000000) b(y) WHERE (x + y) % 7 = 3"


def test_what_takes_too_long_is_interrupted_and_the_next_is_not() -> None:
    watch = Watch()
    with duckdb.connect() as connection:
        started = time.monotonic()
        with pytest.raises(duckdb.InterruptException), watch.limited(connection, 0.2):
            connection.execute(ENDLESS).fetchall()
        assert time.monotonic() - started < 20
        with watch.limited(connection, 60):
            assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_the_thread_ends_and_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE", 0.05)
    watch = Watch()
    with duckdb.connect() as connection:
        for _ in range(2):
            with pytest.raises(duckdb.InterruptException), watch.limited(connection, 0.1):
                connection.execute(ENDLESS).fetchall()
            for _ in range(100):
                if not watch.is_running:
                    break
                time.sleep(0.05)
            assert not watch.is_running
