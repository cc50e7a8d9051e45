"""The examples of CONTRIBUTING.md, each put where its text says, in working copies."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from working_copy import add_line, copy_spec

import ascend_conformance
from ascend_ref.cli import main
from ascend_spec import packaged

PAPER = Path(__file__).parents[2] / "CONTRIBUTING.md"
REVISION = "1.2.0-2026-08"
BREAK_DATABASE = """
import sys
from dataclasses import replace
from pathlib import Path
from ascend_spec import load_spec, using
from ascend_conformance.media.db.selftest import batches, run_batch
with using(load_spec(Path(sys.argv[1]))):
    every = batches(("msprof",), (sys.argv[2],))
    keys = [key for batch in every for key in batch.keys]
    keys = tuple(key for key in keys if "LINK_USAGE" in key or "LINK_STATE" in key)
    result = run_batch(replace(every[0], keys=keys))
    assert (result.unclean, result.missed, result.false_alarms) == ([], [], [])
    print(*(trial.rule for trial in result.trials))
"""
BREAK_BLOCK = """
from ascend_conformance.media.bin.selftest import run_bin
from ascend_conformance.media.bin.selftest import PRESETS, clean_file
result = run_bin({name: clean_file(name) for name in PRESETS}, ["BIN599"])
assert (result.unclean, result.missed, result.false_alarms) == ([], [], [])
print(*(trial.rule for trial in result.mutations))
"""


def example(mark: str) -> str:
    """The one block of YAML that begins with a line."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAPER.read_text("utf-8"), re.DOTALL)
    (found,) = (block for block in blocks if block.startswith(mark))
    assert yaml.safe_load(found)
    return str(found)


def append(document: Path, text: str) -> None:
    document.write_text(document.read_text("utf-8").rstrip("\n") + "\n" + text, "utf-8")


def run(script: str, conformance: Path, *arguments: object) -> str:
    """The output of Python code that imports this copy of the rules."""
    path = os.pathsep.join([str(conformance.parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_spec(tmp_path_factory.mktemp("contributing") / "spec")
    tables = folder / "db" / "tables" / "msprof"
    (tables / "link_usage.yaml").write_text(example("table: LINK_USAGE"), "utf-8")
    append(folder / "db" / "revisions.yaml", example("- id: 1.2.0-2026-08"))
    (folder / "db" / "enums" / "link_state.yaml").write_text(
        example("enum: ENUM_LINK_STATE"), "utf-8"
    )
    append(folder / "core" / "value_types.yaml", example("linkStateId:"))
    simple = (tables / "enum_tables.yaml").read_text("utf-8")
    own = simple.replace("table: [ENUM_MODULE,", "since: '2026-08-01'\ntable: [ENUM_LINK_STATE,")
    own = re.sub(r"\[ENUM_LINK_STATE,.*\]", "[ENUM_LINK_STATE]", own)
    (tables / "enum_link_state.yaml").write_text(own, "utf-8")
    add_line(
        folder / "text" / "csv" / "op_summary.yaml",
        "  " + example("- {name: Process ID").strip(),
        "  - {name: Stream ID,",
    )
    return folder


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (packaged,) = ascend_conformance.__path__
    place = tmp_path_factory.mktemp("rules") / "ascend_conformance"
    shutil.copytree(packaged, place, ignore=shutil.ignore_patterns("__pycache__"))
    append(place / "rules" / "samples.yaml", example("- rule: DB490"))
    append(place / "rules" / "bin" / "loads.yaml", example("- rule: BIN599"))
    return place


@pytest.mark.parametrize(
    ("kind", "mark"), [("table", "table: LINK_USAGE"), ("enum", "enum: ENUM_LINK_STATE")]
)
def test_the_documents_are_what_the_vocabulary_says(kind: str, mark: str) -> None:
    schemas = {
        name.split("/")[1]: content for name, content in packaged().folder.documents("vocabulary")
    }
    registry: Registry[Any] = Registry().with_resources(
        (name, DRAFT202012.create_resource(schema)) for name, schema in schemas.items()
    )
    validator = Draft202012Validator(schemas[f"{kind}.schema.yaml"], registry=registry)
    document = yaml.safe_load(example(mark))
    assert [error.message for error in validator.iter_errors(document)] == []


def test_the_table_and_the_enum_are_in_a_specimen_that_conforms(spec: Path, tmp_path: Path) -> None:
    chosen = ("--spec", str(spec))
    written = tmp_path / "new"
    assert main([*chosen, "specimen", "-o", str(written), "--carrier", "msprof"]) == 0
    assert main([*chosen, "check", str(written)]) == 0
    (database,) = written.rglob("*.db")
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) > 0 FROM LINK_USAGE").fetchone() == (1,)
        members = connection.execute("SELECT * FROM ENUM_LINK_STATE ORDER BY id").fetchall()
    assert members == [(0, "DOWN"), (1, "UP"), (2, "SLEEP")]
    before = tmp_path / "old"
    old = ("--revision", "1.2.0-2026-07", "--carrier", "msprof")
    assert main([*chosen, "specimen", "-o", str(before), *old]) == 0
    assert main([*chosen, "check", str(before)]) == 0
    assert b"LINK_USAGE" not in next(before.rglob("*.db")).read_bytes()


def test_the_value_type_and_the_table_are_shown_and_exported(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--spec", str(spec), "spec", "show", "LINK_USAGE.load"]) == 0
    assert "busy" in capsys.readouterr().out
    assert main(["--spec", str(spec), "spec", "export", "carrier/msprof", "-o", "-"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert "LINK_USAGE" in json.dumps(schema)


@pytest.mark.exhaustive
def test_the_column_of_the_csv_file_is_written(spec: Path, tmp_path: Path) -> None:
    run_of = tmp_path / "run"
    arguments = ("simulate", "single-op", "-o", str(run_of), "--as", "csv,msprof-db")
    assert main(["--spec", str(spec), *arguments]) == 0
    (summary,) = run_of.rglob("op_summary_*.csv")
    with summary.open(encoding="utf-8", newline="") as file:
        shown = {row["Process ID"] for row in csv.DictReader(file)}
    (database,) = run_of.rglob("msprof_*.db")
    with closing(sqlite3.connect(database)) as connection:
        processes = {str(one) for (one,) in connection.execute("SELECT globalPid FROM TASK")}
    assert shown == processes
    assert main(["--spec", str(spec), "check", str(run_of)]) == 0


@pytest.mark.exhaustive
def test_the_rule_of_the_database_wakes_for_its_defect_alone(spec: Path, rules: Path) -> None:
    tried = run(BREAK_DATABASE, rules, spec, REVISION)
    assert "DB490" in tried


@pytest.mark.exhaustive
def test_the_rule_of_the_block_wakes_for_its_defect_alone(rules: Path) -> None:
    assert "BIN599" in run(BREAK_BLOCK, rules)
