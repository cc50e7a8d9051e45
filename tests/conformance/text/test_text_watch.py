"""Statements that take too long end, and only those."""

from __future__ import annotations

import time

import duckdb
import pytest

from ascend_conformance.media.text import queries
from ascend_conformance.media.text.queries import GivenUp, limited

ENDLESS = "SELECT count(*) FROM range(1000000000) a(x), range(1000000) b(y) WHERE (x + y) % 7 = 3"


def test_what_takes_too_long_is_given_up_and_the_next_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with duckdb.connect() as connection:
        monkeypatch.setattr(queries, "SECONDS", 0.2)
        started = time.monotonic()
        with pytest.raises(GivenUp, match=r"^given up after 0 s"), limited(connection):
            connection.execute(ENDLESS).fetchall()
        assert time.monotonic() - started < 20
        monkeypatch.setattr(queries, "SECONDS", 60)
        with limited(connection):
            assert connection.execute("SELECT 1").fetchall() == [(1,)]
