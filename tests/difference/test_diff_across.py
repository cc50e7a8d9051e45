"""``diff`` of one recording in two media: the same run is the same, and each change is found."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from recordings import changed, database_of, write_profile

from ascend_conformance.difference.diff import diff
from ascend_conformance.finding import Report

OUTPUT = "ASCEND_PROFILER_OUTPUT"


@dataclass(frozen=True)
class Sides:
    """One rank in two media, each alone in its folder."""

    database: Path
    texts: Path


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Sides:
    base = tmp_path_factory.mktemp("across")
    folders = []
    for kind in ("pytorch-db", "pytorch-text"):
        (base / kind).mkdir()
        folders.append(write_profile(base / kind, [kind]) / OUTPUT)
    return Sides(*folders)


@pytest.fixture
def texts(sides: Sides, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sides.texts, tmp_path / OUTPUT))


def found(report: Report) -> list[tuple[str, str, int]]:
    assert not any(file.unreadable for file in report.files)
    return [(one.name, one.place, one.count) for one in report.findings]


def rewrite_rows(path: Path, change: Callable[[list[dict[str, str]]], object]) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
        header = list(rows[0])
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.exhaustive
def test_a_run_is_the_same_in_a_database_and_in_texts(sides: Sides) -> None:
    report = diff(sides.database, sides.texts)
    assert found(report) == []
    (file,) = report.files
    assert file.places_checked > 20
    stated = {one.place: (one.rule, one.reason) for one in file.skipped}
    assert stated["NETDEV_STATS"][0] == "DIF101"
    assert stated["soc_pmu.csv"][0] == "DIF102"
    assert stated["soc_pmu.csv"][1].startswith("soc_pmu.csv of B: not compared")
    assert not {"TASK", "kernel_details.csv", "Ascend Hardware of the timeline"} & stated.keys()


def damage_texts(folder: Path) -> None:
    """Change a duration, lose a row, rename a call, and cut a document off."""

    def longer(rows: list[dict[str, str]]) -> None:
        rows[5]["Duration(us)"] = f"{float(rows[5]['Duration(us)']) + 1000:.3f}"

    rewrite_rows(folder / "kernel_details.csv", longer)
    rewrite_rows(folder / "operator_memory.csv", lambda rows: rows.pop(3))
    timeline = folder / "trace_view.json"
    events = json.loads(timeline.read_text(encoding="utf-8"))
    calls = [one for one in events if one["ph"] == "X" and "level" in one.get("args", {})]
    calls[3]["name"] += "Other"
    timeline.write_text(json.dumps(events), encoding="utf-8")
    document = folder / "communication.json"
    document.write_bytes(document.read_bytes()[:-200])


@pytest.mark.exhaustive
def test_each_change_of_a_text_is_found_in_its_file_and_line(sides: Sides, texts: Path) -> None:
    damage_texts(texts)
    report = diff(sides.database, texts)
    there = found(report)
    assert ("value-differs", "kernel_details.csv: Duration(us)", 1) in there
    assert [one.line for one in report.findings if one.table == "kernel_details.csv"] == [7]
    lost = [(place, count) for name, place, count in there if name == "row-only-in-a"]
    assert [count for place, count in lost if "trace_view" not in place] == [1]
    assert [place for name, place, _ in there if name == "values-not-readable"] == [
        "communication.json"
    ]
    assert any(place.startswith("trace_view.json: CANN") for _, place, _ in there)


@pytest.mark.campaign
def test_a_change_of_the_database_is_found_from_the_texts(sides: Sides, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sides.database, tmp_path / OUTPUT))
    with changed(database_of(tmp_path)) as connection:
        connection.execute(
            "UPDATE CANN_API SET endNs = endNs + 5000 WHERE rowid = "
            "(SELECT max(rowid) FROM CANN_API)"
        )
        connection.execute("DELETE FROM OP_MEMORY WHERE rowid = (SELECT max(rowid) FROM OP_MEMORY)")
    there = found(diff(sides.texts, folder))
    assert ("value-differs", "trace_view.json: CANN: dur", 1) in there
    assert [(name, count) for name, place, count in there if "operator_memory" in place] == [
        ("row-only-in-a", 1)
    ]


@pytest.mark.exhaustive
def test_csv_files_are_compared_with_a_timeline(sides: Sides, tmp_path: Path) -> None:
    """Each side has files of one kind; both are texts."""
    folders = []
    for kind in ("*.csv", "trace_view.json"):
        folder = tmp_path / kind.strip("*.")
        folder.mkdir()
        for path in sides.texts.glob(kind):
            shutil.copy(path, folder)
        folders.append(folder)
    (file,) = diff(*folders).files
    assert file.unreadable is None
    assert file.findings == ()
    assert file.places_checked > 3


def test_media_that_show_nothing_in_common_are_not_the_same(sides: Sides, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "visualize_data.bin").write_bytes(b"\x05\x00\x00\x5a" + bytes(12))
    (file,) = diff(sides.database, folder).files
    assert file.unreadable is not None
    assert "cannot be compared" in file.unreadable
