"""Real profiles are the same as their copies, and databases as their rebuilt ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from recordings import changed

from ascend_conformance.difference.diff import diff

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [
        "db/level0_rank0",
        "db/level1_rank0",
        "generations/db_910a_2024_level1_rank0",
        "generations/text_llm_2025_level2_rank0",
        "bin/mix.bin",
        "mindspore",
    ],
)
def test_a_real_profile_is_the_same_as_its_copy(name: str, tmp_path: Path) -> None:
    source = DATA / name
    if not source.exists():
        pytest.skip(f"needs the real profile {name}, which is not part of the project")
    target = tmp_path / source.name
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)
    for database in target.rglob("*.db"):
        database.chmod(0o644)
        with changed(database) as connection:
            connection.execute("CREATE TABLE private_for_space (a)")
            connection.execute("DROP TABLE private_for_space")
        with changed(database) as connection:
            connection.execute("PRAGMA user_version = 7")
    report = diff(source, target)
    assert report.findings == ()
    assert not any(one.unreadable for one in report.files)
