"""The ranks of a run, each with what its databases hold for an analysis of all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ascend_ref.profile.export import databases
from ascend_ref.recorded import Recorded, from_database
from ascend_spec import catalog, cluster_catalog, layout_catalog

RANK = "rank_id"
METADATA = "META_DATA"


@dataclass(frozen=True)
class Rank:
    """One rank. folder: that of its profile. tables: those that the analysis reads, by name, with
    texts as ``string`` columns. facts: the objects of META_DATA by name.
    """

    number: int
    folder: str
    tables: Mapping[str, pa.Table]
    facts: Mapping[str, Mapping[str, Any]]


def rank_of(recorded: Recorded, folder: str) -> Rank:
    """The rank of a recording of the framework's profiler; ``folder``: that of its profile."""
    tables = {name: _plain(recorded.table(name)) for name in _read()}
    named = tables[METADATA].select(["name", "value"]).to_pylist()
    return Rank(recorded.origin.rank, folder, tables, dict(_objects(named)))


def ranks_below(folder: Path) -> list[Rank]:
    """The ranks whose databases are in a folder or below it, in their order.

    Raises ``NoDatabase`` where there is none, ``UnreadableDatabase`` for a damaged one,
    ``ValueError`` for two databases of one rank, ``OSError``.
    """
    found: dict[int, tuple[Path, Rank]] = {}
    for path in databases(folder):
        rank = rank_of(from_database(path), str(_profile_of(path)))
        if rank.number in found:
            other = found[rank.number][0]
            raise ValueError(f"{path}: rank {rank.number}, like {other}; expected one of each rank")
        found[rank.number] = path, rank
    return [found[number][1] for number in sorted(found)]


def joined(ranks: Iterable[Rank], name: str) -> pa.Table:
    """A table of all ranks, with their numbers in the column :data:`RANK`."""
    return pa.concat_tables(
        rank.tables[name].append_column(
            RANK, pa.array([rank.number] * rank.tables[name].num_rows, pa.int64())
        )
        for rank in ranks
    )


def durations(name: str) -> list[str]:
    """The columns of a table of the ranks that hold lengths of time."""
    columns = catalog().tables[name].columns.values()
    return [one.name for one in columns if one.type in ("durationMs", "durationUs")]


def fact_of_any(ranks: Sequence[Rank], name: str) -> Mapping[str, Any]:
    """An object of META_DATA as the first rank has it that has one."""
    return next((rank.facts[name] for rank in ranks if rank.facts.get(name)), {})


def _read() -> list[str]:
    """The tables of the ranks that the database of the analysis is computed from."""
    named = (one for table in cluster_catalog().tables.values() for one in table.of)
    return [one for one in dict.fromkeys(named) if one in catalog().tables]


def _plain(table: pa.Table) -> pa.Table:
    types = (
        pa.field(one.name, pa.string() if pa.types.is_dictionary(one.type) else one.type)
        for one in table.schema
    )
    return table.cast(pa.schema(types))


def _objects(rows: Iterable[Mapping[str, str | None]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """META_DATA holds versions, too: what is no object is none of the facts that are looked for."""
    for row in rows:
        value: object = None
        with suppress(ValueError, RecursionError):
            value = json.loads(row["value"] or "")
        if row["name"] is not None and isinstance(value, dict):
            yield row["name"], value


def _profile_of(database: Path) -> Path:
    output = layout_catalog().folder("pytorch", "output")
    folder = database.absolute().parent
    return folder.parent if folder.name == output else folder
