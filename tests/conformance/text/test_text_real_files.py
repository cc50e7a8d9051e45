"""Real folders and files: no violation, and only quirks that are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from slices import some
from text_folders import DATA, OUTPUT, RANK, STRUCTURE, judged, needs_data

FOLDERS = ("pytorch_level1_rank0", "msinsight_small", "mindspore_legacy")
FILES = sorted(path.relative_to(DATA) for path in DATA.rglob("*.*") if path.suffix != ".md")


@pytest.mark.parametrize("name", FOLDERS)
def test_real_folders_conform(name: str) -> None:
    needs_data()
    for report in judged(DATA / name):
        assert report.unreadable is None
        assert [one for one in report.findings if one.verdict == "violation"] == []


@pytest.mark.parametrize("name", some(FILES, every=2), ids=str)
def test_real_files_conform_alone(name: Path) -> None:
    (report,) = judged(DATA / name, STRUCTURE)
    assert report.unreadable is None
    assert [one for one in report.findings if one.verdict == "violation"] == []


@pytest.mark.exhaustive
def test_known_quirks_are_advice() -> None:
    needs_data()
    (rank,) = judged(RANK, STRUCTURE)
    assert [(one.rule, one.place, one.erratum, one.count) for one in rank.findings] == [
        ("CSV022", "operator_memory.csv: Duration(us)", "T49", 57),
        ("TRC007", "trace_view.json: ts", None, 1),
    ]
    found = [
        one for report in judged(DATA / "msinsight_small", STRUCTURE) for one in report.findings
    ]
    assert [(one.rule, one.place, one.erratum, one.line) for one in found] == [
        ("CSV003", "op_summary.csv", "T48", 17),
        ("CSV003", "kernel_details.csv", "T48", 17),
    ]
    assert [report.findings for report in judged(DATA / "mindspore_legacy", STRUCTURE)] == [()]


def test_what_is_recognised() -> None:
    needs_data()
    (report,) = judged(RANK, STRUCTURE)
    seen = report.seen
    assert report.file.endswith(OUTPUT)
    assert seen is not None
    assert (seen.carrier, seen.revision, seen.product) == (
        "text deliverables",
        "adapter-2025-01",
        "A2",
    )
    assert (seen.level, seen.ranks) == ("1, PipeUtilization", (0,))
    assert seen.rows["kernel_details.csv"] == 191
    assert seen.rows["trace_view.json"] == 10_112
    assert seen.files["kernel_details.csv"] == (
        "adapter-2025-01, PipeUtilization, 191 rows of 46 columns, CRLF"
    )
    assert seen.files["trace_view.json"] == (
        "adapter-2025-01, 10,112 events of 12 layers in an array, times as texts"
    )
    assert len(report.members) == 14
    (legacy,) = judged(DATA / "mindspore_legacy", STRUCTURE)
    assert legacy.seen is not None
    assert legacy.seen.revision == "python-2023"
    assert "times as numbers" in legacy.seen.files["msprof_0_2_1.json"]
