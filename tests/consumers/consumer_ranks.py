"""The rank folders of a profile, and plain SQL on their databases."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]

OUTPUT = "ASCEND_PROFILER_OUTPUT"
PROFILER = re.compile(r"ascend_pytorch_profiler_(\d+)\.db")


@dataclass(frozen=True, order=True)
class Rank:
    """One rank of a profile."""

    number: int
    folder: Path

    @property
    def output(self) -> Path:
        return self.folder / OUTPUT

    @property
    def profiler(self) -> Path:
        return self.output / f"ascend_pytorch_profiler_{self.number}.db"

    @property
    def analysis(self) -> Path:
        return self.output / "analysis.db"


def ranks_of(profile: Path) -> list[Rank]:
    """The ranks of a profile, which are told by the names of their databases."""
    found = [
        Rank(int(told[1]), path.parents[1])
        for path in profile.rglob(f"{OUTPUT}/*.db")
        if (told := PROFILER.fullmatch(path.name))
    ]
    assert found, f"no rank folder in {profile}"
    return sorted(found)


def rows(database: Path, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
    """The rows of a query; nothing is written next to the database, whatever its journal is."""
    connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        return connection.execute(sql, parameters).fetchall()
    finally:
        connection.close()


def one(database: Path, sql: str, parameters: Sequence[Any] = ()) -> Any:
    """The one value of a query."""
    ((value,),) = rows(database, sql, parameters)
    return value


def tables(database: Path) -> set[str]:
    """The names of the tables, none where there is no database."""
    if not database.is_file():
        return set()
    return {name for (name,) in rows(database, "SELECT name FROM sqlite_master")}


def metadata(rank: Rank, name: str) -> Any:
    """The value of a row of META_DATA, None without one."""
    found = rows(rank.profiler, "SELECT value FROM META_DATA WHERE name = ?", [name])
    return json.loads(found[0][0]) if found else None


def group_hash(text: str) -> str:
    """The name that analysis.db gives to a communication group."""
    high = low = 0
    for letter in text:
        high = (high * 29 + ord(letter)) % 2**32
        low = (low * 131 + ord(letter)) % 2**32
    return str(high * 2**32 + low)


def named_groups(ranks: Sequence[Rank]) -> dict[str, list[int]]:
    """The global ranks of each group that ``parallel_group_info`` names, by its hash."""
    return {
        group_hash(text): sorted(group["global_ranks"])
        for rank in ranks
        for text, group in (metadata(rank, "parallel_group_info") or {}).items()
    }
