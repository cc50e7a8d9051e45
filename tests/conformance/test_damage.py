"""``damage``: one known fault in a copy, recorded as it is, and found by ``check``."""

from __future__ import annotations

import csv
import json
import random
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner
from slices import few

from ascend_conformance.check import check
from ascend_conformance.cli.damage import damage as damage_verb
from ascend_conformance.damage import Damaged, NotDamaged, damage
from ascend_conformance.media import load_rules
from ascend_conformance.media.db.damaging import _Watch
from ascend_simulator.operator.run import write_kernel
from ascend_simulator.operator.scenario import override as override_kernel
from ascend_simulator.operator.scenario import preset as kernel_preset
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

MANY = 6
"""Rules of each medium that a long run draws."""


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A database, the text files of a folder, and a block file, each by itself."""
    base = tmp_path_factory.mktemp("clean")
    scenario = override(preset("text-museum"), ranks=2, steps=1)
    run = write_run(scenario, 0, base / "run", ("pytorch-db", "pytorch-text")).folder
    database = next(run.rglob("ascend_pytorch_profiler_0.db"))
    output = database.parent
    (base / "db").mkdir()
    shutil.move(database, base / "db" / database.name)
    (output / "analysis.db").unlink()
    folder = output.parent
    kernel = override_kernel(kernel_preset("vector-add"), block_dim=1)
    write_kernel(kernel, base / "kernel", 0)
    return {"db": base / "db" / database.name, "text": folder, "bin": base / "kernel"}


def prints(path: Path) -> dict[str, str]:
    """The contents of a file or folder."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return {str(one): sha256(one.read_bytes()).hexdigest() for one in files}


def damaged(profile: Path, rule: str, folder: Path) -> Damaged:
    """A copy with the fault of a rule; the profile stays what it was, and the rule finds it."""
    before = prints(profile)
    done = damage(profile, load_rules()[rule], folder)
    assert prints(profile) == before
    truth = json.loads((folder / "truth.json").read_text())
    assert truth == done.truth()
    assert truth["changes"]
    assert truth["found"]
    return done


@pytest.mark.exhaustive
def test_a_cell_of_a_database_is_what_the_truth_states(
    profiles: Mapping[str, Path], tmp_path: Path
) -> None:
    done = damaged(profiles["db"], "DB403", tmp_path / "out")
    (one, *_) = done.changes
    table, row = one.where.split(", rowid ")
    query = f"SELECT {one.column} FROM {table} WHERE rowid = {row}"
    with (
        closing(sqlite3.connect(profiles["db"])) as old,
        closing(sqlite3.connect(done.profile)) as new,
    ):
        assert old.execute(query).fetchone()[0] == one.before
        assert new.execute(query).fetchone()[0] == one.after
        assert one.before != one.after


@pytest.mark.exhaustive
def test_one_cell_of_a_csv_file_changes_and_no_other_byte_of_its_rows(
    profiles: Mapping[str, Path], tmp_path: Path
) -> None:
    done = damaged(profiles["text"], "CSV281", tmp_path / "out")
    (one,) = done.changes
    old, new = (
        (base / one.file).read_text().splitlines()
        for base in (profiles["text"].parent, tmp_path / "out")
    )
    (number,) = [at for at, pair in enumerate(zip(old, new, strict=True), 1) if len(set(pair)) > 1]
    assert one.where == f"line {number}"
    header, before, after = csv.reader([old[0], old[number - 1], new[number - 1]])
    differing = [
        at for at, pair in enumerate(zip(before, after, strict=True)) if len(set(pair)) > 1
    ]
    assert [header[at] for at in differing] == [one.column]
    assert [before[at] for at in differing] == [one.before]
    assert [after[at] for at in differing] == [one.after]


