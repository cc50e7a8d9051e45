"""``diff`` of two databases: what means nothing is none, and each difference is named once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from recordings import changed, database_of, move_clock, renumber, write_profile

from ascend_conformance.difference.diff import diff
from ascend_conformance.finding import Finding, Report
from ascend_conformance.report.phrases import conclusion


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database alone in its folder."""
    base = tmp_path_factory.mktemp("profile")
    (base / "a").mkdir()
    source = database_of(write_profile(base, ["pytorch-db"]))
    return Path(shutil.copy(source, base / "a" / source.name))


@pytest.fixture
def copy(profile: Path, tmp_path: Path) -> Path:
    (tmp_path / "b").mkdir()
    return Path(shutil.copy(profile, tmp_path / "b" / profile.name))


def found(report: Report) -> list[tuple[str, str, int]]:
    assert not any(file.unreadable for file in report.files)
    return [(one.name, one.place, one.count) for one in report.findings]


def test_a_profile_is_equal_to_itself(profile: Path) -> None:
    assert conclusion(diff(profile, profile)) == "equal: no difference, no advice, no note"


@pytest.mark.exhaustive
def test_other_numbers_and_another_order_are_no_difference(profile: Path, copy: Path) -> None:
    renumber(copy)
    assert found(diff(profile, copy)) == []
    assert found(diff(copy, profile)) == []


def test_a_moved_clock_is_one_difference(profile: Path, copy: Path) -> None:
    renumber(copy)
    move_clock(copy, -1_234_567)
    (finding,) = diff(profile, copy).findings
    assert finding.name == "clock-moved"
    assert "B is 1,234,567 ns earlier" in finding.message


CHANGES = {
    "other value": (
        "UPDATE TASK SET endNs = endNs + 1 WHERE rowid = (SELECT max(rowid) FROM TASK)",
        [("value-differs", "TASK.endNs", 1)],
    ),
    "other text": (
        "UPDATE COMPUTE_TASK_INFO "
        "SET opState = (SELECT id FROM STRING_IDS WHERE value = 'AI_CORE') "
        "WHERE globalTaskId = (SELECT min(globalTaskId) FROM COMPUTE_TASK_INFO)",
        [("value-differs", "COMPUTE_TASK_INFO.opState", 1)],
    ),
    "row lost": (
        "DELETE FROM MEMORY_RECORD WHERE rowid = (SELECT max(rowid) FROM MEMORY_RECORD)",
        [("row-only-in-a", "MEMORY_RECORD", 1)],
    ),
    "row twice": (
        "INSERT INTO NPU_MEM SELECT * FROM NPU_MEM LIMIT 3",
        [("row-only-in-b", "NPU_MEM", 3)],
    ),
    "other call": (
        "UPDATE TASK SET connectionId = (SELECT max(connectionId) FROM CANN_API) "
        "WHERE rowid = (SELECT min(rowid) FROM TASK WHERE connectionId < 4294967295)",
        [("value-differs", "TASK.connectionId", 1)],
    ),
    "table lost": ("DROP TABLE AICORE_FREQ", [("file-only-in-a", "AICORE_FREQ", 1)]),
    "column lost": (
        "ALTER TABLE TASK DROP COLUMN modelId",
        [("column-only-in-a", "TASK.modelId", 1)],
    ),
    "table of a vendor": (
        "CREATE TABLE PRIVATE (a INTEGER); INSERT INTO PRIVATE VALUES (1)",
        [("file-only-in-b", "PRIVATE", 1)],
    ),
}  # fmt: skip


def test_each_difference_is_named_once_at_its_place(profile: Path, copy: Path) -> None:
    renumber(copy)
    with changed(copy) as connection:
        for statements, _ in CHANGES.values():
            connection.executescript(statements)
    expected = [one for _, some in CHANGES.values() for one in some]
    assert sorted(found(diff(profile, copy))) == sorted(expected)


@pytest.mark.campaign
@pytest.mark.parametrize("change", CHANGES)
def test_a_difference_alone_is_the_only_one(change: str, profile: Path, copy: Path) -> None:
    statements, expected = CHANGES[change]
    renumber(copy)
    with changed(copy) as connection:
        connection.executescript(statements)
    assert found(diff(profile, copy)) == expected
    other_way = [one for *_, one in found(diff(copy, profile))]
    assert other_way == [one for *_, one in expected]


