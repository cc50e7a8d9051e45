"""SQLite over ADBC: whole columns in and out, many times faster than row by row.

This is the lower of ADBC's two layers. The upper one (``dbapi``) takes SIGINT away from Python
while a statement runs and asks the driver to cancel it. That of SQLite cannot, so ^C would become
an error of the file, or nothing at all. Here SIGINT waits for the end of the statement, or of
the batch, and then becomes the ``KeyboardInterrupt`` that it is everywhere else.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import adbc_driver_manager
import adbc_driver_sqlite
import pyarrow as pa

from .open import database_uri

DISK_ERRORS = {"disk is full": errno.ENOSPC, "disk I/O error": errno.EIO}
"""What SQLite says of a disk that cannot take what it writes."""


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Errors of the disk as ``OSError``, which names the place and can leave a worker process."""
    try:
        yield
    except adbc_driver_manager.Error as error:
        number = next((DISK_ERRORS[text] for text in DISK_ERRORS if text in str(error)), None)
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(path)) from error


@contextmanager
def _closed_after(handle: Any) -> Iterator[Any]:
    """The ADBC handle, closed at the end; an exception leaves as the one that it was.

    ADBC refuses to close what has a child, and ^C right after the child was made leaves one.
    """
    try:
        yield handle
    except BaseException:
        with suppress(adbc_driver_manager.Error, RuntimeError):
            handle.close()
        raise
    handle.close()


class BulkConnection:
    """A connection whose statements take and give Arrow batches; see :func:`connect_bulk`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def run(self, sql: str, rows: pa.RecordBatch | None = None) -> None:
        """Run a statement for its effect: once, or once for each of the rows."""
        with self._statement(sql) as statement:
            if rows is not None:
                statement.prepare()
                statement.bind(rows)
            statement.execute_update()

    def stream(self, sql: str, batch_rows: int) -> Generator[pa.RecordBatch, None, None]:
        """The result of a SELECT in batches; the first one settles the types."""
        size = adbc_driver_sqlite.StatementOptions.BATCH_ROWS.value
        with self._statement(sql) as statement:
            statement.set_options(**{size: str(batch_rows)})
            # Without a context manager: ^C while one is entered would leave the reader of a
            # statement that is closed.
            reader = pa.RecordBatchReader.from_stream(statement.execute_query()[0])
            try:
                yield from reader
            finally:
                reader.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is run inside is committed at the end, and only there."""
        self._connection.set_autocommit(False)
        yield
        self._connection.commit()

    @contextmanager
    def _statement(self, sql: str) -> Iterator[Any]:
        with _closed_after(adbc_driver_manager.AdbcStatement(self._connection)) as statement:
            statement.set_sql_query(sql)
            yield statement


@contextmanager
def connect_bulk(path: Path, *, mode: str) -> Iterator[BulkConnection]:
    """A connection for ``mode`` as in :func:`~ascend_ref.db.open.database_uri`."""
    with (
        _closed_after(adbc_driver_sqlite.connect(database_uri(path, mode=mode))) as database,
        _closed_after(adbc_driver_manager.AdbcConnection(database)) as connection,
    ):
        yield BulkConnection(connection)
