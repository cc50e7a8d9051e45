"""What users take for a profile gets one line: what it is, and what helps."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ascend_conformance.check import check
from ascend_ref.cli import main
from ascend_simulator.specimen import Shape, write_rank_folder
from ascend_spec import catalog, layout_catalog

REVISION = catalog().revisions[-1].id


def database(*tables: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with closing(sqlite3.connect(path)) as new:
            for table in tables:
                new.execute(f"CREATE TABLE {table} (id INTEGER, name TEXT)")
            new.commit()

    return write


def document(value: object) -> Callable[[Path], object]:
    return lambda path: path.write_text(json.dumps(value))


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("trace_view.json", "[]")


EVENT = {"ph": "X", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1.0, "dur": 2.0}
TIMES = {"Communication Time Info": {"Start Timestamp(us)": 1.0, "Elapse Time(ms)": 2.0}}
LINK = {"Transport Type": "HCCS", "Transit Size(MB)": 1.0}
FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "trace_view.json.gz": (lambda path: path.write_bytes(gzip.compress(b"[]")), "a gzip archive"),
    "profile.zip": (archive, "a zip archive"),
    "worker0.pt.trace.json": (
        document({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [EVENT]}),
        "(Kineto)",
    ),
    "cluster_communication.json": (
        document({"(0, 1)": {"step1": {"hcom_allReduce__1": {"0": TIMES}}}}),
        "check communication.json of each rank",
    ),
    "cluster_communication_matrix.json": (
        document({"collective": {"step1": {"(0, 1)": {"0-1": LINK}}}}),
        "check communication_matrix.json of each rank",
    ),
    "cluster_analysis.db": (database("ClusterStepTraceTime", "HostInfo"), "msprof-analyze"),
    "memscope_dump_20260101.db": (database("memscope_dump"), "msMemScope"),
}


@pytest.mark.parametrize("name", FILES)
def test_it_is_named_with_what_helps(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write, said = FILES[name]
    write(tmp_path / name)
    assert main(["check", str(tmp_path / name), "--format", "json"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"ascend-ref: error: {tmp_path / name}: ")
    assert said in line
    assert "expected" not in line


def test_what_is_like_it_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "communication.json"
    path.write_text(json.dumps({"step1": {"p2p": {}, "collective": {"a@1": TIMES}}}))
    assert check([path]).files[0].seen is not None
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [EVENT]}))
    assert check([path]).files[0].seen is not None


def test_raw_data_of_msprof_are_said_to_be_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = tmp_path / "run" / "PROF_000001_20250109150000000_ABCDEFGHIJKLMNOP"
    (raw / "host" / "data").mkdir(parents=True)
    (raw / "host" / "data" / "host_cpu.data.slice_0").write_bytes(bytes(256))
    assert main(["check", str(tmp_path)]) == 2
    command = f"msprof --export=on --output={raw} (ascend-ref export does without CANN)\n"
    assert capsys.readouterr().err.count(command) == 1


def test_raw_data_are_named_once_where_an_output_folder_is_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = tmp_path / "PROF_000001_20250109150000000_ABCDEFGHIJKLMNOP"
    for name in ("host", layout_catalog().folder("msprof", "output")):
        (raw / name).mkdir(parents=True)
    assert main(["check", str(tmp_path)]) == 2
    command = f"msprof --export=on --output={raw} (ascend-ref export does without CANN)\n"
    assert capsys.readouterr().err.count(command) == 1


def test_a_database_under_another_name_is_not_passed_over_in_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = tmp_path / "strange.db"
    database("TASK", "SOMETHING")(strange)
    write_rank_folder(tmp_path, REVISION, Shape())
    (named,) = tmp_path.rglob("ascend_pytorch_profiler_0.db")
    assert "LOS402" not in {one.rule for one in check([tmp_path]).findings}
    renamed = named.with_name("my_export.db")
    shutil.copyfile(named, renamed)
    (found,) = [one for one in check([tmp_path]).findings if one.rule == "LOS402"]
    assert (found.file, found.verdict) == (str(renamed), "advice")
    alone = tmp_path / "alone"
    alone.mkdir()
    renamed.rename(alone / renamed.name)
    assert main(["check", str(alone)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "my_export.db: tables of a profile under a name that no reader looks for; " in line
    assert main(["check", str(alone / renamed.name)]) == 0