@pytest.mark.exhaustive
def test_one_event_of_a_timeline_changes(profiles: Mapping[str, Path], tmp_path: Path) -> None:
    done = damaged(profiles["text"], "TRC282", tmp_path / "out")
    (one,) = done.changes
    old, new = (
        json.loads((base / one.file).read_text())
        for base in (profiles["text"].parent, tmp_path / "out")
    )
    differing = [at for at, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    assert [f"event {at:,}" for at in differing] == [one.where]
    key = str(one.column).removeprefix("/args/")
    assert old[differing[0]]["args"][key] == one.before
    assert new[differing[0]]["args"][key] == one.after


@pytest.mark.exhaustive
def test_an_event_goes_with_its_comma(profiles: Mapping[str, Path], tmp_path: Path) -> None:
    done = damaged(profiles["text"], "XLR802", tmp_path / "out")
    (one,) = done.changes
    old, new = (
        json.loads((base / one.file).read_text())
        for base in (profiles["text"].parent, tmp_path / "out")
    )
    gone = int(one.where.split()[1].rstrip(":").replace(",", ""))
    assert new == old[:gone] + old[gone + 1 :]


@pytest.mark.exhaustive
@pytest.mark.parametrize("rule", few(["DOC204", "DOC240", "LOS301", "REL703"], every=4))
def test_documents_files_and_rows(rule: str, profiles: Mapping[str, Path], tmp_path: Path) -> None:
    damaged(profiles["text"], rule, tmp_path / "out")


@pytest.mark.exhaustive
def test_a_block_file(profiles: Mapping[str, Path], tmp_path: Path) -> None:
    damaged(profiles["bin"], "BIN301", tmp_path / "out")


@pytest.mark.exhaustive
def test_nothing_is_written_where_nothing_can_be_broken(
    profiles: Mapping[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(NotDamaged, match="CSV252 cannot be broken here"):
        damage(profiles["text"], load_rules()["CSV252"], tmp_path / "out")
    with pytest.raises(NotDamaged, match="no file of its kind"):
        damage(profiles["db"], load_rules()["BIN301"], tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_triggers_are_not_run(profiles: Mapping[str, Path], tmp_path: Path) -> None:
    path = tmp_path / profiles["db"].name
    shutil.copy(profiles["db"], path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TRIGGER t AFTER UPDATE ON TASK BEGIN DELETE FROM TASK; END")
    with pytest.raises(NotDamaged, match="triggers"):
        damage(path, load_rules()["DB403"], tmp_path / "out")


def test_the_verb(profiles: Mapping[str, Path], tmp_path: Path) -> None:
    run = CliRunner().invoke(
        damage_verb,
        [str(profiles["db"]), "DB203@TASK.taskType", "-o", str(tmp_path / "out")],
        standalone_mode=False,
    )
    assert run.exit_code == 0, run.output
    assert "DB203" in run.output
    assert "taskType" in run.output
    assert str(tmp_path / "out" / "truth.json") in run.output
    assert "DB203" in {one.rule for one in check([tmp_path / "out"]).findings}


@pytest.mark.campaign
@pytest.mark.parametrize("medium", ["db", "text", "bin"])
def test_rules_drawn_at_random(medium: str, profiles: Mapping[str, Path], tmp_path: Path) -> None:
    """What is written is found, and most rules can be broken in a profile that shows much."""
    rules = [one for one in load_rules().values() if one.medium == medium]
    done = 0
    for number, rule in enumerate(random.Random(7).sample(rules, MANY)):
        try:
            damaged(profiles[medium], rule.id, tmp_path / str(number))
        except NotDamaged:
            continue
        done += 1
    assert done * 3 >= MANY


def test_what_was_undone_is_no_change() -> None:
    """A way that fails after its first statement leaves nothing that the next way could claim."""
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        watch = _Watch(connection)
        connection.execute("SAVEPOINT way")
        watch.run("INSERT INTO t VALUES (1)")
        assert watch.changed
        connection.execute("ROLLBACK TO way")
        watch.forget()
        watch.run("UPDATE t SET a = 2")
        assert not watch.changed
