"""Real profiles, judged by the command as a stranger would run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "db"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"real profiles are not at {DATA}")
pytestmark = needs_data

ADDED_BY_VIEWER = {
    "OVERLAP_ANALYSIS",
    "connectionCats",
    "sqlite_sequence",
    "status_info",
    "CANN_API.depth",
    "COMMUNICATION_OP.waitNs",
    "COMPUTE_TASK_INFO.waitNs",
    "PYTORCH_API.depth",
    "TASK.depth",
}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ascend_ref", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def findings(name: str) -> tuple[dict, list[dict]]:
    done = run("check", str(DATA / name), "--format", "json")
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    found = [finding for file in document["files"] for finding in file["findings"]]
    for finding in found:
        parts = (finding.get("table"), finding.get("column"))
        finding["place"] = ".".join(part for part in parts if part)
    return document, found


@pytest.mark.parametrize(
    ("name", "rank", "level"),
    [("level0_rank0", 0, "0"), ("level1_rank0", 0, "1"), ("level1_rank1", 1, "1")],
)
def test_a_real_profile_conforms_and_is_recognised(name, rank, level):
    done = run("check", str(DATA / name))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    seen = done.stdout
    assert "carrier   pytorch" in seen
    assert "carrier   analysis" in seen
    assert seen.count("version 1.0.0, revision 1.0.0-2025-01") == 2
    assert "Ascend910B (Atlas A2" in seen
    assert f"level     {level} (profiler_info)" in seen
    assert f"ranks     {rank}\n" in seen
    assert "no violation" in seen.splitlines()[-1]


@pytest.mark.parametrize("name", ["level0_rank0", "level1_rank0", "level1_rank1"])
def test_swapped_types_and_shapes_are_advice_with_their_erratum(name):
    _, found = findings(name)
    swapped = [one for one in found if one.get("erratum") == "E23"]
    assert {one["place"] for one in swapped} == {
        "PYTORCH_API.inputDtypes",
        "PYTORCH_API.inputShapes",
    }
    assert {one["verdict"] for one in swapped} == {"advice"}
    assert not [one for one in found if one["verdict"] == "violation"]


@pytest.mark.parametrize("name", ["level1_rank0", "level1_rank1"])
def test_the_old_sentinel_of_notify_ids_is_advice_with_its_erratum(name):
    _, found = findings(name)
    (old,) = [one for one in found if one.get("erratum") == "E32"]
    assert (old["place"], old["verdict"], old["count"]) == (
        "COMMUNICATION_TASK_INFO.notifyId",
        "advice",
        36,
    )


def test_everything_that_a_viewer_added_is_named_and_nothing_else_is():
    _, edited = findings("level1_rank0")
    notes = {one["place"] for one in edited if one["verdict"] == "note"}
    assert notes == ADDED_BY_VIEWER
    _, pristine = findings("level1_rank1")
    assert not [one for one in pristine if one["verdict"] == "note"]


def test_the_json_report_fits_its_published_schema():
    schema = json.loads(run("check", "--schema").stdout)
    document = json.loads(run("check", str(DATA / "level1_rank0"), "--format", "json").stdout)
    jsonschema.Draft202012Validator(schema).validate(document)


def test_the_input_stays_as_it_was_and_nothing_appears_beside_it():
    before = {path: path.read_bytes() for path in sorted(DATA.rglob("*")) if path.is_file()}
    run("check", str(DATA))
    after = {path: path.read_bytes() for path in sorted(DATA.rglob("*")) if path.is_file()}
    assert before == after


def test_all_ranks_together_conform():
    assert run("check", str(DATA)).returncode == 0
