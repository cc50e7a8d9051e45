"""A database opened for judgement, with the databases that lie next to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.display import show_path
from ascend_ref.db.open import (
    UnreadableDatabase,
    attach_readonly,
    open_readonly,
    quick_check,
    read_examples,
)
from ascend_spec import layout_catalog

from ...engine.candidate import Candidate, Listing
from ...options import Options
from .session import Session, read_profiler_info, start
from .sql import register

GENERATED_COLUMNS = (
    "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_xinfo(s.name) c "
    "WHERE s.type = 'table' AND s.sql LIKE '%AS%(%' AND s.sql NOT LIKE 'CREATE VIRTUAL%' "
    "AND c.hidden IN (2, 3)"
)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What lies next to a database: others by carrier, and the document about the capture."""

    companions: Mapping[str, Path] = field(default_factory=dict)
    profiler_info: Path | None = None

    def anywhere(self) -> Neighbours:
        """The same, with paths that do not depend on the working directory."""
        return Neighbours(
            {carrier: path.absolute() for carrier, path in self.companions.items()},
            self.profiler_info and self.profiler_info.absolute(),
        )


def candidate(path: Path, listing: Listing) -> Candidate:
    """A file as a database of its folder."""
    first = {
        carrier: next((one for one in paths if one != path), None)
        for carrier, paths in listing.fact("databases", databases).items()
    }
    neighbours = Neighbours(
        {carrier: one for carrier, one in first.items() if one},
        listing.fact("profiler_info", _profiler_info),
    )
    return Candidate("db", path, details=neighbours, absolute=Neighbours.anywhere)


def databases(listing: Listing) -> Mapping[str, tuple[Path, ...]]:
    """The first two databases of each carrier in a folder, by their names."""
    found: dict[str, list[Path]] = {}
    for path in listing.paths:
        carrier, _ = carrier_of_name(path.name)
        if carrier and path.is_file():
            found.setdefault(carrier, []).append(path)
    return {carrier: tuple(paths[:2]) for carrier, paths in found.items()}


def _profiler_info(listing: Listing) -> Path | None:
    above = Listing(listing.folder.parent)
    for place in (listing, above):
        for path in place.paths:
            if layout_catalog().is_file("profiler_info", path.name):
                return path
    return None


@contextmanager
def open_session(candidate: Candidate, options: Options) -> Iterator[Session]:
    """The database, its pages checked, opened with the databases that lie next to it."""
    neighbours: Neighbours = candidate.details or Neighbours()
    with ExitStack() as stack:
        connection = stack.enter_context(closing(open_readonly(candidate.path)))
        register(connection)
        _require_sound(connection, candidate.path)
        info = read_profiler_info(neighbours.profiler_info) if neighbours.profiler_info else None
        profiler = _profiler_of(candidate, connection, options, stack)
        yield start(candidate.label, candidate.path, connection, options.reading, info, profiler)


def _require_sound(connection: apsw.Connection, path: Path) -> None:
    """Raise ``UnreadableDatabase`` for what must not be read further.

    The check of the pages would run the expression of a generated column for every row, whatever
    it costs; no exporter and no viewer has ever declared one.
    """
    computed = read_examples(connection, GENERATED_COLUMNS, columns=2, rows=1)
    if computed:
        place = ".".join(map(str, computed[0]))
        raise UnreadableDatabase(path, f"{place} is a generated column; expected stored columns")
    damage = quick_check(connection)
    if damage:
        raise UnreadableDatabase(path, f"damaged: {damage}; expected sound pages")


def _profiler_of(
    candidate: Candidate, analysis: apsw.Connection, options: Options, stack: ExitStack
) -> Session | None:
    """The profiler database next to an analysis.db, recognised and attached, if it is sound.

    It is judged on its own as well, and what is wrong with it is said there.
    """
    path = (candidate.details or Neighbours()).companions.get("pytorch")
    if path is None or carrier_of_name(candidate.path.name)[0] != "analysis":
        return None
    try:
        connection = stack.enter_context(closing(open_readonly(path)))
        register(connection)
        _require_sound(connection, path)
        profiler = start(show_path(path), path, connection, options.reading)
        attach_readonly(analysis, path, "profiler")
    except (UnreadableDatabase, apsw.Error):
        return None
    return profiler
