"""Where a row of the facts stands in its file: line, byte, pointer."""

from __future__ import annotations

from typing import Any

from ascend_spec.core.pointer import escaped

from ...options import Options
from .findings import NOWHERE, Fault, Position, event_text, place_in_event, place_of_event
from .folder import Folder
from .layers import layers_by_table
from .loaddocs import key_of, pointer_below
from .structuredocs import byte_of


def position(
    folder: Folder, table: str, file: int, row: int, cell: str | None = None, *, exact: bool = True
) -> Position:
    """The place of a row of a table, and in it that of a cell.

    ``exact``: of an event the key, not its beginning.
    """
    schema = table.partition(".")[0]
    if schema in ("csv", "raw"):
        query = f'SELECT line, "offset" FROM {table.replace("csv.", "raw.", 1)} '
        found = folder.facts.rows(f"{query}WHERE file = ? AND row = ?", (file, row))
        return Position(*found[0]) if found else NOWHERE
    if schema == "trace":
        return _in_timeline(folder, file, row, cell if exact else None)
    if schema == "doc":
        query = f"SELECT pointer FROM {table} WHERE file = ? AND row = ?"
        pointer = folder.facts.value(query, (file, row))
        if pointer is not None:
            pointer += pointer_below(table, cell)
        return Position(None, byte_of(folder, file, pointer), pointer)
    return NOWHERE


def _in_timeline(folder: Folder, file: int, row: int, key: str | None) -> Position:
    offset = place_of_event(folder, file, row).offset
    if offset is None:
        return NOWHERE
    pointer = _pointer_to(event_text(folder.files[file], offset), key) if key else ""
    if pointer:
        offset = place_in_event(folder.files[file], offset, pointer)
    return Position(None, offset, f"/{row}{pointer}")


def _pointer_to(event: bytes, key: str) -> str:
    """The pointer to a key of an event, be it one of its args; empty where it has none."""
    before, _, args = event.partition(b'"args"')
    mark = f'"{key}"'.encode()
    if mark in args:
        return f"/args/{escaped(key)}"
    return f"/{escaped(key)}" if mark in before else ""


def column_in_words(table: str, column: str | None) -> str | None:
    """The column as findings name it: of a database with its table, of a layer with the layer."""
    schema, _, name = table.partition(".")
    if schema == "db":
        return ".".join(part for part in (name, column) if part)
    if schema == "trace" and name in layers_by_table():
        layer = layers_by_table()[name].name
        return f"{layer}: {column}" if column else layer
    return column and key_of(table, column)


def fault_at(
    folder: Folder,
    table: str,
    cell: str | None,
    place: tuple[int, int],
    query: str,
    options: Options,
    **facts: Any,
) -> Fault:
    """A fault of rows that a query finds, at a cell of the first of them: its file and row."""
    return Fault(
        place[0],
        column_in_words(table, cell),
        row=place[1],
        at=position(folder, table, *place, cell),
        query=query if options.with_sql else None,
        **facts,
    )
