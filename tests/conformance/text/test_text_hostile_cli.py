"""Hostile text through the command line: few clear lines, the right exit code, and no hang."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from slices import some

from ascend_conformance.compare.agreement import Agreement
from ascend_conformance.engine.work import NoAnswer, Uncomputable
from ascend_conformance.media.text import agreeing, database, judge
from ascend_conformance.media.text.database import open_facts
from ascend_conformance.media.text.queries import limited
from ascend_conformance.media.text.sources import Sources
from ascend_ref.cli import main

HEADER = b"Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\r\n"
ROW = b"host,acl,x,1.0,1,1.0,1.0,1.0,0\r\n"
EVENT = {"name": "x", "ph": "X", "pid": 1, "tid": 1, "ts": "1.500", "dur": 1}
TRACE = json.dumps([EVENT] * 3).encode()
NO_HEADER = "The file has no header that can be read"
NO_TIME = "The time of an event is no decimal number of microseconds"

FILES: Sequence[tuple[str, str, bytes, int, str]] = (
    ("header-only", "api_statistic.csv", HEADER, 0, "conforms"),
    ("no-line-end", "api_statistic.csv", HEADER + ROW.strip(), 0, "conforms"),
    ("utf-16", "api_statistic.csv", (HEADER + ROW).decode().encode("utf-16"), 1, NO_HEADER),
    ("utf-16-bare", "api_statistic.csv", HEADER.decode().encode("utf-16-be"), 1, NO_HEADER),
    ("zero-byte", "api_statistic.csv", b"\0" + HEADER + ROW, 1, NO_HEADER),
    ("columns", "api_statistic.csv", b"c," * 100_000 + b"c\r\n", 1, NO_HEADER),
    ("one-line", "api_statistic.csv", b"x" * 17_000_000, 1, NO_HEADER),
    ("returns", "api_statistic.csv", (HEADER + ROW).replace(b"\n", b""), 1, NO_HEADER),
    ("2^63", "api_statistic.csv", HEADER + ROW.replace(b",1,", b",%d," % (1 << 63)), 1, "Count: A"),
    ("empty", "api_statistic.csv", b"", 1, NO_HEADER),
    ("ts-2^63", "trace_view.json", TRACE.replace(b'"1.500"', b"%d" % (1 << 63)), 1, NO_TIME),
    ("text-2^63", "trace_view.json", TRACE.replace(b"1.500", b"%d.000" % (1 << 63)), 1, NO_TIME),
    ("negative", "trace_view.json", TRACE.replace(b'"dur": 1', b'"dur": -7'), 1, "negative length"),
    ("zero-byte", "trace_view.json", TRACE.replace(b'"x"', b'"\0"'), 1, "control character 0x00"),
    ("utf-16-bare", "trace_view.json", TRACE.decode().encode("utf-16-le"), 1, "UTF-16"),
    ("nested", "trace_view.json", b'[{"args": ' + b'{"a":' * 100_000, 1, "nested deeper"),
    ("utf-16", "communication.json", '{"step1": {}}'.encode("utf-16"), 1, "UTF-16"),
    ("doubled", "communication.json", b'{"step1": {}, "step1": {"p2p": {}}}', 1, "/collective: A"),
    ("nested", "communication.json", b'{"step1": ' * 100_000, 1, "nested deeper"),
    ("empty", "communication.json", b"", 1, "the file ends where a value is expected"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "code", "told"),
    some([entry[1:] for entry in FILES], every=6),
    ids=[f"{entry[1]}-{entry[0]}" for entry in FILES],
)
def test_a_hostile_file(
    name: str,
    content: bytes,
    code: int,
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert main(["check", str(path), "--select", "CSV,TRC,DOC"]) == code
    out, err = capsys.readouterr()
    assert err == ""
    assert told in " ".join(out.split())
    assert len(out) < 4_000


def test_what_is_no_file_or_nothing_to_judge_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder" / "trace_view.json").mkdir(parents=True)
    (tmp_path / "folder" / "again").symlink_to(tmp_path / "folder")
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    (tmp_path / "nothing.bin").write_bytes(b"nothing")
    (tmp_path / "nothing.csv").touch()
    (tmp_path / "notes.txt").write_text("hello")
    os.mkfifo(tmp_path / "pipe.csv")
    for name, told in {
        "empty": "no msprof_*.db, ",
        "folder": "no msprof_*.db, ",
        "folder/trace_view.json": "no msprof_*.db, ",
        "a.csv": "Too many levels of symbolic links; expected a readable file",
        "nothing.bin": "; expected a visualize_data.bin",
        "nothing.csv": "an empty file of 0 bytes; expected msprof_*.db, ",
        "notes.txt": "starts with b'hello'; expected msprof_*.db, ",
        "absent.json": "no such file; expected msprof_*.db, ",
        "pipe.csv": "a FIFO; expected a regular file",
    }.items():
        assert main(["check", str(tmp_path / name)]) == 2, name
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"ascend-ref: error: {tmp_path / name}: "), name
        assert told in line
        if "expected msprof" in line:
            for kind in ("CSV file", "timeline", "visualize_data*.bin", "a folder"):
                assert kind in line


def test_no_report_shows_a_name_as_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "<script>alert(1)</script>\x1b[31m\u202e"
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps([{**EVENT, "name": name, "dur": -7}]))
    for form in ("markdown", "junit", "github", "text"):
        assert main(["check", str(path), "--select", "TRC", "--format", form]) == 1
        out = capsys.readouterr().out
        assert "alert(1)" in out
        assert "\x1b" not in out
        assert "\u202e" not in out
        if form in ("markdown", "junit"):
            assert "<script>" not in out


def test_a_file_that_shrinks_while_it_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace_view.json"
    path.write_bytes(json.dumps([{**EVENT, "dur": -7}] * 1_000).encode())
    judged = judge.judge_folder

    def shrunk(*everything: object) -> object:
        path.write_bytes(b"")
        return judged(*everything)  # type: ignore[arg-type]

    monkeypatch.setattr(judge, "judge_folder", shrunk)
    assert main(["check", str(path), "--select", "TRC"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert "A slice has a negative length: 1,000 of 1,000" in " ".join(out.split())


def test_texts_that_do_not_fit_into_memory_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(database, "SETTINGS", {**database.SETTINGS, "memory_limit": "25MB"})
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps([{**EVENT, "args": {"a": "x" * 4_000_000}}]))
    assert main(["check", str(path), "--select", "TRC"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"ascend-ref: error: {path}: some values are so long that")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 9223372036854775807::BIGINT + 1",
        "SELECT 'text'::BIGINT",
        "SELECT abs((-9223372036854775808)::BIGINT)",
        "SELECT repeat('x', 1 << 40)",
    ],
)
def test_a_query_that_fails_is_given_up_with_a_reason(statement: str) -> None:
    with (
        open_facts() as facts,
        pytest.raises(NoAnswer) as caught,
        limited(facts.connection),
    ):
        facts.connection.execute(statement).fetchall()
    assert str(caught.value).startswith(("cannot be computed: ", "given up: "))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("problem", "said"),
    [(OverflowError, "too big"), (pa.ArrowInvalid, "a\nb"), (duckdb.Error, ""), (ValueError, "")],
)
def test_so_is_what_arrow_and_python_cannot_compute(problem: type[Exception], said: str) -> None:
    with (
        open_facts() as facts,
        pytest.raises(Uncomputable, match=r"^cannot be computed: .+$"),
        limited(facts.connection),
    ):
        raise problem(said)


@pytest.mark.exhaustive
def test_what_fails_inside_a_rule_ends_the_rule_and_not_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The values that are too large for one rule are judged by the others."""
    words = ["simulate", "single-op", "--as", "msprof-db,csv,timeline", "-o"]
    assert main([*words, str(tmp_path / "run")]) == 0
    (path,) = tmp_path.rglob("msprof_*.db")
    with closing(sqlite3.connect(path)) as stored, stored:
        stored.execute("UPDATE CANN_API SET startNs = ? WHERE connectionId % 2", (-(2**63),))
        stored.execute("UPDATE CANN_API SET endNs = ? WHERE NOT connectionId % 2", (2**63 - 1,))
        stored.execute("UPDATE TASK SET startNs = 'text' WHERE rowid = 2")
        stored.execute("UPDATE TASK SET endNs = ? WHERE rowid = 3", (float("inf"),))
        stored.execute("UPDATE TASK SET taskId = x'ff00' WHERE rowid = 4")
        stored.execute("UPDATE STRING_IDS SET value = ? WHERE rowid = 1", ("x" * 1_000_000,))
    read = agreeing.reading_of

    def failing(sources: Sources, agreement: Agreement) -> object:
        if agreement.left.of == "csv.op_statistic":
            raise duckdb.OutOfRangeException("Overflow in subtraction\nof INT64")
        return read(sources, agreement)

    monkeypatch.setattr(agreeing, "reading_of", failing)
    capsys.readouterr()
    (texts,) = tmp_path.rglob("mindstudio_profiler_output")
    assert main(["check", str(texts), "-v", "--select", "XLR1,XLR2"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    told = " ".join(out.split())
    assert "cannot be computed: Overflow in subtraction" in told
    assert "XLR101" in told
    assert "XLR209" in told
