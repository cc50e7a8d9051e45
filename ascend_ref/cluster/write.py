"""Writing cluster_analysis.db."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from ascend_ref.atomic import atomic_file
from ascend_ref.db.bulk import connect_bulk, disk_errors
from ascend_ref.db.introspect import quote_identifier
from ascend_ref.db.writer import LOAD_PRAGMAS
from ascend_spec import cluster_catalog
from ascend_spec.cluster import ClusterTable

from .ranks import ranks_below
from .tables import cluster_tables


def write_cluster_analysis(source: Path, target: Path) -> Path:
    """Analyse the ranks below ``source``; returns the file, in a folder of its own in ``target``.

    ``target`` exists. The file appears complete or not at all; equal databases of ranks give equal
    bytes. Raises as :func:`.ranks_below`, and ``OSError``.
    """
    tables = cluster_tables(ranks_below(source))
    folder = target / cluster_catalog().database.folder
    folder.mkdir(exist_ok=True)
    path = folder / cluster_catalog().database.file
    write_cluster_database(path, tables)
    return path


def write_cluster_database(path: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write tables as :func:`.cluster_tables` gives them; ``path`` appears when it is complete."""
    with atomic_file(path) as draft, disk_errors(path):
        _fill(Path(draft.name), tables)


def _fill(path: Path, tables: Mapping[str, pa.Table]) -> None:
    with connect_bulk(path, mode="rwc") as connection:
        for pragma in LOAD_PRAGMAS:
            connection.run(f"PRAGMA {pragma}")
        with connection.transaction():
            for name, rows in tables.items():
                connection.run(_create(cluster_catalog().tables[name]))
                marks = ", ".join(f"?{number + 1}" for number in range(rows.num_columns))
                for batch in rows.to_batches():
                    connection.run(f"INSERT INTO {name} VALUES ({marks})", batch)


def _create(table: ClusterTable) -> str:
    columns = ", ".join(
        f"{quote_identifier(one.name)} {one.declared}" for one in table.columns.values()
    )
    return f"CREATE TABLE {table.name} ({columns})"
