"""``ascend-ref diff spec``: reports, exit codes, states and what its guide prints."""

from __future__ import annotations

import json
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from working_copy import add_column, copy_spec

from ascend_conformance.report import FORMATS
from ascend_conformance.schema import BREAKS
from ascend_ref.cli import main
from ascend_spec import catalog, packaged

GUIDE = Path(__file__).parents[2] / "docs" / "schema.md"
RENAME = "1.2.0-2025-12", "1.2.0-2026-02"
ADDITION = "1.2.0-2026-06", "1.2.0-2026-07"
ANNOUNCED = "1.0.0", "1.2.0"


def report(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    main(["diff", "spec", *words, "--format", "json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def findings(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    return [one for file in report(capsys, *words)["files"] for one in file["findings"]]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (RENAME, 1),
        (ADDITION, 0),
        ((*ADDITION, "--fail-on", "advice"), 1),
        (ANNOUNCED, 0),
        ((*ANNOUNCED, "--fail-on", "advice"), 1),
        ((*RENAME, "--fail-on", "never"), 0),
        ((*RENAME, "--select", "CHG131"), 0),
        ((*RENAME, "--ignore", "CHG"), 0),
        (("1.2.0-2026-02", "1.2.0-2026-02", "--fail-on", "note"), 0),
        (("1.2.0-2025-12", "E2"), 2),
        ((*RENAME, "--select", "CHG9999"), 2),
        (("no-such-state", "1.2.0"), 2),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else str(one),
)
def test_the_exit_code_says_whether_something_breaks(
    words: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "spec", *words]) == code
    err = capsys.readouterr().err
    assert (err.count("\n") == 1) == (code == 2)


def test_an_unknown_state_is_one_line_with_what_is_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["diff", "spec", "1.2.0-2026-01", "1.2.0"]) == 2
    error = capsys.readouterr().err
    assert "unknown state '1.2.0-2026-01'" in error
    assert "did you mean 1.2.0-2026-0" in error


def test_what_breaks_is_a_violation_unless_the_version_admits_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    of_rename = {one["rule"]: one["verdict"] for one in findings(capsys, *RENAME)}
    assert of_rename["CHG001"] == of_rename["CHG134"] == "violation"
    of_announced = {one["rule"]: one["verdict"] for one in findings(capsys, *ANNOUNCED)}
    assert of_announced["CHG134"] == "advice"
    assert of_announced["CHG101"] == "note"
    assert "CHG001" not in of_announced


def test_changes_stand_in_the_order_of_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a set they would stand in another order in every process."""
    main(["diff", "spec", "1.2.0-2026-04", "1.2.0-2026-06", "--format", "jsonl"])
    lines = list(map(json.loads, capsys.readouterr().out.splitlines()))
    tables = [one["table"] for one in lines if one.get("rule") == "CHG101"]
    known = [f"table/{name}" for name in catalog().at("1.2.0-2026-06", "msprof").tables]
    assert tables == [one for one in known if one in tables]


def test_a_baseline_silences_what_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known.json"
    assert main(["diff", "spec", *RENAME, "--write-baseline", str(known)]) == 1
    assert main(["diff", "spec", *RENAME, "--baseline", str(known)]) == 0
    capsys.readouterr()
    further = report(capsys, "1.2.0-2025-12", "1.2.0-2026-06", "--baseline", str(known))
    rules = {one["rule"] for file in further["files"] for one in file["findings"]}
    assert "CHG136" in rules
    assert "CHG134" not in rules


def test_expected_changes_must_come(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = tmp_path / "expected.txt"
    expected.write_text("CHG*@*\n", encoding="utf-8")
    assert main(["diff", "spec", *RENAME, "--expected", str(expected)]) == 0
    expected.write_text("CHG*@*\ncolumn-removed@column/TASK.startNs\n", encoding="utf-8")
    assert main(["diff", "spec", *RENAME, "--expected", str(expected)]) == 1
    assert "expected but absent: column-removed@column/TASK.startNs" in capsys.readouterr().err


def test_every_form_of_report_is_written(tmp_path: Path) -> None:
    reports = [word for kind in FORMATS for word in ("--report", f"{kind}={tmp_path / kind}")]
    assert main(["diff", "spec", *RENAME, *reports]) == 1
    assert {path.name for path in tmp_path.iterdir()} == set(FORMATS)
    assert "CHG134" in (tmp_path / "markdown").read_text(encoding="utf-8")
    sarif = json.loads((tmp_path / "sarif").read_text(encoding="utf-8"))
    rules = {one["id"] for one in sarif["runs"][0]["tool"]["driver"]["rules"]}
    assert {"CHG001", "CHG134", "CHG182", "CHG183"} == rules
    assert ET.parse(tmp_path / "junit").getroot().tag == "testsuites"  # noqa: S314 - our own


def test_a_working_copy_is_compared_with_the_packaged_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_spec(tmp_path / "draft")
    line = "depth: {type: byteCount, shows: {nothing: unrecorded}, summary: Depth.}"
    add_column(folder, "msprof/task.yaml", line, ("1.2.0", "2026-12-01"))
    (found, version) = findings(capsys, "1.2.0-2026-07", str(folder))
    assert (version["rule"], version["table"]) == ("CHG132", "column/TASK.depth")
    assert found["rule"] == "CHG001"
    assert findings(capsys, "1.2.0-2026-07", f"{folder}@1.2.0-2025-12")
    assert not findings(capsys, str(folder), str(folder))


def test_the_class_of_a_rule_is_explained_in_the_guide() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for breaks, words in BREAKS.items():
        assert f"| {breaks} | {words} |" in text


def test_what_the_guide_says_is_printed_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```text\n\$ (.*?)\n(.*?)^```", GUIDE.read_text("utf-8"), re.M | re.S)
    assert blocks
    for command, expected in blocks:
        main(shlex.split(command)[1:])
        assert capsys.readouterr().out.strip() == expected.strip()


def test_a_draft_of_a_shared_document_is_seen_in_every_family(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = tmp_path / "percent.yaml"
    draft.write_text("value-type/percent: {maximum: 101}\n", encoding="utf-8")
    found = report(capsys, str(packaged().folder.root), str(draft))
    assert {file["file"] for file in found["files"]} == {"databases", "CSV files", "timelines"}


@pytest.mark.parametrize(
    ("document", "text", "wrong", "said"),
    [
        ("bin/payloads/basic-info.schema.yaml", "values_of: op_types", "values_of: nope", "nope"),
        ("raw/files.yaml", "record: NPU_MODULE_MEM", "record: NOPE", "unknown record 'NOPE'"),
        ("db/revisions.yaml", "schema_version: 1.2.0", "schema_version: '1.2'", "three numbers"),
        ("bin/enums.yaml", "chips:", "chips: [", "cannot be read"),
    ],
)
def test_a_working_copy_that_cannot_be_used_is_one_line(
    document: str,
    text: str,
    wrong: str,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = copy_spec(tmp_path / "draft")
    place = folder / document
    content = place.read_text(encoding="utf-8")
    assert text in content
    place.write_text(content.replace(text, wrong), encoding="utf-8")
    assert main(["diff", "spec", str(packaged().folder.root), str(folder)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "internal error" not in error
    assert error.count("\n") == 1
