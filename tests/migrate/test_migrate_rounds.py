"""What a migration claims to come back comes back, and what it calls lost is what is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from plain_rounds import DATA, differing, dump, lost, there_and_back
from slices import marked

from ascend_conformance.check import check
from ascend_ref.migrate.database import migrate_database
from ascend_ref.migrate.profile import migrate_profile
from ascend_ref.states import Target
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset
from ascend_simulator.specimen.folder import write_msprof_folder, write_rank_folder
from ascend_spec import catalog

REAL = (
    "db/level0_rank0/ascend_pytorch_profiler_0.db",
    "db/level1_rank0/ascend_pytorch_profiler_0.db",
    "db/level1_rank1/ascend_pytorch_profiler_1.db",
    "db/level1_rank1/analysis.db",
    "generations/db_910a_2024_level1_rank0/ascend_pytorch_profiler_0.db",
    "generations/db_910a_2024_level1_rank0/analysis.db",
)
WAYS = (
    ("1.0.0-2025-01", "1.2.0-2026-07"),
    ("1.2.0-2026-07", "1.0.0-2025-01"),
    ("1.0.0-2024-10", "1.0.0-2025-01"),
    ("1.2.0-2026-07", "1.0.0-2024-10"),
)
MORE = [
    (old.id, new.id)
    for old in catalog().revisions
    for new in catalog().revisions
    if old is not new and (old.id, new.id) not in WAYS and old.grade == new.grade == "observed"
]


def further(*cases: Sequence[Any]) -> list[Any]:
    """Cases for make exhaustive."""
    return [marked(one, pytest.mark.exhaustive) for some in cases for one in some]


def real(name: str) -> Path:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"needs the real profiles of {DATA}")
    return path


@pytest.mark.parametrize("name", [*REAL[1::4], *further(REAL[:1], REAL[2:5])])
def test_a_real_database_comes_back_as_it_was_but_for_what_is_stated(
    name: str, tmp_path: Path
) -> None:
    source = real(name)
    there, again, back = there_and_back(source, "1.2.0", tmp_path)
    assert differing(source, back) == lost((there, again))
    assert again.lost == 0
    nameless = {"NPU_MODULE_MEM.moduleId": 29} if "910a_2024" in name and "prof" in name else {}
    assert lost([there]) == Counter(nameless)


def rounds(old: str, new: str, folder: Path) -> None:
    """Both ways, of every database of a specimen; columns that others are made of stay."""
    write_rank_folder(folder / "rank_ascend_pt", old)
    write_msprof_folder(folder / "PROF", old)
    for source in sorted(folder.rglob("*.db")):
        there, again, back = there_and_back(source, new, folder)
        assert differing(source, back) == lost((there, again)), source


@pytest.mark.parametrize(("old", "new"), [WAYS[1], *further(WAYS[:1], WAYS[2:])])
def test_a_specimen_comes_back_but_for_what_is_stated(old: str, new: str, tmp_path: Path) -> None:
    rounds(old, new, tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        marked(one, pytest.mark.exhaustive if at % 10 == 0 else pytest.mark.campaign)
        for at, one in enumerate(MORE)
    ],
)
def test_every_pair_of_revisions_comes_back(old: str, new: str, tmp_path: Path) -> None:
    rounds(old, new, tmp_path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One recording as exporters of several revisions wrote it."""
    base = tmp_path_factory.mktemp("runs")
    scenario = override(preset("dense-8"), ranks=2, steps=1)
    return {
        revision: write_run(scenario, 0, base / revision, ("pytorch-db",), revision=revision).folder
        for revision in ("1.0.0-2025-01", "1.2.0-2026-07")
    }


@pytest.mark.parametrize(("old", "new"), WAYS[:2])
def test_a_migrated_run_is_what_the_exporters_of_the_target_write(
    runs: dict[str, Path], tmp_path: Path, old: str, new: str
) -> None:
    """Of the same recording; but for what the older one cannot know."""
    account = migrate_profile(runs[old], [Target("revision", new)], tmp_path / "out")
    for source in sorted(runs[new].rglob("*.db")):
        made = next((tmp_path / "out").rglob(f"{source.parents[1].name}/*/{source.name}"))
        expected, found = dump(source), dump(made)
        told = {
            entry.place
            for one in account.files
            for entry in one.entries
            if entry.effect in ("defaulted", "kept", "added")
        }
        for table, (columns, rows) in expected.items():
            if table not in found:
                assert table in ("MEMCPY_INFO", "OVERLAP_ANALYSIS"), table  # not recorded before
                continue
            assert found[table][0] == columns, table
            if table == "STRING_IDS" or table.startswith("ENUM_"):
                continue
            assert len(found[table][1]) == len(rows), table
            unlike = {
                f"{table}.{column}"
                for one, other in zip(rows, found[table][1], strict=True)
                for column, was, now in zip(columns, one, other, strict=True)
                if was != now and column not in TEXT_IDS.get(table, ())
            }
            assert unlike <= told | HABITS, (table, unlike)


HABITS = {
    "COMMUNICATION_OP.opId",
    "COMMUNICATION_TASK_INFO.opId",
    "CONNECTION_IDS.connectionId",
    "PYTORCH_API.connectionId",
}
"""Numbered otherwise in 1.0.0 (db-schema.md 4.5, 4.9); a migration keeps numbers."""

TEXT_IDS = {
    table.name: {name for name, one in table.columns.items() if one.text_reference}
    for table in catalog().tables.values()
}
"""Ids of texts follow the texts that a file has."""


@pytest.mark.parametrize(("old", "new"), [WAYS[1], *further(WAYS[:1])])
def test_a_migrated_run_conforms_at_the_target(
    runs: dict[str, Path], tmp_path: Path, old: str, new: str
) -> None:
    migrate_profile(runs[old], [Target("revision", new)], tmp_path / "out")
    report = check([tmp_path / "out"])
    assert {one.seen.revision for one in report.files if one.seen} == {new}
    assert {(one.rule, one.place) for one in report.findings if one.verdict != "note"} <= {
        ("DB125", "ENUM_API_TYPE.id"),
        ("DB125", "ENUM_MODULE.id"),
    }


@pytest.mark.parametrize("name", further(REAL[:3]))
def test_a_real_database_has_no_other_violations_at_the_target(name: str, tmp_path: Path) -> None:
    source = real(name)
    made = tmp_path / source.name
    migrate_database(source, catalog().revision("1.2.0"), made)

    def violations(path: Path) -> set[tuple[str, str]]:
        return {
            (one.rule, one.place) for one in check([path]).findings if one.verdict == "violation"
        }

    assert violations(made) <= violations(source)
