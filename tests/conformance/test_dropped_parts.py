"""A profile that lacks any one of its parts gets a verdict, and so does everything next to it."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from campaign import Part, damage, parts_of
from slices import few

from ascend_conformance.check import check
from ascend_conformance.finding import FileReport, Report
from ascend_conformance.media import load_rules
from ascend_conformance.media.text.specimens import write_specimen
from ascend_conformance.options import Options
from ascend_conformance.report import FORMATS, write_report

SUBJECTS = ("python", "adapter-museum", "python-edge", "cpp-A2-PipeUtilization")
LARGE = 2_000_000
"""Bytes of a timeline beyond which it is not rewritten for each of its keys."""

ONE = Options(workers=1)
ALONE, IN_FOLDER = 6, 1
"""Parts that are tried by default."""
FOLDERS = 12
"""Parts that the campaign tries in their folder."""


@cache
def clean(subject: str, root: Path) -> Path:
    """A clean folder with its database, written once."""
    folder = root / subject
    folder.mkdir()
    write_specimen(subject, folder)
    return folder


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clean")


def judged_files(folder: Path) -> list[Path]:
    """The files that a check of the folder looks into."""
    reports = check([folder], ONE).files
    named = [Path(name) for one in reports for name in (one.members or (one.file,))]
    return [path for path in named if path.suffix != ".json" or path.stat().st_size < LARGE]


def failures(report: Report) -> list[str]:
    """What could not be judged for a reason of the checker."""
    return [one.message for one in report.findings if one.verdict == "failure"]


def tried_alone(parts: Sequence[tuple[Path, Part]], scratch: Path) -> Iterator[tuple[Part, Report]]:
    """Each of the parts damaged in a copy of its file, and the verdict on that file by itself."""
    for file, part in parts:
        copy = scratch / file.name
        shutil.copyfile(file, copy)
        damage(copy, part)
        yield part, check([copy], ONE)
        copy.unlink()


def tried_in_folder(
    folder: Path, parts: Sequence[tuple[Path, Part]], scratch: Path
) -> Iterator[tuple[Part, Report]]:
    """Each of the parts damaged in a copy of the folder, and the verdict on the folder."""
    for file, part in parts:
        copy = scratch / "copy"
        shutil.copytree(folder, copy)
        damage(copy / file.relative_to(folder), part)
        yield part, check([copy], ONE)
        shutil.rmtree(copy)


def every(folder: Path) -> list[tuple[Path, Part]]:
    """All parts of all files of a folder."""
    return [(file, part) for file in judged_files(folder) for part in parts_of(file)]


def drawn(folder: Path, number: int) -> list[tuple[Path, Part]]:
    """Some parts of a folder; each file is as likely as any other."""
    source = random.Random(folder.name)
    files = [found for file in judged_files(folder) if (found := [*parts_of(file)])]
    paths = {file.name: file for file in judged_files(folder)}
    parts = [source.choice(found) for found in source.choices(files, k=number)]
    return [(paths[part.file], part) for part in parts]


@pytest.mark.campaign
def test_whatever_is_missing_gets_a_verdict(root: Path, tmp_path: Path):
    folder = clean("python-edge", root)
    for part, report in tried_alone(drawn(folder, ALONE), tmp_path):
        assert failures(report) == [], str(part)
        assert len(report.files) == 1, str(part)
    for part, report in tried_in_folder(folder, drawn(folder, IN_FOLDER), tmp_path):
        assert failures(report) == [], str(part)
        assert len(report.files) == 2, f"{part}: the other files are judged"


LOOKED_UP = (("STRING_IDS", "id"), ("STRING_IDS", "value"), ("ENUM_HCCL_LINK_TYPE", "name"))


@pytest.mark.exhaustive
def test_what_every_text_is_looked_up_in_may_be_missing(root: Path, tmp_path: Path):
    folder = clean("python", root)
    parts = [found for found in every(folder) if found[1].place in LOOKED_UP]
    assert len(parts) == 2 * len(LOOKED_UP)
    for part, report in tried_alone(parts, tmp_path):
        assert failures(report) == [], str(part)
        assert any(one.verdict == "violation" for one in report.findings), str(part)


@pytest.mark.campaign
@pytest.mark.parametrize("subject", SUBJECTS)
def test_whatever_is_missing_anywhere_gets_a_verdict(subject: str, root: Path, tmp_path: Path):
    folder = clean(subject, root)
    for part, report in tried_alone(every(folder), tmp_path):
        assert failures(report) == [], str(part)
        assert len(report.files) == 1, str(part)
    for part, report in tried_in_folder(folder, drawn(folder, FOLDERS), tmp_path):
        assert failures(report) == [], str(part)


CORE = ("Block Num", "Task Type", "Task Duration(us)", "aicore_time(us)")


@pytest.mark.parametrize("column", few(CORE, every=4))
def test_what_is_recomputed_from_a_missing_column_is_skipped(
    column: str, root: Path, tmp_path: Path
):
    folder = clean("cpp-A2-PipeUtilization", root)
    (file,) = folder.rglob("op_summary*.csv")
    copy = tmp_path / file.name
    shutil.copyfile(file, copy)
    damage(copy, Part(file.name, (column,), False))
    report = check([copy], ONE)
    assert failures(report) == []
    reasons = {one.reason for one in report.files[0].skipped}
    assert f"it is recomputed from the column {column}, which the files do not have" in reasons
    assert {one.rule for one in report.findings} >= {"CSV011"}, "the header lacks it"


# --- where the checker itself fails --------------------------------------------------------------


def broken(*_: object, **__: object) -> None:
    raise KeyError("Block Num")


def the_failure(report: FileReport) -> str:
    (one,) = [finding for finding in report.findings if finding.verdict == "failure"]
    assert not report.is_judged
    return f"{one.rule}@{one.place}: {one.message}"


@pytest.mark.exhaustive
def test_a_rule_that_fails_on_texts_is_one_finding(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = clean("python-edge", root)
    sound = check([folder], ONE)
    monkeypatch.setattr("ascend_conformance.media.text.agreeing.reading_of", broken)
    report = check([folder], ONE)
    failed = {one.column for one in report.findings if one.verdict == "failure"}
    assert failed
    assert all(name and name.startswith("XLR") for name in failed)
    assert len(failures(report)) == len(failed), "one finding for each rule"
    assert "could not be evaluated at" in failures(report)[0]
    assert "KeyError: 'Block Num'" in failures(report)[0]
    assert len(report.files) == len(sound.files)
    others = {one.rules_run for one in report.files}
    assert min(others) > 0


def test_a_check_that_fails_on_a_database_is_one_finding(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = clean("python-edge", root)
    (database,) = folder.rglob("msprof*.db")
    sound = check([database], ONE).files[0]
    monkeypatch.setattr("ascend_conformance.media.db.judge.count_select", broken)
    report = check([database], ONE)
    assert all(one.rule == "REF001" for one in report.findings)
    assert len({one.place for one in report.findings}) == len(report.findings) > 1
    assert report.files[0].places_checked == sound.places_checked
    assert report.files[0].seen == sound.seen


def test_one_of_the_rules_of_a_table_fails_and_the_others_are_judged(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    from ascend_conformance.media.db import judge

    plain = judge.bad_row

    def failing(session: object, instance: object, references: object) -> object:
        if instance.rule.id == "DB203":  # type: ignore[attr-defined]
            raise ValueError("no such thing")
        return plain(session, instance, references)  # type: ignore[arg-type]

    folder = clean("python-edge", root)
    (database,) = folder.rglob("msprof*.db")
    copy = database.with_name("msprof_20260101170001.db")
    shutil.copyfile(database, copy)
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE TASK SET endNs = startNs - 1")
        connection.commit()
    connection.close()
    monkeypatch.setattr(judge, "bad_row", failing)
    report = check([copy], ONE).files[0]
    copy.unlink()
    assert the_failure(report).startswith("REF001@DB203: DB203 ")
    assert "DB401" in {one.rule for one in report.findings}


def test_a_file_on_which_the_checker_fails_is_one_finding_and_the_others_are_judged(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = clean("python-edge", root)
    monkeypatch.setattr("ascend_conformance.media.text.judge.judge_folder", broken)
    report = check([folder], ONE)
    texts, database = sorted(report.files, key=lambda one: one.file.endswith(".db"))
    assert the_failure(texts).startswith("REF002@: could not be judged: KeyError: 'Block Num'")
    assert database.findings == ()
    assert database.is_judged
    for kind in FORMATS.keys() - {"quiet"}:
        target = tmp_path / kind
        write_report(kind, target, report, load_rules())
        assert "REF002" in target.read_text()
