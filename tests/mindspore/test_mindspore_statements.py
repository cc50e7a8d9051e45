"""Every statement of seed-002 has a test or an erratum; those about the whole are tested here."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mindspore_captures import write_capture
from mindspore_real import parsed

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder
from ascend_spec import mindspore_catalog

sys.path.append(str(Path(__file__).parents[2] / "docs"))
from statements import numbered_tests, statements, statements_page

ROOT = Path(__file__).parents[2]
CODE = ROOT / "ascend_ref/mindspore"


def imported(path: Path) -> Iterator[str]:
    """The modules that the modules of a folder import, in full."""
    for file in path.rglob("*.py"):
        package = ".".join(file.relative_to(ROOT).with_suffix("").parts[:-1])
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                above = package.rsplit(".", node.level - 1)[0] if node.level else ""
                yield f"{above}.{node.module or ''}".strip(".")
            elif isinstance(node, ast.Import):
                yield from (one.name for one in node.names)


def test_every_statement_has_a_test_or_an_erratum_or_a_note() -> None:
    tests = numbered_tests()
    open_ones = [
        one.number
        for one in statements("002")
        if one.number not in tests and not one.errata and not one.note
    ]
    assert open_ones == []


def test_the_checklist_has_86_statements_and_tests_name_no_other() -> None:
    numbers = [one.number for one in statements("002")]
    assert numbers == [f"M{number}" for number in range(1, 87)]
    assert {one for one in numbered_tests() if one[0] == "M"} <= set(numbers)


def test_errata_of_statements_are_there() -> None:
    cited = {erratum for one in statements("002") for erratum in one.errata}
    assert cited <= mindspore_catalog().errata.keys()


def test_the_page_has_each_statement_with_its_tests() -> None:
    page = statements_page("002", "Statements")
    for one in statements("002"):
        (line,) = (line for line in page.splitlines() if line.startswith(f"| {one.number} |"))
        assert one.text in line
        for _, name in numbered_tests().get(one.number, ()):
            assert f"`{name}`" in line


def test_m1_the_docs_name_the_three_roles() -> None:
    text = (ROOT / "docs/mindspore.md").read_text("utf-8")
    for role in ("A training script", "MindSpore itself", "MindInsight", "the last two"):
        assert role in text


def test_m3_parsers_write_into_the_folder_that_is_named(tmp_path: Path) -> None:
    write_capture(tmp_path / "JOB", 1, "2020-07-01")
    before = {path.name for path in (tmp_path / "JOB").rglob("*")}
    assert parsed(tmp_path / "JOB", tmp_path / "here") == 0
    assert (tmp_path / "here/framework_raw_0.csv").is_file()
    assert {path.name for path in (tmp_path / "JOB").rglob("*")} == before


@pytest.mark.parametrize("folder", ["analyse", "propose"])
def test_m4_m78_what_answers_calls_no_parser(folder: str) -> None:
    assert not [one for one in imported(CODE / folder) if "mindspore.parse" in one]
    assert not [one for one in imported(CODE / folder) if "mindspore.raw" in one]


def test_m4_parsers_call_no_analyser() -> None:
    wrong = ("mindspore.analyse", "mindspore.propose")
    assert not [one for one in imported(CODE / "parse") if any(two in one for two in wrong)]


def test_m4_analysers_answer_without_raw_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_capture(tmp_path / "JOB", 1, "2020-07-01")
    parsed(tmp_path / "JOB", tmp_path / "parsed")
    for path in (tmp_path / "JOB").rglob("*"):
        if path.is_file():
            path.unlink()
    capsys.readouterr()
    assert main(["mindspore", "analyse", "aicore_type", str(tmp_path / "parsed")]) == 0
    assert "BiasAdd" in capsys.readouterr().out


def test_m8_an_answer_is_filtered_and_sorted_and_has_its_columns(tmp_path: Path) -> None:
    rows = ["op_type,execution_time,execution_frequency,percent"]
    rows += ["Cast,1.5,2,30.0", "MatMul,2.5,1,50.0", "BiasAdd,1.0,4,20.0"]
    path = tmp_path / "aicore_intermediate_0_type.csv"
    path.write_text("".join(f"{one}\r\n" for one in rows))
    condition = {
        "filter_condition": {"op_type": {"not_in": ["BiasAdd"]}},
        "sort_condition": {"name": "execution_time", "type": "ascending"},
    }
    answer = _query(tmp_path, "aicore_type", condition)
    assert answer["size"] == 2
    names = [row[0] for row in answer["object"]]
    assert names == ["Cast", "MatMul"]
    assert len(answer["col_name"]) == len(answer["object"][0])


def test_m68_the_time_line_is_answered_by_its_summary(tmp_path: Path) -> None:
    summary = {"total_time": 12.5, "num_of_streams": 2, "num_of_ops": 7, "op_exe_times": 9}
    (tmp_path / "ascend_timeline_summary_0.json").write_text(json.dumps(summary))
    assert _query(tmp_path, "timeline", {}) == {"max_scope_name_num": 0, **summary}


def test_m10_m78_proposers_ask_analysers() -> None:
    assert any("mindspore.analyse" in one for one in imported(CODE / "propose"))
    analysers = mindspore_catalog().analysers
    for one in mindspore_catalog().proposals.values():
        assert set(one.needs) <= analysers.keys()


def test_m75_proposals_of_every_type_of_upstream_are_listed() -> None:
    proposers = {one.proposer for one in mindspore_catalog().proposals.values()}
    assert {"common", "step_trace", "minddata", "minddata_pipeline"} <= proposers


def _query(folder: Path, name: str, condition: Mapping[str, Any]) -> dict[str, Any]:
    return load_analyser(name, Folder(folder, "0")).query(condition)
