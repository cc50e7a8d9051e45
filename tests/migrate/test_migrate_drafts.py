"""What a draft of the spec adds, migrations know at once; tables that were renamed go on."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from plain_rounds import dump

from ascend_ref.cli import main
from ascend_ref.migrate.database import migrate_database
from ascend_simulator.specimen.folder import write_msprof_folder
from ascend_spec import catalog

DOCUMENT = Path(__file__).parents[2] / "docs" / "drafts.md"
ENUM = "ENUM_OVERLAP_ANALYSIS_TYPE"


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    """The one that docs/drafts.md shows, with its revision."""
    (text, *_) = re.findall(r"^```yaml\n# queue.yaml\n(.*?)^```", DOCUMENT.read_text(), re.M | re.S)
    path = tmp_path / "queue.yaml"
    path.write_text(text)
    assert main(["spec", "bump", str(path), "--date", "2026-12-01"]) == 0
    return path


@pytest.mark.exhaustive
def test_a_draft_is_migrated_to_and_back_without_a_line_of_python(
    draft: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_msprof_folder(tmp_path / "run", "1.2.0-2026-07")
    with_draft = ["--spec", str(draft)]
    assert main([*with_draft, "migrate", "run", "--to", "1.3.0-queue", "-o", "new"]) == 0
    told = capsys.readouterr().out
    assert "defaulted TASK.queueOf: 0" in told
    assert "added ENUM_HCCL_LINK_TYPE: members QUEUE" in told
    assert main([*with_draft, "check", "new/run", "--fail-on", "violation"]) == 0
    assert "1.3.0-queue" in capsys.readouterr().out
    (made,) = Path("new").rglob("*.db")
    columns, _ = dump(made)["TASK"]
    assert columns[columns.index("taskId") + 1] == "queueOf"

    assert main([*with_draft, "migrate", "new/run", "--to", "1.2.0-2026-07", "-o", "old"]) == 0
    (source,), (back,) = Path("run").rglob("*.db"), Path("old").rglob("*.db")
    assert dump(back) == dump(source)


@pytest.mark.exhaustive
def test_what_a_draft_has_and_the_target_has_not_is_lost_and_counted(
    draft: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with_draft = ["--spec", str(draft)]
    write = ["specimen", "--carrier", "msprof", "--revision", "1.3.0-queue", "-o", "new"]
    assert main([*with_draft, *write]) == 0
    (source,) = Path("new").rglob("*.db")
    with closing(sqlite3.connect(source)) as db:
        (tasks,) = db.execute("SELECT count(*) FROM TASK WHERE queueOf IS NOT 0").fetchone()
        (fills,) = db.execute("SELECT count(*) FROM QUEUE_USAGE").fetchone()
    capsys.readouterr()
    assert main([*with_draft, "migrate", "new", "--to", "1.2.0-2026-07", "-o", "old"]) == 1
    told = capsys.readouterr().out
    assert f"lost TASK.queueOf: no column of 1.2.0-2026-07 ({tasks:,})" in told
    assert f"lost QUEUE_USAGE: no table of 1.2.0-2026-07 ({fills:,})" in told


def test_a_table_goes_on_under_its_new_name(tmp_path: Path) -> None:
    """e8dd26180 of 2026-07-16: ENUM_OVERLAY_ANALYSIS_TYPE became ENUM_OVERLAP_ANALYSIS_TYPE."""
    write_msprof_folder(tmp_path / "run", "1.2.0-2026-07")
    (source,) = (tmp_path / "run").rglob("*.db")
    old, made = tmp_path / "old.db", tmp_path / "made.db"
    shutil.copyfile(source, old)
    with closing(sqlite3.connect(old)) as db:
        db.execute(f"ALTER TABLE {ENUM} RENAME TO ENUM_OVERLAY_ANALYSIS_TYPE")
        db.commit()
    account = migrate_database(old, catalog().revision("1.2.0-2026-07"), made)
    assert ("renamed", ENUM) in {(one.effect, one.place) for one in account.entries}
    assert account.lost == 0
    assert dump(made) == dump(source)
