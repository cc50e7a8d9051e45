"""Reports reach their file whole, or not at all."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import pytest
from report_samples import CLEAN_REPORT, FULL_REPORT, INTERVAL, RULES, file_report, one_report

from ascend_conformance.report import FORMATS, ReportError, render_to_stdout, write_report
from ascend_conformance.report.write import FOR_PEOPLE


@pytest.mark.parametrize("kind", FORMATS)
def test_the_file_holds_the_report_and_nothing_else_is_left(kind: str, tmp_path: Path) -> None:
    write_report(kind, tmp_path / "report", FULL_REPORT, RULES)
    assert (tmp_path / "report").read_text(encoding="utf-8") == FORMATS[kind](FULL_REPORT, RULES)
    assert os.listdir(tmp_path) == ["report"]


def test_an_old_report_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old" * 100_000)
    write_report("text", str(path), CLEAN_REPORT, RULES)
    assert path.read_text().endswith("conforms: no violation, no advice, no note\n")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "report")
    write_report("json", tmp_path / "link", CLEAN_REPORT, RULES)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "report").is_file()


def test_an_unknown_kind_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ReportError) as error:
        write_report("pdf", tmp_path / "report", CLEAN_REPORT, RULES)
    assert str(error.value) == (
        "unknown report format 'pdf': use one of summary, text, quiet, statistics, json, jsonl, "
        "junit, sarif, github, markdown, html"
    )


def test_a_missing_folder_is_not_created(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "report"
    with pytest.raises(ReportError) as error:
        write_report("json", path, CLEAN_REPORT, RULES)
    assert str(error.value) == f"cannot write the json report to {path}: No such file or directory"
    assert os.listdir(tmp_path) == []


def test_a_folder_cannot_be_overwritten(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="Is a directory"):
        write_report("json", tmp_path, CLEAN_REPORT, RULES)


def test_a_judged_file_is_never_overwritten(tmp_path: Path) -> None:
    database = tmp_path / "msprof_1.db"
    database.write_bytes(b"rows")
    (tmp_path / "alias").symlink_to(database)
    report = one_report(file_report(INTERVAL, file=str(database)))
    for path in (database, tmp_path / "alias"):
        with pytest.raises(ReportError, match="refusing to write a report over the judged file"):
            write_report("json", path, report, RULES)
    assert database.read_bytes() == b"rows"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(path.read_text(encoding="utf-8")))
    reader.start()
    write_report("json", path, CLEAN_REPORT, RULES)
    reader.join(timeout=10)
    assert received == [FORMATS["json"](CLEAN_REPORT, RULES)]
    assert path.is_fifo()


def test_a_failed_write_leaves_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "report"
    path.write_text("old")
    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(ReportError, match="No space left on device"):
        write_report("json", path, CLEAN_REPORT, RULES)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("kind", sorted(FORMATS.keys() - FOR_PEOPLE.keys()))
def test_machine_formats_are_utf_8_on_any_stdout(kind: str) -> None:
    raw = io.BytesIO()
    report = one_report(file_report(INTERVAL, file="\u6f22.db"))
    stream = io.TextIOWrapper(raw, encoding="ascii")
    render_to_stdout(kind, report, RULES, stream, {})
    assert raw.getvalue().decode("utf-8") == FORMATS[kind](report, RULES)


def test_a_stream_without_bytes_gets_the_text() -> None:
    stream = io.StringIO()
    render_to_stdout("json", CLEAN_REPORT, RULES, stream, {})
    assert stream.getvalue() == FORMATS["json"](CLEAN_REPORT, RULES)
