"""Files that are no profile, are damaged, or lie in odd places: one clear line, nothing touched."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from profiles import (
    COMMAND,
    OLDEST,
    change,
    clean_environment,
    condemned,
    content,
    copy_real,
    judge,
    places,
    readable,
    refused,
    rendered,
    run,
    specimen,
    state,
)
from slices import few, some

from ascend_conformance.check import check
from ascend_conformance.finding import FileReport
from ascend_simulator.specimen import Shape
from ascend_spec.db.model import Carrier

PAGE = 4096
SMALL = Shape(steps=1, operators=1, with_samples=False, with_host=False, with_stack=False)
NAME = "ascend_pytorch_profiler_0.db"

NOT_DATABASES: dict[str, bytes] = {
    "empty": b"",
    "one byte": b"S",
    "text": b"startNs,endNs\n1,2\n",
    "json": b'{"traceEvents": []}',
    "png": bytes.fromhex("89504e470d0a1a0a0000000d49484452") + bytes(200),
    "elf": b"\x7fELF" + bytes(5000),
    "random": random.Random(1).randbytes(100_000),
    "zeros": bytes(PAGE),
    "escapes": b"\x1b[2J\x1b]0;owned\x07" * 10,
    "magic only": b"SQLite format 3\0",
    "magic and zeros": b"SQLite format 3\0" + bytes(2 * PAGE),
    "header only": content("pytorch", OLDEST, SMALL)[:100],
    "page size 3": content("pytorch", OLDEST, SMALL)[:16] + b"\0\3" + bytes(3 * PAGE),
}


def test_what_is_no_database_is_named_in_one_line_each(tmp_path: Path) -> None:
    files = []
    for number, data in enumerate(NOT_DATABASES.values()):
        path = tmp_path / str(number) / NAME
        path.parent.mkdir()
        path.write_bytes(data)
        files.append(path)
    before = state(tmp_path)
    result = run(*files)
    assert state(tmp_path) == before
    lines = result.stderr.decode().splitlines()
    assert result.returncode == 2
    assert len(lines) == len(files)
    for line, path in zip(lines, files, strict=True):
        assert line.startswith(f"ascend-ref: error: {path}: ")
        assert "; expected " in line
        assert line.isprintable()


def test_a_file_cut_at_any_page_is_refused(tmp_path: Path) -> None:
    whole = content("pytorch", OLDEST, SMALL)
    path = tmp_path / NAME
    for length in range(0, len(whole), PAGE):
        path.write_bytes(whole[:length])
        assert judge(path).unreadable, length


def test_a_real_file_cut_at_any_page_is_refused(tmp_path: Path) -> None:
    path = copy_real("level1_rank1", tmp_path) / "ascend_pytorch_profiler_1.db"
    for length in range(path.stat().st_size - PAGE, -1, -PAGE):
        os.truncate(path, length)
        (file,) = check([path]).files
        assert file.unreadable, length


def test_a_file_cut_at_any_page_whose_header_hides_it_is_refused(tmp_path: Path) -> None:
    """The page count in the header is set to what is left: only the b-trees betray the loss."""
    whole = content("pytorch", OLDEST, SMALL)
    path = tmp_path / NAME
    for pages in range(1, len(whole) // PAGE):
        path.write_bytes(whole[:28] + struct.pack(">I", pages) + whole[32 : pages * PAGE])
        assert judge(path).unreadable, pages


@pytest.mark.parametrize("length", [99, 101, PAGE - 1, PAGE + 1, 5 * PAGE + 1234])
def test_a_file_cut_inside_a_page_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / NAME
    path.write_bytes(content("pytorch", OLDEST, SMALL)[:length])
    file = judge(path)
    assert file.unreadable is not None
    assert "truncated" in file.unreadable


def test_a_cut_file_is_refused_by_the_command(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    os.truncate(path, 7 * PAGE + 5)
    assert "truncated to 7 of" in refused(path, tmp_path)


def test_rows_behind_the_end_of_the_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(content("pytorch", OLDEST, SMALL) + b"trailing rubbish" * 1000)
    judge(path)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("carrier", "number"),
    [
        ("pytorch", 10),
        ("analysis", 60),
        pytest.param("pytorch", 60, marks=pytest.mark.campaign),
        pytest.param("msprof", 300, marks=pytest.mark.campaign),
        pytest.param("analysis", 180, marks=pytest.mark.campaign),
    ],
)
def test_any_spoilt_byte_gives_a_report_or_a_refusal(
    tmp_path: Path, carrier: Carrier, number: int
) -> None:
    path = specimen(tmp_path, carrier, OLDEST, SMALL)
    whole = path.read_bytes()
    draw = random.Random(20260721)
    for _ in range(number):
        offset = draw.randrange(len(whole))
        spoilt = bytes([draw.choice([0, 1, 0x7F, 0x80, 0xFF, whole[offset] ^ 0x10])])
        path.write_bytes(whole[:offset] + spoilt + whole[offset + 1 :])
        file = judge(path)
        assert file.unreadable or file.seen, offset


@pytest.mark.campaign
def test_any_spoilt_byte_of_the_schema_page_gives_a_report_or_a_refusal(tmp_path: Path) -> None:
    whole = content("analysis", OLDEST, SMALL)
    path = tmp_path / "analysis.db"
    for offset in [*range(0, 150), *range(2 * PAGE - 800, 2 * PAGE - 700)]:
        path.write_bytes(whole[:offset] + bytes([whole[offset] ^ 0xFF]) + whole[offset + 1 :])
        file = judge(path)
        assert file.unreadable or file.seen, offset


# What SQLite leaves next to a database


def test_a_log_with_rows_left_behind_is_a_violation(tmp_path: Path) -> None:
    source = specimen(tmp_path / "live")
    writer = sqlite3.connect(source, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE TASK SET startNs = startNs - 1")
    (tmp_path / "copy").mkdir()
    path = tmp_path / "copy" / NAME
    for suffix in ("", "-wal"):
        path.with_name(NAME + suffix).write_bytes(source.with_name(NAME + suffix).read_bytes())
    writer.close()
    out = condemned(path).decode()
    assert "DB001 write-ahead-log-left-behind" in out
    assert "DB003 database-in-write-ahead-mode" in out
    assert "DB505" not in out, "the rows of the log are not part of the file"


def test_a_hot_journal_is_a_violation(tmp_path: Path) -> None:
    source = specimen(tmp_path / "live")
    writer = sqlite3.connect(source, isolation_level=None)
    writer.execute("PRAGMA cache_size = 2")
    writer.execute("BEGIN")
    # More than the cache holds, so that pages of the database are written before the commit.
    writer.execute("UPDATE STRING_IDS SET value = value || hex(zeroblob(2000))")
    (tmp_path / "copy").mkdir()
    path = tmp_path / "copy" / NAME
    for suffix in ("", "-journal"):
        path.with_name(NAME + suffix).write_bytes(source.with_name(NAME + suffix).read_bytes())
    writer.execute("ROLLBACK")
    writer.close()
    file = judge(path)
    assert file.unreadable or "" in places(file, "DB002")
    path.write_bytes(source.read_bytes())
    assert "DB002 rollback-journal-left-behind" in condemned(path).decode()


@pytest.mark.parametrize("suffix", some(["-wal", "-journal", "-shm"], every=2))
@pytest.mark.parametrize("make", few(["folder", "fifo", "rubbish", "loop"], every=2))
def test_odd_things_under_the_names_of_side_files_are_harmless(
    tmp_path: Path, suffix: str, make: str
) -> None:
    path = specimen(tmp_path)
    beside = path.with_name(path.name + suffix)
    odd(beside, make)
    assert readable(path).findings == ()


def odd(path: Path, kind: str) -> None:
    """Something that is no ordinary file of the expected content."""
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    elif kind == "rubbish":
        path.write_bytes(random.Random(2).randbytes(3_000))


# Where the file is


@pytest.mark.parametrize("kind", ["folder", "fifo", "loop"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / NAME
    odd(path, kind)
    line = refused(path, tmp_path)
    assert NAME in line


def test_devices_are_refused(tmp_path: Path) -> None:
    assert "a character device" in refused(Path("/dev/null"), tmp_path)
    assert "a character device" in refused(Path("/dev/zero"), tmp_path)


def test_what_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "nothing" / NAME, tmp_path)


def test_folders_without_a_profile_are_refused(tmp_path: Path) -> None:
    assert "no msprof_*.db" in refused(tmp_path, tmp_path)
    (tmp_path / "package.json").write_text("[]")
    (tmp_path / "other.db").write_bytes(content("pytorch", OLDEST, SMALL))
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "again").symlink_to(tmp_path)
    assert "no msprof_*.db" in refused(tmp_path, tmp_path)


def test_odd_things_under_the_names_of_databases_in_a_folder_are_refused(tmp_path: Path) -> None:
    for number, kind in enumerate(("fifo", "loop", "rubbish")):
        odd(tmp_path / f"ascend_pytorch_profiler_{number}.db", kind)
    odd(tmp_path / "analysis.db", "folder")
    before = state(tmp_path)
    result = run(tmp_path)
    assert state(tmp_path) == before
    assert result.returncode == 2
    lines = result.stderr.decode().splitlines()
    assert ["a FIFO" in lines[0], "symbolic" in lines[1], "starts with" in lines[2]] == [True] * 3
    assert len(lines) == 3


AS_NOBODY = """
import contextlib, io, os, sys
from ascend_ref.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    main(["check", sys.argv[1]])  # loads everything that another user may not be allowed to load
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(main(["check", sys.argv[2]]))
"""


@pytest.mark.exhaustive
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = specimen(folder)
        command: list[str | Path] = [*COMMAND, path]
        if os.geteuid() == 0:  # nothing is forbidden to root
            folder.chmod(0o755)
            command = [sys.executable, "-c", AS_NOBODY, specimen(tmp_path), path]
        path.chmod(0)
        before = state(folder)
        result = subprocess.run(
            command, capture_output=True, check=False, timeout=60, env=clean_environment()
        )
        assert state(folder) == before
    assert result.returncode == 2
    assert result.stderr.decode() == (
        f"ascend-ref: error: {path}: no permission to read; expected a readable file\n"
    )


ODD_NAMES = [
    b"with space.db",
    b"100%25.db",
    b"what?.db",
    b"a#fragment.db",
    b"file:x?mode=rwc.db",
    b"new\nline.db",
    b"esc\x1b[31m.db",
    b"caf\xe9.db",
    b"\xff\xfe.db",
    b"quote'\".db",
    b"-leading.db",
    "‮bdtxt.db".encode(),
    b"x" * 240 + b".db",
]


@pytest.mark.parametrize("name", few(ODD_NAMES, every=3), ids=lambda name: ascii(name)[:24])
def test_file_names_of_any_bytes_are_judged(tmp_path: Path, name: bytes) -> None:
    path = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))
    path.write_bytes(content("pytorch", OLDEST, SMALL))
    file = readable(path)
    assert [finding.rule for finding in file.findings] == ["DB005"]
    assert file.file.isprintable()
    rendered(file)


@pytest.mark.exhaustive
def test_file_names_of_any_bytes_are_judged_by_the_command(tmp_path: Path) -> None:
    paths = [os.path.join(os.fsencode(tmp_path), name) for name in ODD_NAMES]
    for path in paths:
        Path(os.fsdecode(path)).write_bytes(content("pytorch", OLDEST, SMALL))
    before = state(tmp_path)
    for extra in ([], ["--format", "json"]):
        result = run(*extra, *paths)
        assert state(tmp_path) == before
        assert (result.returncode, result.stderr) == (0, b"")
    assert len(json.loads(result.stdout)["files"]) == len(ODD_NAMES)


@pytest.mark.parametrize("digits", ["9" * 16, "0" * 16])
def test_ranks_of_any_size_in_the_file_name_are_judged(tmp_path: Path, digits: str) -> None:
    path = tmp_path / f"ascend_pytorch_profiler_{digits}.db"
    path.write_bytes(content("pytorch", OLDEST, SMALL))
    readable(path)


def test_a_rank_beyond_64_bits_in_the_file_name_is_judged(tmp_path: Path) -> None:
    path = tmp_path / f"msmonitor_1_{'1' * 17}_{'9' * 200}.db"
    path.write_bytes(content("msprof", OLDEST, SMALL))
    readable(path)


# What lies next to the file

Hostile = Callable[[Path], None]


def _text(text: str | bytes) -> Hostile:
    def write(path: Path) -> None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    return write


PROFILER_INFOS: dict[str, Hostile] = {
    "nested arrays": _text("[" * 200_000),
    "nested objects": _text('{"config":' * 100_000 + "1" + "}" * 100_000),
    "a list": _text("[]"),
    "a number": _text("1e999"),
    "empty": _text(""),
    "not UTF-8": _text(b'{"rank_id": "\xff\xfe\x00"}'),
    "UTF-16": _text('{"rank_id": 0}'.encode("utf-16")),
    "rank of 5,000 digits": _text('{"rank_id": "' + "9" * 5_000 + '"}'),
    "rank beyond 64 bits": _text('{"rank_id": ' + "9" * 30 + "}"),
    "rank with two signs": _text('{"rank_id": "--5"}'),
    "rank is infinite": _text('{"rank_id": Infinity}'),
    "rank is true": _text('{"rank_id": true}'),
    "rank is a list": _text('{"rank_id": [0]}'),
    "config is text": _text('{"config": "x"}'),
    "level is text of a superscript": _text(
        '{"config": {"experimental_config": {"_profiler_level": "Level²"}}}'
    ),
    "level is a number": _text('{"config": {"experimental_config": {"_profiler_level": 1}}}'),
    "level is long": _text(
        '{"config": {"experimental_config": {"_profiler_level": "' + "x" * 100_000 + '"}}}'
    ),
    "level holds escapes": _text(
        '{"config": {"experimental_config": {"_profiler_level": "\\u001b[31m\\u202e\\ud800"}}}'
    ),
    "a folder": lambda path: odd(path, "folder"),
    "a FIFO": lambda path: odd(path, "fifo"),
    "a loop": lambda path: odd(path, "loop"),
    "endless": lambda path: odd(path, "endless"),
}


@pytest.mark.parametrize("kind", some(PROFILER_INFOS, every=6))
def test_a_hostile_profiler_info_is_harmless(tmp_path: Path, kind: str) -> None:
    path = specimen(tmp_path)
    PROFILER_INFOS[kind](tmp_path / "profiler_info_0.json")
    rendered(readable(path))


def test_a_hostile_profiler_info_does_not_stop_the_command(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    PROFILER_INFOS["a FIFO"](tmp_path / "profiler_info_0.json")
    result = run(path)
    assert (result.returncode, result.stderr) == (0, b"")


def test_a_profiler_info_of_many_gigabytes_is_not_read(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    with (tmp_path / "profiler_info_0.json").open("wb") as file:
        file.truncate(1 << 36)
    started = time.monotonic()
    (report,) = check([path]).files
    assert report.unreadable is None
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "damage", ["rubbish", "cut", "fifo", "folder", "loop", "spoilt", "no profile"]
)
def test_an_analysis_is_judged_beside_a_broken_profiler_database(
    tmp_path: Path, damage: str
) -> None:
    path = specimen(tmp_path, "analysis")
    profiler = tmp_path / NAME
    whole = bytearray(content("pytorch", OLDEST))
    if damage == "cut":
        profiler.write_bytes(whole[: 8 * PAGE])
    elif damage == "spoilt":
        whole[10 * PAGE : 20 * PAGE] = bytes(10 * PAGE)
        profiler.write_bytes(whole)
    elif damage == "no profile":
        change(profiler, "CREATE TABLE notes (text)")
    else:
        odd(profiler, damage)
    file = readable(path)
    assert [finding for finding in file.findings if finding.verdict == "violation"] == []
    unread = [skip for skip in file.skipped if "no readable profiler database" in skip.reason]
    assert bool(unread) == (damage != "no profile")


def test_the_broken_profiler_database_is_told_once_by_the_command(tmp_path: Path) -> None:
    specimen(tmp_path, "analysis")
    odd(tmp_path / NAME, "rubbish")
    line = refused(tmp_path, tmp_path)
    assert NAME in line


@pytest.mark.exhaustive
def test_a_report_is_not_written_over_the_judged_file(tmp_path: Path) -> None:
    path = specimen(tmp_path)
    link = tmp_path / "link.json"
    link.hardlink_to(path)
    for target in (path, link):
        line = refused(path, tmp_path, "--report", f"json={target}")
        assert "judged file" in line


def test_all_formats_stay_small_and_clean_for_refused_files(tmp_path: Path) -> None:
    files: list[FileReport] = []
    for number, data in enumerate(NOT_DATABASES.values()):
        path = tmp_path / f"\x1b[31m‮{number}.db"
        path.write_bytes(data)
        files.extend(check([path]).files)
    rendered(files[0])
    for file in files:
        assert file.unreadable is not None
        assert file.unreadable.isprintable()
