"""``ascend-ref spec``: what it lists, shows and writes, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ascend_ref.cli import main
from ascend_ref.tools.spec.c_header import export_c_header
from ascend_ref.tools.spec.exports import export_ddl, export_markdown
from ascend_ref.tools.spec.json_schema import export_json_schema
from ascend_ref.tools.spec.subject import KINDS
from ascend_spec import Schema, catalog


def output(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words.split()) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def first_words(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines()[1:]]


@pytest.mark.parametrize("kind", ["all", *KINDS, *(one.plural for one in KINDS.values())])
def test_every_kind_is_listed(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert first_words(output(f"spec list {kind}", capsys))


def test_the_kinds_are_listed_where_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert first_words(output("spec list", capsys)) == [f"{kind}/…" for kind in KINDS]


def test_every_table_is_listed_by_its_address(capsys: pytest.CaptureFixture[str]) -> None:
    facts = catalog()
    expected = [f"table/{name}" for name in facts.tables if name not in facts.enums]
    assert first_words(output("spec list Tables", capsys)) == expected


def test_a_scope_narrows_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    old = first_words(output("spec list tables --carrier msprof --revision 1.0.0", capsys))
    new = first_words(output("spec list tables --carrier msprof", capsys))
    assert "table/QOS" in new
    assert "table/QOS" not in old
    assert "table/PYTORCH_API" not in new


def test_the_documented_reading_holds_only_documented_tables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    listed = first_words(output("spec list tables --reading documented", capsys))
    assert "table/OVERLAP_ANALYSIS" not in listed
    assert "table/TASK" in listed


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("spec show TASKZ", "unknown name 'TASKZ'; did you mean table/TASK"),
        ("spec show TASK.startN", "unknown name 'TASK.startN'; did you mean column/TASK.startNs"),
        ("spec list tabels", "unknown kind 'tabels'; did you mean tables?"),
        ("spec list tables --revision 9", "unknown revision '9'; known: 1.0.0-2024-10"),
        ("spec export pytorch --as yaml", "Invalid value for '--as': 'yaml' is not one of"),
        ("spec export carrier/torch", "unknown name 'carrier/torch'; did you mean carrier/pytorch"),
        ("spec export pytorch --as ddl -o /nonexistent/x.sql", "/nonexistent/x.sql: No such file"),
        ("spec", "Missing command (see ascend-ref spec --help)"),
    ],
)
def test_a_wrong_word_is_an_error_with_a_hint(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"ascend-ref: error: {line}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("format_", "write"),
    [
        ("json-schema", export_json_schema),
        ("ddl", export_ddl),
        ("c-header", export_c_header),
        ("markdown", export_markdown),
    ],
)
def test_export_prints_what_the_function_returns(
    format_: str, write: Callable[[Schema], str], capsys: pytest.CaptureFixture[str]
) -> None:
    newest = catalog().at(catalog().revisions[-1].id, "pytorch")
    assert output(f"spec export carrier/pytorch --as {format_}", capsys) == write(newest)


def test_export_into_a_folder_names_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["spec", "export", "analysis", "--at", "1.0.0"]
    assert main([*words, "-o", f"{tmp_path}/new/"]) == 0
    (written,) = (tmp_path / "new").iterdir()
    assert written.name == "ascend-analysis-1.0.0-2025-01.schema.json"
    assert "StepTraceTime" in json.loads(written.read_text(encoding="utf-8"))["$defs"]
    assert capsys.readouterr() == ("", f"wrote {written}\n")
