"""What the tests of the checker share: profiles to damage, and ways to have them judged."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import apsw
import pytest
from forked_command import run_forked

from ascend_conformance.check import check
from ascend_conformance.finding import FileReport, Finding, Report
from ascend_conformance.media import load_rules
from ascend_conformance.media.db.selftest import file_name, make_specimen
from ascend_conformance.options import Options
from ascend_conformance.report import FORMATS
from ascend_conformance.report.html import LARGEST
from ascend_simulator.specimen import Shape
from ascend_spec.db.model import Carrier

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "db"
OLDEST, NEWEST = "1.0.0-2025-01", "1.2.0-2026-07"
REPORT_BYTES = 50_000
SLOW = 20.0
"""Seconds that no small file may take, however loaded the machine: the sign of a hang."""

COMMAND = [sys.executable, "-m", "ascend_ref", "check"]
SWITCHES = {"NO_COLOR", "FORCE_COLOR", "ASCEND_REF_DEBUG", "PYTHONUNBUFFERED", "COLUMNS"}


def real(name: str) -> Path:
    """A real profile or its folder, or a skip where the shared folder is absent."""
    path = REAL / name
    if not path.exists():
        pytest.skip(f"needs the real profiles of {REAL}")
    return path


def copy_real(folder: str, into: Path) -> Path:
    """A writable copy of a real rank folder, without what SQLite left next to the databases."""
    target = into / folder
    target.mkdir()
    for file in sorted(real(folder).iterdir()):
        if not file.name.endswith(("-shm", "-wal")):
            shutil.copyfile(file, target / file.name)
    return target


@cache
def content(carrier: Carrier, revision: str, shape: Shape | None = None) -> bytes:
    """The bytes of a clean specimen."""
    return make_specimen(carrier, revision, shape).content


def specimen(
    folder: Path, carrier: Carrier = "pytorch", revision: str = NEWEST, shape: Shape | None = None
) -> Path:
    """A clean specimen under the name that readers look for."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(carrier)
    path.write_bytes(content(carrier, revision, shape))
    return path


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """A writing connection, in one transaction, without waiting for the disk."""
    connection = apsw.Connection(str(path))
    try:
        connection.execute("PRAGMA synchronous = OFF")
        with connection:
            yield connection
    finally:
        connection.close()


def change(path: Path, *statements: str) -> Path:
    """The database after the statements."""
    with opened(path) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def edit_schema(path: Path, *statements: str) -> Path:
    """The database after statements on ``sqlite_schema`` itself."""
    connection = apsw.Connection(str(path))
    try:
        connection.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()
    return path


def state(folder: Path) -> Mapping[str, tuple[int, int, int, str]]:
    """Mode, size, time of change and hash of everything in a folder, nothing opened but files."""
    found: dict[str, tuple[int, int, int, str]] = {}
    for place, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(place) / name
            told = path.lstat()
            regular = stat.S_ISREG(told.st_mode) and told.st_mode & 0o400
            digest = hashlib.sha256(path.read_bytes()).hexdigest() if regular else ""
            found[str(path)] = (told.st_mode, told.st_size, told.st_mtime_ns, digest)
    return found


def digest_of(folder: Path) -> str:
    """A hash of the names and bytes of all files in a folder: what a verdict on it follows from."""
    found = hashlib.sha256()
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        content = path.read_bytes()
        found.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def judge(path: Path, options: Options | None = None) -> FileReport:
    """The verdict on one database, which must leave its folder alone and take no time."""
    before = state(path.parent)
    started = time.process_time()
    report = check([path], options)
    assert time.process_time() - started < SLOW
    assert state(path.parent) == before
    (file,) = report.files
    if file.unreadable is not None:
        assert file.unreadable.isprintable(), file.unreadable
    return file


def readable(path: Path, options: Options | None = None) -> FileReport:
    """The verdict on a database that can be judged, whatever its rows hold."""
    file = judge(path, options)
    assert file.unreadable is None, file.unreadable
    failed = [one.message for one in file.findings if one.verdict == "failure"]
    assert not failed, failed
    return file


def rendered(*files: FileReport) -> dict[str, bytes]:
    """The report in every format, each within its bound and the text free of control characters."""
    report = Report(files, "0", "observed")
    found = {kind: render(report, load_rules()).encode() for kind, render in FORMATS.items()}
    bound = {kind: LARGEST if kind == "html" else REPORT_BYTES for kind in found}
    assert {kind: len(text) for kind, text in found.items() if len(text) > bound[kind]} == {}
    for kind in ("text", "github", "markdown"):
        lines = found[kind].decode().split("\n")
        assert [line for line in lines if not line.isprintable()] == [], kind
    return found


def places(file: FileReport, rule: str) -> dict[str, Finding]:
    """The findings of one rule by their place."""
    return {finding.place: finding for finding in file.findings if finding.rule == rule}


def clean_environment() -> dict[str, str]:
    """The environment without what would change the outcome."""
    return {name: value for name, value in os.environ.items() if name not in SWITCHES}


def run(
    *words: str | Path | bytes, cwd: Path | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """``ascend-ref check`` as a process of its own; a hang fails the test."""
    return run_forked(["check", *words], clean_environment(), cwd, timeout)


def refused(path: Path | bytes, folder: Path, *words: str) -> str:
    """The one line on stderr with which the command says that it could not judge ``path``."""
    before = state(folder)
    result = run(path, *words)
    assert state(folder) == before
    assert result.returncode == 2, result
    assert b"Traceback" not in result.stdout + result.stderr
    line = result.stderr.decode()
    assert line.startswith("ascend-ref: error: "), line
    assert line.endswith("\n")
    assert line[:-1].isprintable(), line
    assert len(result.stdout) <= REPORT_BYTES
    return line[:-1]


def condemned(path: Path) -> bytes:
    """What the command prints on stdout about a file that it finds faults in."""
    before = state(path.parent)
    result = run(path)
    assert state(path.parent) == before
    assert result.returncode == 1, result
    assert result.stderr == b""
    assert len(result.stdout) <= REPORT_BYTES
    return result.stdout
