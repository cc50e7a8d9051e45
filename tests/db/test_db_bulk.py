"""The road over ADBC: ^C during a statement is an interrupt, not a fault of the file."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from db_samples import contents, make, write_small

from ascend_ref.db.bulk import connect_bulk
from ascend_ref.db.reader import stream_columns
from ascend_ref.db.writer import write_database
from ascend_spec import catalog

SCHEMA = catalog().at("1.2.0-2026-07", "pytorch")
LONG = (
    "SELECT count(*) AS n FROM "
    "(WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 3000000) "
    "SELECT i FROM n)"
)
"""Some half a second in one statement, before the first batch."""


def interrupt(after: float) -> threading.Timer:
    """A timer that, once started, sends SIGINT after so many seconds."""
    return threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))


@contextmanager
def awaited(timer: threading.Timer) -> Iterator[None]:
    """The signal comes in here, however fast the statements are."""
    try:
        yield
    finally:
        timer.join()
        for _ in range(1000):
            pass  # Python looks at signals between two steps


@pytest.mark.parametrize("after", [0.0, 0.05, 0.2])
def test_an_interrupt_while_a_statement_reads(tmp_path: Path, after: float) -> None:
    path = make(tmp_path / "p.db", "CREATE TABLE T (a)")
    before = contents(tmp_path)
    timer = interrupt(after)

    def read() -> None:
        timer.start()
        with awaited(timer):
            list(stream_columns(path, LONG))

    with pytest.raises(KeyboardInterrupt):
        read()
    assert contents(tmp_path) == before


def test_an_interrupt_while_a_statement_writes(tmp_path: Path) -> None:
    write_small(tmp_path / "p.db", "1.0.0-2025-01", "msprof")
    before = contents(tmp_path)
    rows = 400_000
    task = {name: np.arange(rows) for name in SCHEMA.tables["TASK"].columns}
    timer = interrupt(0.02)

    def start(table: str, _rows: int) -> None:
        if table == "TASK" and timer.ident is None:
            timer.start()

    def write() -> None:
        with awaited(timer):
            write_database(tmp_path / "p.db", SCHEMA, {"TASK": task}, progress=start)

    with pytest.raises(KeyboardInterrupt):
        write()
    assert contents(tmp_path) == before


def test_an_exception_is_not_hidden_by_a_stream_left_open(tmp_path: Path) -> None:
    def leave() -> None:
        with connect_bulk(tmp_path / "p.db", mode="rwc") as connection:
            stream = connection.stream("VALUES (1), (2)", 1)
            next(stream)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()
