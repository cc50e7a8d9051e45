"""Checks of the file itself and of what SQLite left next to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.side_files import side_files

from ..session import Session
from . import Check, Fault, Places


def _write_ahead_log(session: Session, _places: Places) -> Iterator[Fault]:
    left = side_files(session.path) if session.path else None
    if left and left.wal_frames:
        what = f"a write-ahead log with {left.wal_frames:,} committed pages lies next to the file"
        yield Fault(what, context={"frames": left.wal_frames})


def _rollback_journal(session: Session, _places: Places) -> Iterator[Fault]:
    left = side_files(session.path) if session.path else None
    if left and left.hot_journal_bytes:
        size = left.hot_journal_bytes
        what = f"a rollback journal of {size:,} bytes lies next to the file"
        yield Fault(what, context={"bytes": size})


def _longer_than_pages(session: Session, _places: Places) -> Iterator[Fault]:
    if session.path is None:
        return
    size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    further = session.path.stat().st_size - int(session.connection.execute(size).get)
    if further > 0:
        what = f"{further:,} bytes follow the last page of the database"
        yield Fault(what, context={"bytes": further})


def _side_document(session: Session, _places: Places) -> Iterator[Fault]:
    for document in session.documents:
        if document.fault:
            yield Fault(f"{document.label}: {document.fault}", context={"file": document.label})


def _write_ahead_mode(session: Session, _places: Places) -> Iterator[Fault]:
    if session.physical.journal_mode == "wal":
        yield Fault("the database header asks for write-ahead logging")


def _text_encoding(session: Session, _places: Places) -> Iterator[Fault]:
    found = session.physical.encoding
    if found != "UTF-8":
        yield Fault(f"texts are stored as {found}")


def _file_name(session: Session, _places: Places) -> Iterator[Fault]:
    if session.path and carrier_of_name(session.path.name)[0] != session.schema.carrier:
        what = f"no reader takes this file name for a database of {session.schema.carrier}"
        yield Fault(what)


def _user_version(session: Session, _places: Places) -> Iterator[Fault]:
    stamp = session.physical.user_version
    if stamp:
        yield Fault(f"user_version is {stamp}", context={"user_version": stamp})


def _schema_version(session: Session, _places: Places) -> Iterator[Fault]:
    stated, revision = session.identity.schema_version, session.schema.revision
    consistent = session.identity.schema_version_consistent
    if stated is not None and consistent and stated != revision.schema_version:
        what = f"SCHEMA_VERSION is {stated}, tables, columns and enums are those of {revision.id}"
        yield Fault(what, "META_DATA", "value", revision.schema_version)


CHECKS: Mapping[str, Check] = {
    "write-ahead-log": _write_ahead_log,
    "rollback-journal": _rollback_journal,
    "longer-than-pages": _longer_than_pages,
    "side-document": _side_document,
    "write-ahead-mode": _write_ahead_mode,
    "text-encoding": _text_encoding,
    "file-name": _file_name,
    "user-version": _user_version,
    "schema-version": _schema_version,
}
