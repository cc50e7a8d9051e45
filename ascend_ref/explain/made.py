"""What an export holds: rows of tables and CSV files, events of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from ascend_ref.below import files_below
from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.open import open_readonly
from ascend_spec import layout_catalog, timeline_catalog

Counted = Iterator[tuple[str, int]]
"""Addresses, such as ``table/TASK``, and how many rows or events there are."""


def count_made(folder: Path, kinds: frozenset[str]) -> Mapping[str, int]:
    """By address how many rows, or events, the files below a folder have of some kinds of output.

    What the folder does not have is not in it, and what has neither rows nor events is not counted.
    """
    found: dict[str, int] = {}
    for path in files_below(folder):
        for kind in kinds & OF_KINDS.keys():
            for address, count in OF_KINDS[kind](path):
                found[address] = found.get(address, 0) + count
    return found


def _tables(path: Path) -> Counted:
    if carrier_of_name(path.name)[0] is None:
        return
    with closing(open_readonly(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (name,) in names:
            yield f"table/{name}", connection.execute(f'SELECT count(*) FROM "{name}"').get


def _csv_files(path: Path) -> Counted:
    match = layout_catalog().match(path.name)
    if match is None or match.file.id != "csv":
        return
    from ascend_ref.text.rows import CsvRows

    rows = CsvRows(path)
    for _ in rows.batches():
        pass
    yield f"csv/{match.called}", rows.count


def _layers(path: Path) -> Counted:
    match = layout_catalog().match(path.name)
    if match is None or match.file.id != "timeline":
        return
    import duckdb

    from ascend_ref.timeline.elements import Elements
    from ascend_ref.timeline.read import element_reader, events_query

    with duckdb.connect() as connection:
        connection.register("elements", element_reader(Elements(path)))
        query = (
            f"WITH events AS MATERIALIZED ({events_query('elements')}), named AS ("
            "SELECT pid, any_value(args ->> 'name') AS layer FROM events "
            "WHERE ph = 'M' AND name = 'process_name' GROUP BY pid) "
            "SELECT layer, count(*) FROM events JOIN named USING (pid) "
            "WHERE ph <> 'M' GROUP BY layer ORDER BY layer"
        )
        for process, count in connection.sql(query).fetchall():
            yield f"layer/{_layer_of(process)}", count


def _layer_of(process: str) -> str:
    """The layer of a process; a name that is no layer's own is of the most special form it has."""
    layers = timeline_catalog().layers
    if process in layers:
        return process
    forms = {one.name: one.form for one in layers.values() if one.form and one.form.fits(process)}
    return max(forms, key=lambda name: len(forms[name].template), default=process)


OF_KINDS: Mapping[str, Callable[[Path], Counted]] = {
    "db": _tables,
    "csv": _csv_files,
    "timeline": _layers,
}
"""How the rows or events of each kind of output are counted."""
