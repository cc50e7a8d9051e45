"""A database opened for judgement, with the databases that lie next to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import apsw

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.display import show_path
from ascend_ref.db.open import (
    UnreadableDatabase,
    attach_readonly,
    open_readonly,
    require_sound,
    require_sound_pages,
    require_stored,
)
from ascend_spec import layout_catalog

from ...engine.candidate import Candidate, Listing
from ...options import PARALLEL_BYTES, Options
from .documents import SideDocument, read_document
from .session import Session, start
from .soundness import sound_meanwhile
from .sql import register

ABOUT = ("profiler_info", "profiler_metadata")
"""Documents about a capture."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What lies next to a database: others by carrier, and the documents about the capture.

    ``others_judge``: those are judged with the text files of the folder.
    """

    companions: Mapping[str, Path] = field(default_factory=dict)
    documents: tuple[Path, ...] = ()
    others_judge: bool = False

    def anywhere(self) -> Neighbours:
        """The same, with paths that do not depend on the working directory."""
        return Neighbours(
            {carrier: path.absolute() for carrier, path in self.companions.items()},
            tuple(path.absolute() for path in self.documents),
            self.others_judge,
        )


def candidate(path: Path, listing: Listing) -> Candidate:
    """A file as a database of its folder."""
    first = {
        carrier: next((one for one in paths if one != path), None)
        for carrier, paths in listing.fact("databases", databases).items()
    }
    neighbours = Neighbours(
        {carrier: one for carrier, one in first.items() if one},
        (*_documents(listing), *_documents(listing.above)),
        listing.fact("texts", _has_texts),
    )
    return Candidate("db", path, details=neighbours, absolute=Neighbours.anywhere)


def databases(listing: Listing) -> Mapping[str, tuple[Path, ...]]:
    """The first two databases of each carrier in a folder, by their names."""
    found: dict[str, list[Path]] = {}
    for path, match in listing.matches:
        if match.file.carrier and path.is_file():
            found.setdefault(match.file.carrier, []).append(path)
    return {carrier: tuple(paths[:2]) for carrier, paths in found.items()}


def _documents(listing: Listing) -> tuple[Path, ...]:
    return listing.fact("documents", _find_documents)


def _find_documents(listing: Listing) -> tuple[Path, ...]:
    """The documents about a capture in a folder, the first of each kind; profiler_info first."""
    is_file = layout_catalog().is_file
    first = (
        next((one for one in listing.paths if is_file(name, one.name)), None) for name in ABOUT
    )
    return tuple(filter(None, first))


def _has_texts(listing: Listing) -> bool:
    own = [match.file for _, match in listing.matches if match.file.kind not in (None, "database")]
    return any(file.id not in ABOUT for file in own)


@contextmanager
def open_session(
    candidate: Candidate, options: Options, *, looks_meanwhile: bool = False
) -> Iterator[Session]:
    """The database, its pages looked at, opened with those that lie next to it.

    ``looks_meanwhile``: the pages of a large one may be looked at while the caller reads it, who
    changes nothing and waits for :attr:`Session.require_sound` before it relies on any row.
    """
    neighbours: Neighbours = candidate.details or Neighbours()
    with ExitStack() as stack:
        connection = stack.enter_context(closing(open_readonly(candidate.path)))
        register(connection)
        require_stored(connection, candidate.path)
        stop = Event()
        looking = None
        if looks_meanwhile and options.workers > 1 and candidate.size >= PARALLEL_BYTES:
            looking = stack.enter_context(sound_meanwhile(candidate.path, connection, stop))
        else:
            require_sound_pages(connection, candidate.path)
        documents = tuple(map(read_document, neighbours.documents))
        profiler = _profiler_of(candidate, connection, options, stack)
        info = _profiler_info(neighbours, documents)
        session = start(
            *(candidate.label, candidate.path, connection, options.reading, info, profiler),
            judged_by=options.judged_by("revision"),
        )
        session.stop = stop
        session.require_sound = looking or session.require_sound
        if profiler is None and not neighbours.others_judge:
            session.documents = documents
        yield session


def _profiler_info(
    neighbours: Neighbours, documents: Sequence[SideDocument]
) -> Mapping[str, Any] | None:
    """The object of the first profiler_info that is one."""
    named = zip(neighbours.documents, documents, strict=True)
    found = (one.value for path, one in named if layout_catalog().is_file(ABOUT[0], path.name))
    return next(filter(None, found), None)


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
        require_sound(connection, path)
        profiler = start(
            *(show_path(path), path, connection, options.reading),
            judged_by=options.judged_by("revision"),
        )
        attach_readonly(analysis, path, "profiler")
    except (UnreadableDatabase, apsw.Error):
        return None
    return profiler
