"""Opening a database that somebody else wrote, and that may be hostile.

The file is opened immutable and read-only: no lock, no recovery of a journal or write-ahead log, no
side file. What its schema could make SQLite do (views, triggers, virtual tables, functions in
expressions) is switched off, sizes are limited, and every statement can be interrupted or given a
budget.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote_from_bytes

import apsw

from .authorizer import Authorizer
from .display import CLIP, clip, printable
from .header import NoDatabase, UnreadableDatabase, sound_length

__all__ = [
    "BudgetExceeded",
    "NoDatabase",
    "UnreadableDatabase",
    "attach_readonly",
    "budget",
    "database_uri",
    "open_readonly",
    "quick_check",
    "read_examples",
    "require_sound",
    "restrict",
    "row_bound",
]

MIB: Final = 1 << 20
CACHE_KIB: Final = 16_000
ONCE_KIB: Final = 500
"""Cache of whoever looks at each page once: one that the processor can hold is faster."""
TICK: Final = 50_000
"""Virtual machine instructions between two looks at Ctrl-C and the budget; about a millisecond."""

LIMITS: Final = {
    apsw.SQLITE_LIMIT_LENGTH: 32 * MIB,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 4 * MIB,
    apsw.SQLITE_LIMIT_ATTACHED: 2,
    apsw.SQLITE_LIMIT_VDBE_OP: 2_000_000,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""Lowered limits. Columns (2,000), expression depth (1,000) and compound terms (500) keep the
maxima that SQLite was built with: a long OR chain has to be built as a balanced tree."""

SWITCHES: Final = {
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_VIEW: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: 0,
    apsw.SQLITE_DBCONFIG_DQS_DML: 0,
}
MODULES: Final = ("json_each", "json_tree", "carray")
"""Virtual table modules that stay; a virtual table of the file has no module and cannot run."""

GENERATED_COLUMNS: Final = (
    "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_xinfo(s.name) c "
    "WHERE s.type = 'table' AND s.sql LIKE '%AS%(%' AND s.sql NOT LIKE 'CREATE VIRTUAL%' "
    "AND c.hidden IN (2, 3)"
)

_CELL_BYTES: Final = 6
"""Smallest cell of a table leaf: 2 bytes of pointer and 4 of cell (file format, section 1.6)."""


class BudgetExceeded(Exception):
    """A query took more work than any sound file of this size can ask for."""

    def __init__(self, operations: int) -> None:
        super().__init__(operations)
        self.operations = operations

    def __str__(self) -> str:
        return (
            f"stopped after {self.operations:,} operations; expected a b-tree without cycles, "
            "which needs fewer"
        )


def database_uri(path: Path, *, mode: str) -> str:
    """The ``file:`` URI of a database, whatever bytes are in its name.

    ``mode`` is ``"ro"`` (immutable as well: SQLite neither locks nor recovers) or ``"rwc"``.
    """
    location = quote_from_bytes(os.fsencode(path.absolute().as_posix()))
    slash = "" if location.startswith("/") else "/"
    options = "mode=ro&immutable=1" if mode == "ro" else f"mode={mode}"
    return f"file://{slash}{location}?{options}"


def open_readonly(path: Path, cache_kib: int = CACHE_KIB) -> apsw.Connection:
    """A connection that can only read ``path`` and work in temporary tables.

    cache_kib: of the pages that it keeps. Raises :class:`UnreadableDatabase` when the file is not a
    regular, complete SQLite database with a schema that SQLite can parse. Rows may still be
    damaged: see :func:`quick_check`.
    """
    length = sound_length(path)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(database_uri(path, mode="ro"), flags=flags)
    except apsw.Error as error:
        raise UnreadableDatabase(path, f"{error}; expected a readable file") from None
    try:
        restrict(connection)
        with budget(connection, _schema_budget(length)):
            _tune(connection, cache_kib)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        connection.authorizer = Authorizer()
    except (apsw.Error, BudgetExceeded, UnicodeDecodeError) as error:
        connection.close()
        raise UnreadableDatabase(path, f"{error}; expected a sound schema") from None
    except BaseException:
        connection.close()
        raise
    return connection


def attach_readonly(connection: apsw.Connection, path: Path, name: str) -> None:
    """Attach a second database, under the same door checks, as schema ``name``.

    Raises :class:`UnreadableDatabase` like :func:`open_readonly`, ``ValueError`` for a name that is
    not a plain identifier.
    """
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(f"name is {name!r}; expected letters, digits and underscores")
    length = sound_length(path)
    authorizer = connection.authorizer
    if not isinstance(authorizer, Authorizer):
        raise TypeError("connection was not made by open_readonly")
    uri = database_uri(path, mode="ro")
    # Only a literal file name reaches the authorizer; quote_from_bytes leaves no quote in it.
    authorizer.attachable = uri
    try:
        with budget(connection, _schema_budget(length)):
            connection.execute(f"ATTACH '{uri}' AS \"{name}\"")
            connection.execute(f'SELECT count(*) FROM "{name}".sqlite_schema').fetchall()
    except (apsw.Error, BudgetExceeded, UnicodeDecodeError) as error:
        raise UnreadableDatabase(path, f"{error}; expected a sound schema") from None
    finally:
        authorizer.attachable = None


