"""cluster_analysis.db of two analyses of the same ranks: its tables, compared by meaning."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.cluster.tables import type_of
from ascend_ref.db.introspect import describe
from ascend_ref.db.open import UnreadableDatabase, open_readonly, quick_check
from ascend_ref.db.reader import typed_columns
from ascend_ref.derive.communication_report import FLOAT_STEP
from ascend_spec import cluster_catalog
from ascend_spec.cluster import ClusterColumn

from ..compare.agreement import WHICH
from ..media.text.database import open_facts
from .tables import Both
from .tables import differences as table_differences
from .texts import Difference

RELATIVE = 1e-9
"""Part of a real number by which two agree: sums depend on the order of what is added."""
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
        connection = open_readonly(path)
        try:
            damage = quick_check(connection)
            held = describe(connection)
        finally:
            connection.close()
    except UnreadableDatabase as problem:
        yield ClusterFile(path, path.name, str(problem))
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
        return [
            Difference("broken file", one.name, one.place, None, 1, 1, str(one.reason))
            for one in broken
        ]
    found: list[Difference] = []
    with open_facts() as facts:
        for name, table in cluster_catalog().tables.items():
            if features is not None and name not in features:
                continue
            try:
                held = [_read(one, name) for one in (left, right)]
            except UnreadableDatabase as problem:
                found.append(Difference("broken file", name, name, None, 1, 1, problem.reason))
                continue
            rows = [one.num_rows for one in held]
            if not all(rows):
                found += _one_sided(name, rows, sides)
                continue
            both = Both(name, dict(zip(WHICH, held, strict=True)), table.key, _tolerances(name))
            found += table_differences(facts, both, sides)
    return found


def _one_sided(name: str, rows: Sequence[int], sides: tuple[str, str]) -> Iterator[Difference]:
    if rows[0]:
        yield Difference("absent file", name, name, None, 1, 1, f"{sides[1]} has no row of it")
    elif rows[1]:
        yield Difference("added file", name, name, None, 1, 1, f"{sides[0]} has no row of it")


def _tolerances(name: str) -> Mapping[str, str]:
    columns = cluster_catalog().tables[name].columns.values()
    return {one.name: _tolerance(one) for one in columns if type_of(one) == pa.float64()}


def _tolerance(column: ClusterColumn) -> str:
    """SQL for how far two numbers of a column may be apart."""
    if column.type == "timestampUs":
        return repr(FLOAT_STEP)
    if column.decimals is not None:
        return repr(10.0**-column.decimals * (1 + RELATIVE))
    greatest = f"greatest(abs(left.{column.name}), abs(right.{column.name}))"
    return f"least(greatest({RELATIVE} * {greatest}, {LEAST}), 1e300)"


def _read(some: Sequence[ClusterFile], name: str) -> pa.Table:
    """The rows of a table in all files that have it."""
    parts = [_table(one) for one in some if one.name == name]
    return pa.concat_tables(parts, promote_options="default") if parts else pa.table({})


def _table(one: ClusterFile) -> pa.Table:
    known = cluster_catalog().tables[one.name].columns
    connection = open_readonly(one.path)
    try:
        physical = describe(connection).readable(one.name)
        present = [column.name for column in physical.columns] if physical else []
    finally:
        connection.close()
    kinds = {name: type_of(known[name]) if name in known else pa.string() for name in present}
    # Of a column that the spec does not know its name is what is stated; its cells may be any.
    strange = {name: kind for name, kind in kinds.items() if name not in known}
    schema = pa.schema(list(kinds.items()))
    batches = typed_columns(
        one.path, one.name, {name: kind for name, kind in kinds.items() if name in known}
    )
    table = pa.Table.from_batches(
        batches, pa.schema([field for field in schema if field.name in known])
    )
    for name in strange:
        table = table.append_column(name, pa.nulls(table.num_rows, pa.string()))
    for name in table.column_names:
        form = known[name].form if name in known else None
        if form is not None:
            table = table.set_column(
                table.column_names.index(name), name, _FORMS[form](table[name])
            )
    return table


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


_FORMS = {"path": _last_part, "json": _same_json}
