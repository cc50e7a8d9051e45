"""Hostile text: no crash, no hang, and reports that stay small."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from slices import some
from text_folders import OUTPUT, STRUCTURE, copied, judged

from ascend_conformance.finding import FileReport, Report
from ascend_conformance.media import load_rules
from ascend_conformance.report import BYTES_PER_FILE, FORMATS
from ascend_conformance.report.html import LARGEST
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset

EVENT = {"name": "x", "ph": "X", "pid": 1, "tid": 1, "ts": "1.500", "dur": 1}


def report_of(folder: Path, files: dict[str, bytes]) -> FileReport:
    target = folder / OUTPUT
    target.mkdir()
    for name, content in files.items():
        (target / name).write_bytes(content)
    (report,) = judged(target, STRUCTURE)
    for kind, render in FORMATS.items():
        text = render(Report((report,), "1", "observed"), load_rules())
        assert len(text.encode()) <= (LARGEST if kind == "html" else BYTES_PER_FILE)
        assert "\x1b" not in text
        assert "\u202e" not in text
    return report


TRACES: dict[str, bytes] = {
    "deep": b"[" * 100_000,
    "deep-args": b'[{"args": ' + b'{"a":' * 900 + b"1" + b"}" * 901 + b"]",
    "digits": b'[{"pid": ' + b"9" * 5_000 + b', "ts": ' + b"9" * 5_000 + b"}]",
    "wide": b'[{"pid": 9223372036854775807, "tid": -9223372036854775808, "ph": "X"}]',
    "too-wide": b'[{"pid": 9223372036854775808, "ph": "X"}]',
    "huge-duration": b'[{"ph": "X", "pid": 1, "tid": 1, "ts": "1.500", "dur": 1e308, "name": ""}]',
    "infinite-duration": b'[{"ph": "X", "pid": 1, "tid": 1, "ts": "1.500", "dur": 1e999}]',
    "nulls": b'[{"ph": null, "pid": null, "name": null, "args": null}]',
    "zero-byte": b'[{"ph": "X\\u0000", "name": "\\u0000", "pid": 1}]',
    "html": json.dumps([{**EVENT, "name": "<script>\x1b[31m\u202e\n" * 500}] * 3).encode(),
    "invented-keys": json.dumps([{**EVENT, f"k{n}": n} for n in range(2_000)]).encode(),
    "invented-args": json.dumps([{**EVENT, "args": {f"k{n}": n}} for n in range(15_000)]).encode(),
    "invented-pids": json.dumps([{**EVENT, "pid": n} for n in range(15_000)]).encode(),
    "many-names": json.dumps(
        [
            {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": f"L{n}"}}
            for n in range(5_000)
        ]
    ).encode(),
    "strange-metadata": b'[{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": [1]}}]',
    "doubled-keys": b'[{"pid": 1, "pid": "2", "ph": "X", "ph": "C", "args": {"a": 1, "a": 2}}]',
    "not-objects": b'[1, "x", null, [], {}]',
    "long-name": json.dumps([{**EVENT, "name": "x" * 5_000_000}]).encode(),
    "utf-16": json.dumps([EVENT]).encode("utf-16"),
    "blanks": b"[" + b" " * 200_000 + b"]" + b"\n" * 200_000,
    "no-args": json.dumps([{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1}]).encode(),
}


@pytest.mark.parametrize("name", some(TRACES, every=6))
def test_hostile_timelines(name: str, tmp_path: Path) -> None:
    report = report_of(tmp_path, {"trace_view.json": TRACES[name]})
    assert report.unreadable is None
    assert report.findings or name == "blanks"


HEADER = b"Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
ROW = b"acl,x,1,1,1,1,1,0\n"

TABLES: dict[str, bytes] = {
    "digits": HEADER + ROW.replace(b",1,", b"," + b"9" * 5_000 + b",", 1),
    "wide": HEADER + ROW.replace(b",1,", b",9223372036854775808,"),
    "not-a-number": HEADER + ROW.replace(b",1,", b",nan,"),
    "long-cell": HEADER + ROW.replace(b"x", b"x" * 5_000_000),
    "html": HEADER + ROW.replace(b"acl", b"<img src=x>\x1b[31m"),
    "many-columns": b",".join([HEADER.strip()] + [b"c%d" % n for n in range(5_000)]) + b"\n",
    "one-quote": HEADER + b'"' + ROW * 1_000,
    "quotes-only": HEADER + b'"\n' * 5_000,
    "commas": HEADER + b"," * 1_000_000,
    "zero-bytes": HEADER + b"\0,\0\n" * 100,
    "bad-utf8": HEADER + ROW.replace(b"x", b"\xff") * 3_000,
    "returns": HEADER + b"\r" * 10_000,
    "sql": HEADER + ROW.replace(b"x", b"'; DROP TABLE raw.api_statistic; --"),
    "sql-header": HEADER.replace(b"Count", b'"Co""unt; DROP"') + ROW,
    "doubled-header": HEADER.replace(b"Variance", b"Count") + ROW,
    "place-names": HEADER.replace(b"Variance", b"file") + ROW,
}


@pytest.mark.parametrize("name", some(TABLES, every=2))
def test_hostile_tables(name: str, tmp_path: Path) -> None:
    report = report_of(tmp_path, {"api_statistic.csv": TABLES[name]})
    assert report.unreadable is None
    assert report.findings or name in ("sql", "long-cell")


def test_brackets_that_nobody_closes_are_read_in_no_time(tmp_path: Path) -> None:
    header = HEADER.replace(b"Variance", b"(" * 100_000)
    started = time.monotonic()
    assert report_of(tmp_path, {"api_statistic.csv": header + ROW}).unreadable is None
    assert time.monotonic() - started < 10


DOCUMENTS: dict[str, bytes] = {
    "deep": b'{"step1": ' + b"[" * 50_000,
    "list": b"[]",
    "scalar": b"5",
    "digits": b'{"step1": ' + b"9" * 5_000 + b"}",
    "surrogate": b'{"step1": "\\ud800"}',
    "many-steps": json.dumps({f"step{n}": {"p2p": {}} for n in range(3_000)}).encode(),
    "wrong-inside": json.dumps(
        {"step1": {"p2p": {"a@b": 5, "c": [], "d@e": {"Communication Time Info": 1}}}}
    ).encode(),
    "pairs": json.dumps(
        {
            "step1": {
                "p2p": {
                    "a@b": {
                        "Communication Bandwidth Info": {
                            "RDMA": {"Size Distribution": {"1": 5, "2": [1], "3": ["x", {}]}}
                        }
                    }
                }
            }
        }
    ).encode(),
}


@pytest.mark.parametrize("name", some(DOCUMENTS, every=2))
@pytest.mark.parametrize("file", ["communication.json", "communication_matrix.json"])
def test_hostile_documents(name: str, file: str, tmp_path: Path) -> None:
    report = report_of(tmp_path, {file: DOCUMENTS[name]})
    assert report.unreadable is None
    assert report.findings


@pytest.fixture(scope="module")
def rank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The text output of one of two ranks."""
    scenario = override(preset("dense-8"), steps=1, ranks=2)
    run = write_run(scenario, 0, tmp_path_factory.mktemp("rank") / "run", ("pytorch-text",))
    return min(run.folder.rglob(OUTPUT)).parent