def restrict(connection: apsw.Connection) -> None:
    """Switch off what a foreign schema could make SQLite do; needs no look into the file."""
    for limit, value in LIMITS.items():
        connection.limit(limit, value)
    for switch, on in SWITCHES.items():
        connection.config(switch, on)
    connection.drop_modules(MODULES)
    connection.collation_needed(_add_collation)
    connection.set_progress_handler(lambda: False, TICK, id="interruptible")


def _tune(connection: apsw.Connection, cache_kib: int) -> None:
    for pragma in (
        "cell_size_check = ON",
        "mmap_size = 0",
        "ignore_check_constraints = ON",
        "temp_store = FILE",
        f"cache_size = -{cache_kib}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _add_collation(connection: apsw.Connection, name: str) -> None:
    """Give an unknown collating sequence the order of code points, so that rows can be read."""
    connection.create_collation(name, lambda left, right: (left > right) - (left < right))


def row_bound(connection: apsw.Connection) -> int:
    """More rows than all tables together can have, given the size of the file."""
    file_bytes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    return int(connection.execute(file_bytes).get) // _CELL_BYTES


def _schema_budget(file_bytes: int) -> int:
    """Operations that parse any schema which fits the file: some thirty for each row."""
    return 32 * (file_bytes // _CELL_BYTES) + 1_000_000


@contextmanager
def budget(connection: apsw.Connection, operations: int) -> Iterator[None]:
    """Stop the statements run inside after about so many virtual machine instructions.

    A b-tree page that is its own grandchild makes a scan of a small file practically endless; no
    sound file does. Raises :class:`BudgetExceeded` instead. One row costs some ten instructions and
    about one more for each column read and each operator, so ``operations`` is best derived from
    :func:`row_bound`. After a clean :func:`quick_check` no budget is needed.
    """
    ticks = max(1, operations // TICK)

    def spend() -> bool:
        nonlocal ticks
        ticks -= 1
        return ticks < 0

    connection.set_progress_handler(spend, TICK, id="budget")
    try:
        yield
    except apsw.InterruptError:
        if ticks < 0:
            raise BudgetExceeded(operations) from None
        raise
    finally:
        connection.set_progress_handler(None, id="budget")


def quick_check(connection: apsw.Connection) -> str | None:
    """The first structural fault of the main database on one line, or ``None`` for a sound file.

    Every page is visited once; a page that two parents name is a fault, so the check itself always
    ends, and after a clean one so does every scan.
    """
    try:
        said = str(connection.pragma("quick_check", 1))
    except (apsw.Error, UnicodeDecodeError) as error:
        said = str(error)
    if said == "ok":
        return None
    lines = [line for line in said.splitlines() if not line.startswith("*** in database")]
    return clip(printable(lines[0] if lines else said), 200)


def require_sound(connection: apsw.Connection, path: Path) -> None:
    """Raise :class:`UnreadableDatabase` for a file of which no row must be read."""
    require_stored(connection, path)
    require_sound_pages(connection, path)


def require_stored(connection: apsw.Connection, path: Path) -> None:
    """Raise :class:`UnreadableDatabase` for a generated column.

    The check of the pages would run its expression for every row, whatever it costs; no exporter
    and no viewer has ever declared one.
    """
    computed = read_examples(connection, GENERATED_COLUMNS, columns=2, rows=1)
    if computed:
        place = ".".join(map(str, computed[0]))
        raise UnreadableDatabase(path, f"{place} is a generated column; expected stored columns")


def require_sound_pages(connection: apsw.Connection, path: Path) -> None:
    """Raise :class:`UnreadableDatabase` for damaged pages; each of them is looked at."""
    damage = quick_check(connection)
    if damage:
        raise UnreadableDatabase(path, f"damaged: {damage}; expected sound pages")


def read_examples(
    connection: apsw.Connection,
    select: str,
    bindings: tuple[int | float | str | None, ...] = (),
    *,
    columns: int,
    rows: int,
) -> list[tuple[int | float | str | None, ...]]:
    """At most ``rows`` rows of a SELECT of ``columns`` columns, as values that are safe to show.

    Texts come back on one line, undecodable bytes replaced, cut to 80 characters; a BLOB as
    ``x'00ff…'``. Reading a damaged text directly would raise ``UnicodeDecodeError``.
    """
    names = [f"c{number}" for number in range(columns)]
    # A character has at most 4 bytes; one character more than is shown proves that it was cut.
    parts = ", ".join(
        f"typeof({name}), CASE WHEN typeof({name}) IN ('text', 'blob') "
        f"THEN substr(CAST({name} AS BLOB), 1, {4 * (CLIP + 1)}) ELSE {name} END"
        for name in names
    )
    found = connection.execute(
        f"WITH example({', '.join(names)}) AS ({select}) "
        f"SELECT {parts} FROM example LIMIT {rows:d}",
        bindings,
    ).fetchall()
    encoding = str(connection.pragma("encoding"))
    return [
        tuple(
            _shown(kind, value, encoding) for kind, value in zip(row[::2], row[1::2], strict=True)
        )
        for row in found
    ]


def _shown(kind: object, value: object, encoding: str) -> int | float | str | None:
    if isinstance(value, bytes):
        if kind == "text":
            return clip(printable(value.decode(encoding, "replace")))
        return clip(f"x'{value.hex()}'")
    if value is None or isinstance(value, int | float):
        return value
    return clip(printable(str(value)))
