"""Changed rows of CSV files and values of documents, put back into the files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from ...engine.damaging import Change
from ...engine.trials import NotBreakable
from .database import Facts
from .folder import Folder
from .loadcsv import PLACE
from .loaddocs import KEYS, pointer_below
from .splices import Splice, key_splice, record_at, record_text, value_splice
from .written import Row, Rows, Written, change_of


def write_rows(
    folder: Folder,
    found: Written,
    table: str,
    before: str,
    rows: Rows,
) -> None:
    """Cells of CSV files, and whole rows that came or are gone."""
    facts = folder.facts
    columns = facts.columns(table)[len(PLACE) :]
    query = "SELECT column_name, row FROM unit.header WHERE file = ?"
    headers = {file: dict(facts.rows(query, (file,))) for file in {file for file, _ in rows}}
    added: dict[tuple[int, int], list[bytes]] = defaultdict(list)
    for (file, row), (old, new) in rows.items():
        path, header = folder.files[file].path, headers[file]
        known = [name for name in columns if name in header]
        if not old:
            for one in new:
                home = _row_before(facts, before, file, row)
                record = record_at(path, home)
                cells = [""] * len(header)
                for name in known:
                    cells[header[name]] = one[name] or ""
                added[file, home + record.length].append(record_text(cells, record.end or "\n"))
                found.note(Change(str(path), f"behind line {one['line']}: a new row"))
            continue
        offset, line = old[0]["offset"], old[0]["line"]
        record = record_at(path, offset)
        if not new:
            found.splices[file].append(Splice(offset, record.length, b""))
            found.note(Change(str(path), f"line {line}: a row less"))
            continue
        cells = record.cells
        for name in known:
            if old[0][name] != new[0][name]:
                cells[header[name]] = new[0][name] or ""
                found.note(change_of(str(path), f"line {line}", name, old[0][name], new[0][name]))
        text = record_text(cells, record.end)
        found.splices[file].append(Splice(offset, record.length, text))
    for (file, offset), texts in added.items():
        found.splices[file].append(Splice(offset, 0, b"".join(texts)))


def _row_before(facts: Facts, before: str, file: int, row: int) -> int:
    query = f'SELECT "offset" FROM {before} WHERE file = ? AND row <= ? ORDER BY row DESC LIMIT 1'
    found = facts.value(query, (file, row))
    if found is None:
        raise NotBreakable("no row to add another behind")
    return int(found)


def write_headers(folder: Folder, found: Written, rows: Rows) -> None:
    """Other cells of the header of CSV files. Raises :class:`.NotBreakable`."""
    cells: dict[int, dict[int, tuple[str, str]]] = defaultdict(dict)
    for (file, row), (old, new) in rows.items():
        if len(old) != 1 or len(new) != 1:
            raise NotBreakable("its break changes the number of columns")
        cells[file][row] = old[0]["text"], new[0]["text"]
    for file, changed in cells.items():
        path = folder.files[file].path
        begin = 3 if folder.csv[file][0].marked else 0
        record = record_at(path, begin)
        for row, (before, after) in changed.items():
            record.cells[row] = after
            found.note(change_of(str(path), "line 1", f"cell {row + 1}", before, after))
        text = record_text(record.cells, record.end)
        found.splices[file].append(Splice(begin, record.length, text))


def remove_files(folder: Folder, found: Written, rows: Rows) -> None:
    """Files that are gone. Raises :class:`.NotBreakable`."""
    for (file, _), (_, new) in rows.items():
        if new or file not in folder.files:
            raise NotBreakable("its break changes what was read of a file, not the file")
        found.gone.append(file)
        found.note(Change(str(folder.files[file].path), "the whole file: gone"))


def write_values(folder: Folder, found: Written, table: str, rows: Rows) -> None:
    """Values and keys of JSON documents."""
    for (file, _), (old, new) in rows.items():
        if len(old) != 1 or len(new) != 1:
            raise NotBreakable("its break adds or removes parts of a document")
        path, content = folder.files[file].path, folder.documents[file].content
        pointer = old[0]["pointer"]
        for name, before in old[0].items():
            after = new[0][name]
            if before == after:
                continue
            if name in KEYS.get(table, {}):
                found.splices[file].append(
                    value_splice(content, pointer + pointer_below(table, name), after)
                )
            elif table == "doc.member":
                found.splices[file].append(value_splice(content, pointer, after))
            elif (table, name) in _NAMED:
                key = _NAMED[table, name](new[0])
                found.splices[file].append(key_splice(content, pointer, key))
            else:
                raise NotBreakable(f"{table}.{name} is no single value of a document")
            found.note(change_of(str(path), pointer, name, before, after))


def _operator_key(row: Row) -> str:
    return row["name"] if row["group"] is None else f"{row['name']}@{row['group']}"


_NAMED: Mapping[tuple[str, str], Callable[[Row], str]] = {
    ("doc.operator", "name"): _operator_key,
    ("doc.operator", "group"): _operator_key,
    ("doc.link", "link"): lambda row: str(row["link"]),
    ("doc.packet", "size"): lambda row: str(row["size"]),
    ("doc.matrix", "link"): lambda row: str(row["link"]),
}
"""Columns that are the key under which the rest of their row stands."""