def _event(**values: object) -> Callable[[Path], object]:
    """Other values in the first communication operator of the timeline."""

    def change(output: Path) -> None:
        path = output / "trace_view.json"
        events = json.loads(path.read_text())
        next(one for one in events if str(one["name"]).startswith("hcom_")).update(values)
        path.write_text(json.dumps(events))

    return change


def _start(output: Path) -> None:
    """A start that is infinite in ns."""
    path = output / "communication.json"
    content = json.loads(path.read_text())
    first = next(iter(content["step1"]["collective"].values()))
    first["Communication Time Info"]["Start Timestamp(us)"] = 1e308
    path.write_text(json.dumps(content))


IMPOSSIBLE: dict[str, Callable[[Path], object]] = {
    "length": _event(dur=1e300),
    "end": _event(dur=9.2e15),
    "start": _event(ts="9223372036854775.807"),
    "start in a document": _start,
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", some(IMPOSSIBLE, every=4))
def test_an_impossible_time_leaves_the_folder_judged(name: str, rank: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(rank, tmp_path / rank.name)
    IMPOSSIBLE[name](copy / OUTPUT)
    (report,) = judged(copy)
    assert [one.message for one in report.findings if one.verdict == "failure"] == []
    assert report.seen is not None


def test_ten_thousand_faults_make_a_small_report(tmp_path: Path) -> None:
    folder = copied(tmp_path, "api_statistic.csv")
    path = folder / "api_statistic.csv"
    content = path.read_bytes() + b"acl,x,a,b,c,d,e,f\n" * 10_000 + b"short\n" * 10_000
    path.write_bytes(content)
    (report,) = judged(folder, STRUCTURE)
    assert {one.count for one in report.findings if one.rule == "CSV020"} == {10_000}
    assert len(report.findings) < 12
    text = FORMATS["text"](Report((report,), "1", "observed"), load_rules())
    assert len(text) < 8_000


def test_nothing_is_left_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr("tempfile.tempdir", None)
    report_of(tmp_path, {"trace_view.json": json.dumps([EVENT] * 1_000).encode()})
    assert list(place.iterdir()) == []
