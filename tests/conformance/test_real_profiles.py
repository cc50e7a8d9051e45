"""What the command says of real profiles: they conform, and what is odd about them is named."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from profiles import COMMAND, clean_environment, copy_real, real, run, state
from slices import some

PROFILERS = {
    "level0_rank0": "ascend_pytorch_profiler_0.db",
    "level1_rank0": "ascend_pytorch_profiler_0.db",
    "level1_rank1": "ascend_pytorch_profiler_1.db",
}
SWAPPED = {"PYTORCH_API.inputDtypes": 451, "PYTORCH_API.inputShapes": 551}
ADDED_BY_VIEWER = {
    "DB120": ["OVERLAP_ANALYSIS", "connectionCats", "sqlite_sequence", "status_info"],
    "DB121": [
        "CANN_API.depth",
        "COMMUNICATION_OP.waitNs",
        "COMPUTE_TASK_INFO.waitNs",
        "PYTORCH_API.depth",
        "TASK.depth",
    ],
}
each_folder = pytest.mark.parametrize("folder", PROFILERS)


@cache
def told(folder: str, form: str) -> subprocess.CompletedProcess[bytes]:
    """What the command says of a real folder; the folder must stay as it is."""
    path = real(folder)
    before = state(path)
    result = run(path, "--format", form)
    assert state(path) == before
    return result


def text(folder: str) -> str:
    """The report as one line, so that the width of the lines does not matter."""
    return " ".join(told(folder, "text").stdout.decode().split())


def findings(folder: str) -> list[dict[str, Any]]:
    report = json.loads(told(folder, "json").stdout)
    return [finding for file in report["files"] for finding in file["findings"]]


def at(folder: str, rule: str) -> dict[str, dict[str, Any]]:
    """The findings of one rule, by their place."""
    return {
        ".".join(part for part in (finding["table"], finding["column"]) if part): finding
        for finding in findings(folder)
        if finding["rule"] == rule
    }


@each_folder
@pytest.mark.parametrize("form", some(["text", "json"], every=2))
def test_a_real_profile_conforms(folder: str, form: str) -> None:
    result = told(folder, form)
    assert (result.returncode, result.stderr) == (0, b"")


@each_folder
def test_a_real_profile_breaks_no_rule(folder: str) -> None:
    assert {finding["verdict"] for finding in findings(folder)} <= {"advice", "note"}
    assert "conforms: no violation" in text(folder)


@each_folder
def test_the_capture_is_named(folder: str) -> None:
    level, rank = folder[5], folder[-1]
    said = text(folder)
    assert f"{folder}/{PROFILERS[folder]} carrier pytorch" in said
    assert f"{folder}/analysis.db carrier analysis" in said
    assert "schema version 1.0.0, revision 1.0.0-2025-01" in said
    assert "product Ascend910B (Atlas A2 training and inference products)" in said
    assert f"level {level} (profiler_info) ranks {rank} devices {rank}" in said
    assert "time 2025-01-09 0" in said


@each_folder
def test_swapped_types_and_shapes_are_advice_with_their_erratum(folder: str) -> None:
    found = at(folder, "DB757")
    assert {place: finding["count"] for place, finding in found.items()} == SWAPPED
    assert {(one["verdict"], one["erratum"]) for one in found.values()} == {("advice", "E23")}
    assert "(erratum E23)" in text(folder)


@pytest.mark.parametrize("folder", ["level1_rank0", "level1_rank1"])
def test_the_older_sentinel_is_advice_with_its_erratum(folder: str) -> None:
    (finding,) = at(folder, "DB614").values()
    assert (finding["table"], finding["column"]) == ("COMMUNICATION_TASK_INFO", "notifyId")
    assert (finding["verdict"], finding["erratum"], finding["count"]) == ("advice", "E32", 36)
    assert "(erratum E32)" in text(folder)


@pytest.mark.parametrize(
    ("folder", "advice"),
    [
        ("level0_rank0", ["DB757"]),
        ("level1_rank0", ["DB003", "DB614", "DB757"]),
        ("level1_rank1", ["DB614", "DB757"]),
    ],
)
def test_nothing_else_is_advised(folder: str, advice: list[str]) -> None:
    found = {finding["rule"] for finding in findings(folder) if finding["verdict"] == "advice"}
    assert sorted(found) == advice


@each_folder
def test_what_the_viewer_added_is_noted_by_name(folder: str) -> None:
    notes = [finding for finding in findings(folder) if finding["verdict"] == "note"]
    if folder != "level1_rank0":
        assert notes == []
        return
    for rule, names in ADDED_BY_VIEWER.items():
        assert sorted(at(folder, rule)) == names
    assert len(notes) == sum(map(len, ADDED_BY_VIEWER.values()))
    said = text(folder)
    for table in ADDED_BY_VIEWER["DB120"]:
        assert f"table {table} was added by: viewer" in said
    for column in ADDED_BY_VIEWER["DB121"]:
        assert f"column {column} was added by: viewer" in said


@each_folder
def test_the_json_report_fits_its_schema(folder: str) -> None:
    printed = subprocess.run(
        [*COMMAND, "--schema"], capture_output=True, check=True, timeout=60, env=clean_environment()
    )
    schema = json.loads(printed.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(json.loads(told(folder, "json").stdout))


def test_the_ranks_of_a_job_are_judged_together(tmp_path: Path) -> None:
    for folder in ("level1_rank0", "level1_rank1"):
        copy_real(folder, tmp_path)
    result = run(tmp_path, "--format", "json")
    assert (result.returncode, result.stderr) == (0, b"")
    files = json.loads(result.stdout)["files"]
    assert [Path(file["file"]).parent.name for file in files] == [
        "level1_rank0",
        "level1_rank0",
        "level1_rank1",
        "level1_rank1",
    ]


def test_the_documented_reading_names_the_errata(tmp_path: Path) -> None:
    """By the letter of the documents a real file is wrong in places, each with its erratum."""
    folder = copy_real("level1_rank1", tmp_path)
    result = run(folder, "--reading", "documented", "--format", "json")
    found = [one for file in json.loads(result.stdout)["files"] for one in file["findings"]]
    assert result.returncode == 1
    graver = [one for one in found if one["verdict"] == "violation"]
    assert [one for one in graver if not one["erratum"]] == []


@pytest.mark.exhaustive
def test_the_module_and_the_command_agree() -> None:
    command = Path(sys.executable).with_name("ascend-ref")
    if not command.exists():
        pytest.skip("ascend-ref is not installed next to this interpreter")
    path = real("level1_rank1")
    installed = subprocess.run(
        [command, "check", "-v", path],
        capture_output=True,
        check=False,
        timeout=60,
        env=clean_environment(),
    )
    assert installed.stdout == told("level1_rank1", "text").stdout


def test_string_ids_come_with_their_texts() -> None:
    found = at("level1_rank1", "DB757")["PYTORCH_API.inputShapes"]
    database = real("level1_rank1") / PROFILERS["level1_rank1"]
    with closing(sqlite3.connect(f"file:{database}?immutable=1", uri=True)) as stored:
        for named, shown in found["texts"].items():
            (text,) = stored.execute(
                "SELECT value FROM STRING_IDS WHERE id = ?", (named.partition("=")[2],)
            ).fetchone()
            assert shown == text.replace("\r", "\\r").replace("\n", "\\n")
    assert len(found["texts"]) == len({one["inputShapes"] for one in found["examples"]})
