"""A folder without one of its files, or with one only; files that repeat each other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ascend_conformance.check import check
from ascend_conformance.media.text.specimens import write_specimen
from ascend_conformance.options import Options
from ascend_ref.profile.readme import README, readme

ONE = Options(workers=1)
MSPROF, ADAPTER = "python", "adapter"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The output folder of each subject, without a database."""
    found = {}
    for name in (MSPROF, ADAPTER):
        place = tmp_path_factory.mktemp(name)
        deliverables, _ = write_specimen(name, place / "whole")
        found[name] = deliverables[0].path.parent
    return found


def violations(path: Path) -> list[str]:
    findings = check([path], ONE).findings
    return [f"{one.rule} {one.message}" for one in findings if one.verdict != "advice"]


def copy_without(output: Path, gone: Path, into: Path) -> Path:
    shutil.copytree(output, into, ignore=shutil.ignore_patterns("*.db", gone.name))
    return into


def files(output: Path) -> list[Path]:
    return sorted(one for one in output.iterdir() if one.suffix in (".csv", ".json"))


def assert_absence_is_no_violation(output: Path, path: Path, scratch: Path) -> None:
    fewer = copy_without(output, path, scratch / f"without {path.name}" / output.name)
    assert violations(fewer) == [], f"without {path.name}"
    alone = scratch / f"only {path.name}" / output.name
    alone.mkdir(parents=True)
    shutil.copyfile(path, alone / path.name)
    assert violations(alone) == [], f"only {path.name}"
    assert violations(alone / path.name) == [], f"{path.name} itself"


@pytest.mark.exhaustive
@pytest.mark.parametrize("left", [("task_time*.csv",), ("msprof_tx*.csv", "msprof_2*.json")])
def test_an_absent_file_is_no_violation(
    left: tuple[str, ...], folders: dict[str, Path], tmp_path: Path
) -> None:
    """Of task_time.csv only some rows are kernels; a table of marks is no timeline of marks."""
    for pattern in left:
        (path,) = folders[MSPROF].glob(pattern)
        shutil.copyfile(path, tmp_path / path.name)
    assert violations(tmp_path) == []


@pytest.mark.campaign
@pytest.mark.parametrize("name", [MSPROF, ADAPTER])
def test_no_absent_file_is_a_violation(name: str, folders: dict[str, Path], tmp_path: Path) -> None:
    for path in files(folders[name]):
        assert_absence_is_no_violation(folders[name], path, tmp_path)


MARKS = ("msprof_tx_20260721120000.csv", "msprof_tx_20260721120000.json")


@pytest.mark.exhaustive
@pytest.mark.parametrize("lost", [None, *MARKS])
def test_the_list_of_msprof_names_what_is_lost(
    lost: str | None, folders: dict[str, Path], tmp_path: Path
) -> None:
    """The table and the timeline of marks have one name."""
    for name in MARKS:
        if name != lost:
            shutil.copyfile(folders[MSPROF] / name, tmp_path / name)
    (tmp_path / README).write_text(readme(map(Path, MARKS)), encoding="utf-8")
    found = [one for one in check([tmp_path], ONE).findings if one.rule == "LOS311"]
    named = [one.message.split("but no ")[1].split(";")[0] for one in found]
    assert named == ([lost.replace("_20260721120000", "")] if lost else [])


@pytest.mark.parametrize(
    "text",
    [
        b"1.op_summary.csv: \xff\xfe\x00",
        b"9.unknown_kind.csv: <script>\n../../x.csv: no\n1.op_summary.txt: no",
        b"x" * (1 << 20),
    ],
)
def test_a_strange_list_is_no_failure(
    text: bytes, folders: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copyfile(folders[MSPROF] / MARKS[0], tmp_path / MARKS[0])
    (tmp_path / README).write_bytes(text)
    found = check([tmp_path], ONE).findings
    assert [one.rule for one in found if one.verdict == "failure"] == []
    listed = [one.message for one in found if one.rule == "LOS311"]
    assert listed == [] or (b"1.op_summary.csv" in text and "op_summary.csv" in listed[0])


@pytest.mark.exhaustive
def test_a_timeline_that_repeats_a_part_of_another_is_not_judged_with_it(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    """Marks on a device stand in msprof_tx.json and in msprof.json: no number comes twice."""
    for path in folders[MSPROF].glob("msprof*.json"):
        shutil.copyfile(path, tmp_path / path.name)
    assert len(list(tmp_path.iterdir())) == 2
    assert "REL101" not in {one.rule for one in check([tmp_path], ONE).findings}
