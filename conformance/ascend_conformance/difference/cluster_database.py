"""cluster_analysis.db of two analyses of the same ranks: its tables, compared by meaning."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.cluster.tables import type_of
from ascend_ref.db.introspect import describe, fold
from ascend_ref.db.open import UnreadableDatabase, open_readonly, quick_check
from ascend_ref.db.reader import typed_columns
from ascend_ref.derive.communication_report import FLOAT_STEP
from ascend_spec import cluster_catalog
from ascend_spec.cluster import ClusterColumn, ClusterTable

from ..compare.agreement import Which
from ..compare.sql import quoted
from ..media.text.database import open_facts
from .pairing import LEFT, RIGHT, Difference, Pairing, Table, broken_file

RELATIVE = 1e-9
"""Part of a real number by which two agree, as sums depend on the order of what is added (source:
consumers 4)."""
LEAST = 1e-9
"""Difference of real numbers that is none: of sums near 0, in us, ms or MB."""


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """A table of a database; ``reason``: why the database cannot be read, where it cannot."""

    path: Path
    name: str
    reason: str | None = None

    @property
    def place(self) -> str:
        """What places in findings begin with."""
        return self.name


def files(folder: Path) -> list[ClusterFile]:
    """The tables of the spec in the databases of an analysis below a folder.

    Other tables are those of other analyses, which the same file may hold.
    """
    paths = sorted(folder.rglob(cluster_catalog().database.file))
    return [one for path in paths for one in _tables_of(path)]


def _tables_of(path: Path) -> Iterator[ClusterFile]:
    try:
        with closing(open_readonly(path)) as connection:
            damage = quick_check(connection)
            held = describe(connection)
    except UnreadableDatabase as problem:
        yield ClusterFile(path, path.name, problem.reason)
        return
    if damage:
        yield ClusterFile(path, path.name, f"damaged: {damage}; expected sound pages")
        return
    for name in cluster_catalog().tables:
        if held.readable(name) is not None:
            yield ClusterFile(path, name)


def differences(
    left: Sequence[ClusterFile],
    right: Sequence[ClusterFile],
    features: Collection[str] | None = None,
    sides: tuple[str, str] = ("the truth", "the exporter"),
) -> list[Difference]:
    """What two databases do not agree in; ``features``: only these tables, ``sides``: their names.

    A table without rows is one that is not there. Columns that the spec does not know are named.
    """
    broken = [one for one in (*left, *right) if one.reason is not None]
    if broken:
        return [_broken(one) for one in broken]
    found: list[Difference] = []
    with open_facts() as facts:
        pairing = Pairing(facts, RIGHT, sides)
        for name in cluster_catalog().tables:
            if features is None or name in features:
                try:
                    held = _held(left, name), _held(right, name)
                except UnreadableDatabase as problem:
                    found.append(_broken(ClusterFile(problem.path, name, problem.reason)))
                else:
                    found += _differences(pairing, name, *held)
    return found


def _broken(one: ClusterFile) -> Difference:
    return broken_file(one.name, one.place, str(one.reason))


def _differences(pairing: Pairing, name: str, left: _Held, right: _Held) -> Iterator[Difference]:
    """What two states of a table do not agree in; one without rows is one that is not there."""
    if not (left.rows.num_rows and right.rows.num_rows):
        other: Which = "left" if right.rows.num_rows else "right"
        if left.rows.num_rows or right.rows.num_rows:
            what = "added file" if other == "left" else "absent file"
            words = f"{pairing.sides[other]} has no row of it"
            yield Difference(what, name, name, None, 1, 1, words)
        return
    lacks: dict[Which, list[str]] = {
        "left": [one for one in right.columns if one not in left.columns],
        "right": [one for one in left.columns if one not in right.columns],
    }
    of = f"cluster_{name}"
    sides = [_numbered(left.rows, LEFT), _numbered(right.rows, RIGHT)]
    pairing.facts.connection.register(of, pa.concat_tables(sides, promote_options="default"))
    described = cluster_catalog().tables[name]
    table = Table(
        name,
        name,
        of,
        {one: quoted(one) for one in described.columns if one in {*left.columns, *right.columns}},
        described.key,
        tolerances=_tolerances(described),
    )
    yield from pairing.differences(table, lacks)


def _numbered(rows: pa.Table, side: int) -> pa.Table:
    found = rows.append_column("file", pa.repeat(pa.scalar(side), rows.num_rows))
    return found.append_column("row", pa.array(np.arange(rows.num_rows)))


def _tolerances(table: ClusterTable) -> Mapping[str, str]:
    columns = table.columns.values()
    return {one.name: _tolerance(one) for one in columns if type_of(one) == pa.float64()}


def _tolerance(column: ClusterColumn) -> str:
    """SQL for how far two numbers of a column may be apart."""
    if column.type == "timestampUs":
        return repr(FLOAT_STEP)
    if column.decimals is not None:
        return repr(10.0**-column.decimals * (1 + RELATIVE))
    greatest = f"greatest(abs(left.{column.name}), abs(right.{column.name}))"
    return f"least(greatest({RELATIVE} * {greatest}, {LEAST}), 1e300)"


@dataclass(frozen=True, slots=True)
class _Held:
    """What a side has of a table: its columns, and rows with those that the spec knows."""

    columns: Collection[str]
    rows: pa.Table


def _held(some: Sequence[ClusterFile], name: str) -> _Held:
    """The table in all files that have it."""
    parts = [_read(one) for one in some if one.name == name]
    rows = [part.rows for part in parts]
    columns = dict.fromkeys(column for part in parts for column in part.columns)
    return _Held(columns, pa.concat_tables(rows, promote_options="default") if rows else _NO_ROWS)


def _read(one: ClusterFile) -> _Held:
    known = cluster_catalog().tables[one.name].columns
    spelled = {fold(name): name for name in known}
    with closing(open_readonly(one.path)) as connection:
        physical = describe(connection).readable(one.name)
    present = [column.name for column in physical.columns] if physical else []
    own = {name: spelled[fold(name)] for name in present if fold(name) in spelled}
    if not own:
        return _Held(present, _NO_ROWS)
    types = {name: type_of(known[column]) for name, column in own.items()}
    batches = typed_columns(one.path, one.name, types)
    rows = pa.Table.from_batches(batches, pa.schema(types)).rename_columns(own)
    for column in own.values():
        form = known[column].form
        if form is not None:
            place = rows.column_names.index(column)
            rows = rows.set_column(place, column, _FORMS[form](rows[column]))
    return _Held([own.get(name, name) for name in present], rows)


def _last_part(paths: pa.ChunkedArray) -> pa.Array:
    """The folder that a path leads to, wherever it stands: exporters may work on a copy."""
    return pc.replace_substring_regex(paths, r"^.*[/\\]([^/\\]+)[/\\]*$", r"\1")


def _same_json(texts: pa.ChunkedArray) -> pa.Array:
    """JSON in one spelling; what is none stays as it is."""
    return pa.array([_spelled(text) for text in texts.to_pylist()], pa.string())


def _spelled(text: str | None) -> str | None:
    try:
        return None if text is None else json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text


_NO_ROWS = pa.table({})
_FORMS = {"path": _last_part, "json": _same_json}
