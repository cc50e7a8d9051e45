"""Which files are judged together, and what a single file is taken for."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from text_folders import LEGACY, OUTPUT, RANK, STRUCTURE, copied, judged, needs_data

from ascend_conformance.check import check
from ascend_conformance.discover import NothingToCheck, discover
from ascend_conformance.media.text.deliverables import deliverable_of_name


@pytest.mark.parametrize(
    ("name", "kind", "what", "slice_"),
    [
        ("op_summary_20260721120000.csv", "csv", "op_summary", None),
        ("op_summary_slice_3_20260721120000.csv", "csv", "op_summary", 3),
        ("step_trace_20260721120000.csv", "csv", "step_trace", None),
        ("step_trace_time.csv", "csv", "step_trace_time", None),
        ("msprof_tx_20260721120000.csv", "csv", "msprof_tx", None),
        ("msprof_20260721120000.json", "timeline", "timeline", None),
        ("msprof_slice_0_20260721120000.json", "timeline", "timeline", 0),
        ("msprof_tx_20260721120000.json", "timeline", "msprof_tx", None),
        ("msprof_0_2_1.json", "timeline", "timeline", None),
        ("step_trace_0_2_1.json", "timeline", "step_trace_json", None),
        ("trace_view.json", "timeline", "trace_view", None),
        ("communication.json", "document", "communication", None),
        ("communication_matrix.json", "document", "communication_matrix", None),
        ("profiler_info_12.json", "document", "profiler_info", None),
    ],
)
def test_names(name: str, kind: str, what: str, slice_: int | None) -> None:
    found = deliverable_of_name(Path(name))
    assert found is not None
    assert (found.kind, found.name, found.slice) == (kind, what, slice_)


@pytest.mark.parametrize(
    "name",
    ["op_summary.csv.bak", "my_op_summary.csv", "op_summary_x.csv", "msprof.db", "trace.json"],
)
def test_other_names(name: str) -> None:
    assert deliverable_of_name(Path(name)) is None


@pytest.mark.parametrize(
    "name",
    ["op_summary.csv", "trace_view.json", "visualize_data.bin", "step_trace_raw_0_detail_time.csv"],
)
def test_a_database_is_one_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / name)) as database:
        database.execute("CREATE TABLE x (y)")
    (found,) = discover(tmp_path / name)
    assert found.medium == "db"


def test_files_of_a_folder_are_one_candidate_with_the_database_beside(tmp_path: Path) -> None:
    folder = copied(tmp_path, "api_statistic.csv", "op_statistic.csv")
    shutil.copyfile(RANK / "profiler_info_0.json", tmp_path / "profiler_info_0.json")
    with closing(sqlite3.connect(folder / "ascend_pytorch_profiler_0.db")) as database:
        database.execute("CREATE TABLE x (y)")
    texts, database_alone = discover(tmp_path)
    assert texts.path == folder
    assert [one.path.name for one in texts.details.deliverables] == [
        "api_statistic.csv",
        "op_statistic.csv",
        "profiler_info_0.json",
    ]
    assert texts.details.database == folder.absolute() / "ascend_pytorch_profiler_0.db"
    assert database_alone.medium == "db"
    assert database_alone.path.name == "ascend_pytorch_profiler_0.db"


def test_database_of_msprof_stands_above(tmp_path: Path) -> None:
    folder = tmp_path / "PROF_1" / "mindstudio_profiler_output"
    folder.mkdir(parents=True)
    (folder / "op_statistic_20260721120000.csv").write_text("OP Type\n")
    for stamp in ("20260101000000", "20260721120000"):
        (tmp_path / "PROF_1" / f"msprof_{stamp}.db").touch()
    texts = next(one for one in discover(tmp_path) if one.medium == "text")
    assert texts.details.database is not None
    assert texts.details.database.name == "msprof_20260721120000.db"


def test_documents_about_a_capture_are_no_output_folder(tmp_path: Path) -> None:
    (tmp_path / "profiler_info_0.json").write_text("{}")
    with pytest.raises(NothingToCheck):
        discover(tmp_path)


def test_a_single_file_is_what_its_text_says(tmp_path: Path) -> None:
    needs_data()
    for name, kind in (
        ("kernel_details.csv", "csv"),
        ("op_statistic.csv", "csv"),
        ("trace_view.json", "timeline"),
        ("communication.json", "document"),
        ("communication_matrix.json", "document"),
    ):
        path = tmp_path / "renamed.txt"
        shutil.copyfile(RANK / OUTPUT / name, path)
        (candidate,) = discover(path)
        (found,) = candidate.details.deliverables
        assert candidate.details.alone
        assert (found.kind, found.name) == (kind, name.partition(".")[0])
        (report,) = judged(path, STRUCTURE)
        assert report.file == str(path)
        assert not [one for one in report.findings if one.verdict == "violation"]


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", b"hello\n", b'{"a": 1}', b"[1, 2]", b"\0\0\0", b""], ids=repr
)
@pytest.mark.parametrize("name", ["notes.csv", "notes.json", "notes.txt"])
def test_a_text_of_no_deliverable_is_one_clear_line(
    content: bytes, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    (report,) = judged(path)
    assert report.unreadable is not None
    assert report.unreadable.startswith(f"{path}: ")
    assert "\n" not in report.unreadable
    assert report.findings == ()


def test_pipes_and_links_do_not_hang(tmp_path: Path) -> None:
    folder = copied(tmp_path, "api_statistic.csv")
    os.mkfifo(folder / "op_statistic.csv")
    (folder / "kernel_details.csv").symlink_to(folder / "kernel_details.csv")
    (folder / "l2_cache.csv").symlink_to(tmp_path / "nowhere")
    (folder / "memory_record.csv").mkdir()
    (folder / "again").symlink_to(tmp_path, target_is_directory=True)
    (report,) = judged(tmp_path, STRUCTURE)
    assert report.unreadable is None
    assert [Path(name).name for name in report.members] == ["api_statistic.csv"]


def test_a_file_that_cannot_be_read_leaves_the_others_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(tmp_path, "api_statistic.csv", "op_statistic.csv")
    (folder / "api_statistic.csv").write_text("OP Type\n")
    plain = Path.open

    def refused(self: Path, *args: object, **more: object) -> object:
        if self.name == "op_statistic.csv":
            raise PermissionError(13, "Permission denied")
        return plain(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "open", refused)
    (report,) = judged(folder, STRUCTURE)
    assert report.unreadable is not None
    assert "op_statistic.csv: Permission denied" in report.unreadable
    assert {one.table for one in report.findings} == {"api_statistic.csv"}


@pytest.mark.exhaustive
def test_each_exported_iteration_is_judged_on_its_own(tmp_path: Path) -> None:
    """Files of several iterations repeat the steps of all, and show no time between them."""
    needs_data(LEGACY)
    device = tmp_path / "PROF_000001_20230818142704322_COJGGGCANRMICFBC" / "device_0"
    timelines = device / "timeline"
    timelines.mkdir(parents=True)
    (device / "start_info.0").write_text("{}")
    for number in (1, 2):
        for kind in ("msprof", "step_trace"):
            made = timelines / f"{kind}_0_2_{number}.json"
            shutil.copyfile(LEGACY / f"{kind}_0_2_1.json", made)
    first, second = discover(tmp_path)
    assert first.label.endswith("timeline/*_0_2_1.*")
    assert [path.name for path in second.files] == ["msprof_0_2_2.json", "step_trace_0_2_2.json"]
    report = check([tmp_path])
    assert {one.rule for one in report.findings} <= {"TRC251"}
    assert len(report.files) == 2