def test_what_leads_to_a_row_that_differs_does_not_differ(profile: Path, copy: Path) -> None:
    """Tasks of a call whose end is another, and the kernels of these tasks, are the same."""
    renumber(copy)
    with changed(copy) as connection:
        connection.execute(
            "UPDATE CANN_API SET endNs = endNs + 7 WHERE connectionId = (SELECT connectionId "
            "FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId) LIMIT 1)"
        )
    assert found(diff(profile, copy)) == [("value-differs", "CANN_API.endNs", 1)]


def test_both_places_of_a_difference_are_stated(profile: Path, copy: Path) -> None:
    with changed(copy) as connection:
        (row,) = connection.execute("SELECT max(rowid) FROM TASK").fetchone()
        connection.execute(
            "UPDATE TASK SET rowid = rowid + 77, endNs = endNs + 5 WHERE rowid = ?", (row,)
        )
    (finding,) = diff(profile, copy).findings
    assert finding.examples[0]["A"] == f"TASK rowid {row}"
    assert finding.examples[0]["B"] == f"TASK rowid {row + 77}"
    assert f"TASK rowid {row} of A, TASK rowid {row + 77} of B" in finding.message


def test_a_name_of_another_revision_is_no_difference(profile: Path, copy: Path) -> None:
    with changed(copy) as connection:
        connection.execute("ALTER TABLE COMPUTE_TASK_INFO RENAME COLUMN blockNum TO blockDim_")
        connection.execute("ALTER TABLE COMPUTE_TASK_INFO DROP COLUMN gridDim")
        connection.execute("ALTER TABLE COMPUTE_TASK_INFO DROP COLUMN blockDim")
        connection.execute("ALTER TABLE COMPUTE_TASK_INFO RENAME COLUMN blockDim_ TO blockDim")
    lost = {one.place for one in diff(profile, copy).findings}
    assert lost == {"COMPUTE_TASK_INFO.gridDim", "COMPUTE_TASK_INFO.blockDim"}


def private(values: Callable[[int], int]) -> str:
    rows = ", ".join(f"({values(one)}, 'x{one}')" for one in range(20))
    return f"CREATE TABLE PRIVATE (a INTEGER, b TEXT); INSERT INTO PRIVATE VALUES {rows};"


def test_tables_and_columns_that_the_spec_does_not_know_are_compared(
    profile: Path, copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    first = Path(shutil.copy(profile, tmp_path / "a"))
    for path, script in ((first, private(int)), (copy, private(lambda one: one + (one == 7)))):
        with changed(path) as connection:
            connection.executescript(script)
            connection.execute("ALTER TABLE TASK ADD COLUMN color TEXT DEFAULT 'red'")
    with changed(copy) as connection:
        connection.execute("UPDATE TASK SET color = 'blue' WHERE rowid = 3")
    assert sorted(found(diff(first, copy))) == [
        ("row-only-in-a", "PRIVATE", 1),
        ("row-only-in-a", "TASK.color", 1),
        ("row-only-in-b", "PRIVATE", 1),
        ("row-only-in-b", "TASK.color", 1),
    ]


def test_what_cannot_be_read_is_stated(profile: Path, tmp_path: Path) -> None:
    broken = tmp_path / profile.name
    broken.write_bytes(profile.read_bytes()[:20_000])
    report = diff(profile, broken)
    assert report.files[0].unreadable
    assert conclusion(report).startswith("not compared: ")


@pytest.mark.exhaustive
def test_the_same_difference_has_the_same_fingerprint(profile: Path, copy: Path) -> None:
    prints = []
    for length in (1, 2):
        with changed(copy) as connection:
            connection.execute("UPDATE TASK SET endNs = endNs + ? WHERE rowid % 5 = 0", (length,))
        prints.append(sorted(map(_print, diff(profile, copy).findings)))
    assert prints[0] == prints[1]


def _print(one: Finding) -> str:
    return one.fingerprint
