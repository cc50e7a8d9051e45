"""One database under judgement: its connection, its layout and what lies beside it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import apsw
import pyarrow as pa

from ascend_ref.db.claimed import claimed_revision, claimed_schema
from ascend_ref.db.detect import Identity, identify
from ascend_ref.db.introspect import PhysicalSchema, describe
from ascend_ref.db.open import TICK, attach_readonly, open_readonly, read_examples
from ascend_ref.db.reader import BATCH_ROWS, stream_columns
from ascend_spec import Catalog, Schema, catalog
from ascend_spec.db.model import Reading, Revision

from ...options import PARALLEL_BYTES
from .constants import ConstantSets
from .documents import SideDocument
from .layout import Layout, match_layout
from .references import Targets
from .sql import register, single_row

AnyResult = TypeVar("AnyResult")

TEXT_ROWS = 1_000
ENUM_ROWS = 10_000
"""Rows read of one enum table; the largest real one has 78."""


@dataclass
class Session:
    """An open database with everything the checks ask about it.

    ``found``: the revision that it is of, if it is judged by the ``schema`` of another one.

    ``path`` is ``None`` for a database that lives in memory (the rules' self-test).
    ``profiler_info`` is the parsed ``profiler_info_{rank}.json`` beside it, ``profiler`` the
    profiler database next to an analysis.db, also attached as schema ``profiler``; ``documents``
    are those around it that are judged with it. Setting ``stop`` ends what worker threads still do.
    ``require_sound`` waits until all pages were looked at, and raises ``UnreadableDatabase``.
    """

    label: str
    path: Path | None
    connection: apsw.Connection
    physical: PhysicalSchema
    identity: Identity
    found: Revision
    schema: Schema
    catalog: Catalog
    layout: Layout
    profiler_info: Mapping[str, Any] | None = None
    profiler: Session | None = None
    documents: tuple[SideDocument, ...] = ()
    stop: Event = field(default_factory=Event)
    require_sound: Callable[[], None] = lambda: None

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Rows per table of the schema that stands in the file."""
        return {
            name: int(single_row(self.connection, f"SELECT count(*) FROM main.{name}")[0])
            for name in self.layout.tables
        }

    @cached_property
    def targets(self) -> Targets:
        """What is known of the columns that others refer to; looked up when first asked for."""
        return Targets(self.connection, self.layout, self.schema, self.stream)

    @cached_property
    def constant_sets(self) -> ConstantSets:
        """The sets in rules' SQL, as ranges of numbers where they are few."""
        return ConstantSets(self.connection, self.layout, self.targets)

    @cached_property
    def enum_rows(self) -> Mapping[str, Mapping[int, str | None]]:
        """Contents of the readable enum tables: id to name, ``None`` for what is no text."""
        return {
            name: self._enum(name)
            for name in self.schema.enums
            if self.layout.holds(f"{name}.id") and self.layout.holds(f"{name}.name")
        }

    def _enum(self, name: str) -> dict[int, str | None]:
        select = (
            "SELECT id, CASE WHEN typeof(name) = 'text' AND instr(name, char(0)) = 0 "
            "AND ascend_is_valid(CAST(name AS BLOB)) THEN name END "
            f"FROM main.{name} WHERE typeof(id) = 'integer' ORDER BY id"
        )
        rows = read_examples(self.connection, select, columns=2, rows=ENUM_ROWS)
        return {
            int(row[0]): None if row[1] is None else str(row[1])
            for row in rows
            if row[0] is not None
        }

    def texts(self, select: str) -> list[str]:
        """The texts of a one-column SELECT, made safe to show; at most 1,000."""
        rows = read_examples(self.connection, select, columns=1, rows=TEXT_ROWS)
        return [str(row[0]) for row in rows]

    def stream(self, query: str) -> Generator[pa.RecordBatch, None, None]:
        """Integer columns of a query in batches; in bulk where the database is a file.

        To be closed by name: ^C while a forgotten stream is collected would be lost. Raises
        ``apsw.InterruptError`` after ``stop``, like the statements of a worker's connection.
        """
        if self.path is not None:
            with closing(stream_columns(self.path, query)) as batches:
                for batch in batches:
                    if self.stop.is_set():
                        raise apsw.InterruptError("stopped")
                    yield batch
            return
        yield from batches_of(self.connection, query)

    @property
    def is_small(self) -> bool:
        """Whether several threads would take longer than one."""
        return self.path is None or self.path.stat().st_size < PARALLEL_BYTES

    def spread(
        self,
        workers: int,
        work: Callable[[apsw.Connection, int], AnyResult],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> list[AnyResult]:
        """What each of so many threads, counted from 0, does on a connection of its own.

        ``meanwhile`` is what this thread does, on the connection of the session.
        """

        def alone(number: int) -> AnyResult:
            with self.another_connection() as connection:
                return work(connection, number)

        with ThreadPoolExecutor(workers) as pool:
            try:
                running = [pool.submit(alone, number) for number in range(workers)]
                meanwhile()
                return [one.result() for one in running]
            except BaseException:  # Ctrl-C above all: the pool waits for its threads
                self.stop.set()
                raise

    @contextmanager
    def another_connection(self) -> Iterator[apsw.Connection]:
        """A second connection to the same files, for a worker thread; it ends with ``stop``."""
        if self.path is None:
            raise ValueError("a database in memory has one connection only")
        connection = open_readonly(self.path)
        register(connection)
        connection.set_progress_handler(self.stop.is_set, TICK, id="stop")
        try:
            if self.profiler is not None and self.profiler.path is not None:
                attach_readonly(connection, self.profiler.path, "profiler")
            yield connection
        finally:
            connection.close()


def batches_of(connection: apsw.Connection, query: str) -> Iterator[pa.RecordBatch]:
    """The rows of a query on a connection, each column of one type in a batch."""
    rows = connection.execute(query)
    while some := list(islice(rows, BATCH_ROWS)):
        columns = [pa.array(values) for values in zip(*some, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, names=list(map(str, range(len(columns)))))


def start(
    label: str,
    path: Path | None,
    connection: apsw.Connection,
    reading: Reading,
    profiler_info: Mapping[str, Any] | None = None,
    profiler: Session | None = None,
    judged_by: str | None = None,
    physical: PhysicalSchema | None = None,
) -> Session:
    """Recognise the database behind a connection.

    ``judged_by``: another revision than its own. ``physical``: what :func:`describe` finds in it,
    where that is known.

    Raises ``NotAProfile`` when no carrier fits, ``UnreadableDatabase`` when it is damaged.
    """
    spec = catalog()
    physical = physical or describe(connection)
    identity = identify(physical, connection, path or Path(label), spec)
    revision = claimed_revision(identity, profiler.schema.revision if profiler else None)
    target = judged_by or revision.id
    schema = claimed_schema(physical, identity.carrier, target, path, reading)
    return Session(
        label=label,
        path=path,
        connection=connection,
        physical=physical,
        identity=identity,
        found=revision,
        schema=schema,
        catalog=spec,
        layout=match_layout(physical, schema),
        profiler_info=profiler_info,
        profiler=profiler,
    )
