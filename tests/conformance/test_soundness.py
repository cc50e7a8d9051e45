"""Damage of a large database is stated as that of a small one, whatever is done meanwhile."""

from __future__ import annotations

import random
import struct
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer

import apsw
import pytest
from engine_trials import quick
from hypothesis import given
from hypothesis import strategies as st
from profiles import change, specimen

from ascend_conformance.check import check
from ascend_conformance.discover import discover
from ascend_conformance.finding import FileReport
from ascend_conformance.media import load_rules
from ascend_conformance.media.db import opening, soundness
from ascend_conformance.media.db import session as sessions
from ascend_conformance.media.db.damaging import damage_database
from ascend_conformance.media.db.soundness import sound_meanwhile
from ascend_conformance.options import Options
from ascend_ref.db.header import UnreadableDatabase
from ascend_ref.db.open import open_readonly, require_sound_pages

INTERIOR = 5
"""Type of a page of a table that names other pages. Source: sqlite.org/fileformat2.html 1.6."""


@pytest.fixture
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(sessions, "PARALLEL_BYTES", 0)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return specimen(tmp_path_factory.mktemp("sound")).read_bytes()


def verdict(path: Path, workers: int) -> FileReport:
    [report] = check([path], Options(workers=workers)).files
    return replace(report, seconds=0.0)


@quick(max_examples=12)
@given(seed=st.integers(0, 1 << 30), changes=st.integers(1, 6))
def test_damage_is_stated_alike(
    sound: bytes, tmp_path_factory: pytest.TempPathFactory, seed: int, changes: int
) -> None:
    draw = random.Random(seed)
    content = bytearray(sound)
    for _ in range(changes):
        content[draw.randrange(100, len(content))] = draw.randrange(256)
    path = tmp_path_factory.mktemp("damaged") / "ascend_pytorch_profiler_0.db"
    path.write_bytes(content)
    alone = verdict(path, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "PARALLEL_BYTES", 0)
        patch.setattr(sessions, "PARALLEL_BYTES", 0)
        assert verdict(path, 2) == alone


def endless(folder: Path) -> Path:
    """A table whose scan reads one page again and again: each of eight levels names the next one
    four hundred times.
    """
    many = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 2000)"
    rows = f"INSERT INTO TASK SELECT t.* FROM TASK t, ({many} SELECT i FROM n)"
    path = change(specimen(folder), "DROP INDEX TaskIndex", rows)
    with closing(apsw.Connection(str(path))) as connection:
        [(root,)] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'TASK'")
    content = bytearray(path.read_bytes())
    (size,) = struct.unpack_from(">H", content, 16)
    begin = (root - 1) * size
    assert content[begin] == INTERIOR
    (children,) = struct.unpack_from(">H", content, begin + 3)
    cells = struct.unpack_from(f">{children}H", content, begin + 12)
    pages = [struct.unpack_from(">I", content, begin + cell)[0] for cell in cells]
    levels = pages[:9]
    for page, below in zip([root, *levels[:-1]], levels, strict=True):
        at, names = (page - 1) * size, 400
        starts = [size - 5 * (number + 1) for number in range(names)]
        header = struct.pack(">BHHHBI", INTERIOR, 0, names, starts[-1], 0, below)
        content[at : at + size] = bytes(size)
        content[at : at + 12] = header
        struct.pack_into(f">{names}H", content, at + 12, *starts)
        for start in starts:
            content[at + start : at + start + 5] = struct.pack(">IB", below, 1)
    path.write_bytes(content)
    return path


def test_a_scan_that_never_ends_is_interrupted(tmp_path: Path, every_file_is_large: None) -> None:
    path = endless(tmp_path)
    connection = open_readonly(path)
    Timer(1, connection.interrupt).start()
    with pytest.raises(apsw.InterruptError):
        connection.execute("SELECT count(*) FROM TASK")
    connection.close()
    found = verdict(path, 2)
    assert found == verdict(path, 1)
    assert "damaged" in (found.unreadable or "")


def test_damage_comes_before_whatever_it_led_to(tmp_path: Path) -> None:
    path = endless(tmp_path)
    connection = open_readonly(path)
    stop = Event()

    def scan() -> None:
        with sound_meanwhile(path, connection, stop):
            connection.execute("SELECT count(*) FROM TASK")

    with pytest.raises(UnreadableDatabase, match="damaged"):
        scan()
    assert stop.is_set()
    connection.close()


def test_what_goes_wrong_in_a_sound_file_is_raised_as_it_is(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    connection = open_readonly(path)

    def ask() -> None:
        with sound_meanwhile(path, connection, Event()) as wait:
            wait()
            connection.execute("SELECT nothing")

    with pytest.raises(apsw.SQLError):
        ask()
    connection.close()


@pytest.mark.usefixtures("every_file_is_large")
def test_a_file_is_looked_at_before_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = specimen(tmp_path)
    is_changed = []

    def slow(own: apsw.Connection, file: Path) -> None:
        before = file.read_bytes()
        time.sleep(0.3)
        is_changed.append(file.read_bytes() != before)
        require_sound_pages(own, file)

    for module in (opening, soundness):
        monkeypatch.setattr(module, "require_sound_pages", slow)
    [candidate] = discover(path)
    assert damage_database(candidate, load_rules()["DB403"], None)
    assert is_changed == [False]


def test_ctrl_c_ends_the_look_at_the_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = specimen(tmp_path)
    begun, stop = Event(), Event()

    def slow(own: apsw.Connection, _path: Path) -> None:
        begun.set()
        numbers = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)"
        own.execute(f"{numbers} SELECT sum(i) FROM n")

    monkeypatch.setattr(soundness, "require_sound_pages", slow)
    connection = open_readonly(path)

    def wait() -> None:
        with sound_meanwhile(path, connection, stop):
            assert begun.wait(10)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait()
    assert stop.is_set()
    connection.close()
