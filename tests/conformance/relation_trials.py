"""What the tests of relations share: one simulated recording, and each medium of it to change."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from ascend_conformance.discover import discover
from ascend_conformance.engine.relations.binding import Unjudged
from ascend_conformance.engine.relations.edits import CannotShow, Changed, Editable, change
from ascend_conformance.engine.relations.judge import Answer, ask
from ascend_conformance.engine.relations.rule import Edit, Relation
from ascend_conformance.media.db.edits import EditableDatabase
from ascend_conformance.media.db.session import start
from ascend_conformance.media.db.sql import register
from ascend_conformance.media.text.database import open_facts
from ascend_conformance.media.text.edits import EditableFiles
from ascend_conformance.media.text.folder import read_folder
from ascend_ref.cli import main
from ascend_spec.recording import Medium

PRESET = "text-museum"
"""Its recording has rows for every relation but those of several devices."""


def simulate(into: Path) -> Path:
    """The profile of the first rank, with its database and its text files."""
    return Path(shutil.copytree(_simulated(), into / _simulated().name))


@cache
def _simulated() -> Path:
    """The profile, written once for all modules of a process."""
    place = TemporaryDirectory(prefix=".ascend-ref-")
    atexit.register(place.cleanup)
    folder = Path(place.name) / "run"
    arguments = ["simulate", PRESET, "--as", "pytorch-db,pytorch-text"]
    assert main([*arguments, "--output", str(folder)]) == 0
    return min(one for one in folder.iterdir() if one.is_dir())


def database_of(profile: Path) -> Path:
    """The database of a profile."""
    return next(profile.rglob("ascend_pytorch_profiler_*.db"))


@dataclass
class Trial:
    """One medium whose cells can be changed and put back."""

    shown: Editable
    begin: str
    end: str

    def execute(self, statement: str) -> None:
        if isinstance(self.shown, EditableDatabase):
            self.shown.connection.execute(statement)
        else:
            assert isinstance(self.shown, EditableFiles)
            self.shown.facts.connection.execute(statement)

    @contextmanager
    def changed(self, relation: Relation, *edits: Edit) -> Iterator[list[Changed | Unjudged]]:
        """The medium after the edits of a relation, put back at the end."""
        self.execute(self.begin)
        try:
            yield [change(relation, edit, self.shown) for edit in edits]
        finally:
            self.execute(self.end)

    def ask(self, relation: Relation) -> Answer | Unjudged:
        return ask(relation, self.shown)


@contextmanager
def opened(profile: Path, medium: Medium) -> Iterator[Trial]:
    """One medium of a profile alone: its database, its CSV files, or its timeline."""
    if medium == "database":
        connection = apsw.Connection(":memory:")
        connection.deserialize("main", database_of(profile).read_bytes())
        register(connection)
        shown = EditableDatabase(start("database", None, connection, "observed"), connection)
        yield Trial(shown, "SAVEPOINT trial", "ROLLBACK TO trial; RELEASE trial")
        return
    files = next(one.details.deliverables for one in discover(profile) if one.medium == "text")
    with open_facts() as facts:
        folder = read_folder(facts, [one for one in files if one.kind == medium])
        writers = {folder.files[number].name: folder.writers[number] for number in folder.csv}
        yield Trial(EditableFiles(facts, writers), "BEGIN", "ROLLBACK")


__all__ = ["CannotShow", "Trial", "database_of", "opened", "simulate"]
