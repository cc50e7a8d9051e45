"""Every form of report names the very file, the place in it, its line and its byte."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from test_text_csv_structure import API, KERNELS, cell
from text_folders import STRUCTURE, changed, copied, judged

from ascend_conformance.cli.check import check
from ascend_conformance.finding import Finding, Report, split_place
from ascend_conformance.media import load_rules
from ascend_conformance.report import (
    FORMATS,
    ReportError,
    baseline_document,
    collapse,
    judge,
    read_baseline,
    report_schema,
    write_report,
)

SELECTED = ["--select", "CSV0,TRC0,DOC0", "--workers", "1"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return changed(tmp_path_factory.mktemp("report"), KERNELS, cell(9, "Duration(us)", "long"))


@pytest.fixture(scope="module")
def report(path: Path) -> Report:
    return Report(judged(path.parent, STRUCTURE), "1", "observed")


@pytest.mark.parametrize("kind", sorted(FORMATS.keys() - {"quiet", "statistics"}))
def test_every_form_names_file_place_line_and_byte(kind: str, report: Report) -> None:
    text = FORMATS[kind](report, load_rules())
    (finding,) = report.findings
    for shown in ("CSV020", KERNELS, "Duration(us)", "line 10", f"byte {finding.offset:,}"):
        assert shown in text.replace("&#35;", "#").replace("&#58;", ":"), shown


def test_sarif_region_is_of_the_file(report: Report, path: Path) -> None:
    log = json.loads(FORMATS["sarif"](report, load_rules()))
    (result,) = log["runs"][0]["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"].endswith(f"/{KERNELS}")
    assert physical["region"] == {"startLine": 10, "byteOffset": report.findings[0].offset}


def test_annotation_names_the_line(report: Report) -> None:
    text = FORMATS["github"](report, load_rules())
    assert f"{KERNELS},line=10,title=" in text


def test_json_report_fits_its_schema(report: Report) -> None:
    document = json.loads(FORMATS["json"](report, load_rules()))
    jsonschema.validate(document, report_schema())
    (finding,) = document["files"][0]["findings"]
    assert finding["file"].endswith(KERNELS)
    assert finding["line"] == 10
    assert document["files"][0]["seen"]["files"][KERNELS].startswith("adapter-2025-01")
    for line in FORMATS["jsonl"](report, load_rules()).splitlines():
        assert "kind" in json.loads(line)


def test_junit_fails_for_the_violation(report: Report) -> None:
    text = FORMATS["junit"](report, load_rules())
    assert '<testcase name="CSV020 csv-cell-of-another-type"' in text
    assert f'<failure type="violation" message="{KERNELS}: Duration(us): ' in text


def test_same_fault_has_the_same_print_in_any_export(report: Report) -> None:
    (finding,) = report.findings
    elsewhere = finding.file.replace(KERNELS, "kernel_details_20260721120000.csv")
    assert (
        Finding(
            finding.rule, "n", "note", elsewhere, "m", "e", finding.table, finding.column
        ).fingerprint
        == finding.fingerprint
    )


@pytest.mark.parametrize(
    ("place", "parts"),
    [
        ("TASK.endNs", ("TASK", "endNs")),
        ("TASK", ("TASK", None)),
        ("", (None, None)),
        ("op_summary.csv: Op Name", ("op_summary.csv", "Op Name")),
        ("op_summary.csv", ("op_summary.csv", None)),
        ("msprof.json: CANN: level", ("msprof.json", "CANN: level")),
    ],
)
def test_places_are_taken_apart(place: str, parts: tuple[str | None, str | None]) -> None:
    assert split_place(place) == parts


def test_baseline_knows_findings_even_when_they_were_folded(report: Report, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    known.write_text(baseline_document(report))
    assert judge(report, read_baseline(known)).report.findings == ()
    folded = collapse(report, most=0)
    known.write_text(baseline_document(folded))
    assert judge(report, read_baseline(known)).report.findings == ()


def test_report_is_not_written_over_a_judged_file(report: Report, path: Path) -> None:
    with pytest.raises(ReportError, match="refusing"):
        write_report("json", path, report, load_rules())


def test_command_and_its_exit_codes(tmp_path: Path) -> None:
    folder = copied(tmp_path, API)
    runner = CliRunner()
    found = runner.invoke(check, [str(tmp_path), "-v", *SELECTED], standalone_mode=False)
    assert (found.exception, found.return_value) == (None, 0)
    assert "api_statistic.csv: adapter-2025-01, 57 rows of 8 columns, LF" in found.stdout
    (folder / API).write_text((folder / API).read_text().replace("hccl,", "host,", 1))
    found = runner.invoke(check, [str(tmp_path), *SELECTED], standalone_mode=False)
    assert found.return_value == 1
    assert "api_statistic.csv: Level: " in found.stdout
    never = [str(tmp_path), *SELECTED, "--fail-on", "never", "--show-sql"]
    found = runner.invoke(check, never, standalone_mode=False)
    assert found.return_value == 0
    assert 'sql: SELECT file, row, line, "offset", "Level" FROM raw."api_statistic"' in found.stdout
