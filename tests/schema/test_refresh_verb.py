"""``ascend-ref spec refresh``: what it reports of sources made up for the test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ascend_ref.cli import main
from ascend_ref.states import databases
from ascend_spec import catalog, current

TYPES = "".join(
    f'const std::string SQL_{one}_TYPE = "{one}";\n'
    for one in ("INTEGER", "TEXT", "NUMERIC", "REAL")
)


def sources(folder: Path, revision: str) -> dict[str, Path]:
    """Sources in C++ that state the databases of msprof as the spec has them at a revision."""
    tables, enums, constants = [], [], [TYPES]
    root = databases.databases(current(), catalog().revision(revision))["msprof"]
    for table in root.children:
        columns = catalog().at(revision, "msprof").tables[table.key].columns.values()
        rows = ", ".join(
            f'{{"{one.name}", SQL_{one.declared}_TYPE{", true" * one.primary_key}}}'
            for one in columns
        )
        tables.append((table.key, rows))
        if table.kind == "enum":
            members = ", ".join(f'{{"{one.label}", {one.key}}}' for one in table.children)
            constants.append(f"const std::map<std::string, int> {table.key}_OF = {{{members}}};\n")
            enums.append(f"{{TABLE_NAME_{table.key}, {table.key}_OF}}")
    constants += [f'const std::string TABLE_NAME_{name} = "{name}";\n' for name, _ in tables]
    constants.append(f"const std::map<std::string, X> ENUM_TABLE = {{{', '.join(enums)}}};\n")
    constants.append('const std::string SCHEMA_VERSION = "1.2.0";\n')
    constants.append(
        'const std::string TASK_INDEX_NAME = "TaskIndex";\n'
        'const std::string COMM_INDEX_NAME = "CommunicationTaskIndex";\n'
    )
    declared = "".join(f"const TableColumns {name} = {{{rows}}};\n" for name, rows in tables)
    listed = ", ".join(f"{{TABLE_NAME_{name}, {name}}}" for name, _ in tables)
    assembler = (
        'const std::vector<std::string> TASKS = {"startNs", "globalTaskId"};\n'
        'const std::vector<std::string> TRANSFERS = {"globalTaskId"};\n'
        "void f() { CreateTableIndex(TABLE_NAME_TASK, TASK_INDEX_NAME, db, TASKS);\n"
        "CreateTableIndex(TABLE_NAME_COMMUNICATION_TASK_INFO, COMM_INDEX_NAME, db, TRANSFERS); }\n"
    )
    within = folder / "analysis/csrc/application/database"
    within.mkdir(parents=True)
    files = {
        "msprof_db.cpp": f"{declared}MsprofDB::MsprofDB()\n{{ tableColNames_ = {{{listed}}}; }}\n",
        "db_constant.h": "".join(constants),
        "db_assembler.cpp": assembler,
    }
    for name, text in files.items():
        (within / name).write_text(text)
    return {name: within / name for name in files}


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def findings(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    main(["spec", "refresh", *words, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    return [one for file in report["files"] for one in file["findings"]]


def test_sources_as_the_spec_has_them_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources(tmp_path, "1.2.0-2026-07")
    assert main(["spec", "refresh", str(tmp_path)]) == 0
    assert "spec and source agree" in capsys.readouterr().out


CASES = {
    "a column more": (
        "msprof_db.cpp",
        '{"modelId", SQL_INTEGER_TYPE}',
        '{"modelId", SQL_INTEGER_TYPE}, {"queueId", SQL_INTEGER_TYPE}',
        "CHG131",
        "column/TASK.queueId",
    ),
    "a column of another name": (
        "msprof_db.cpp",
        '{"memcpyOperation", ',
        '{"copyOperation", ',
        "CHG134",
        "column/MEMCPY_INFO.copyOperation",
    ),
    "another index": (
        "db_assembler.cpp",
        '{"startNs", "globalTaskId"}',
        '{"startNs"}',
        "CHG120",
        "table/TASK",
    ),
    "an id with another name": ("db_constant.h", '{"RDMA", 1}', '{"RoCE", 1}', "CHG183", None),
    "a member more": ("db_constant.h", '{"LOCAL", 2}', '{"LOCAL", 2}, {"FAR", 9}', "CHG181", None),
}


@pytest.mark.parametrize("case", CASES)
def test_what_sources_say_otherwise_is_one_difference(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, old, new, rule, address = CASES[case]
    edit(sources(tmp_path, "1.2.0-2026-07")[name], old, new)
    (found,) = findings(capsys, str(tmp_path))
    assert found["rule"] == rule
    assert address is None or found["table"] == address
    assert main(["spec", "refresh", str(tmp_path)]) == 1


def test_older_sources_are_held_against_their_own_day(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources(tmp_path, "1.2.0-2026-06")
    assert findings(capsys, str(tmp_path), "--at", "1.2.0-2026-06") == []
    gone = {one["table"] for one in findings(capsys, str(tmp_path))}
    assert gone == {
        "table/OVERLAP_ANALYSIS",
        "enum/ENUM_OVERLAP_ANALYSIS_TYPE",
        "column/QOS.dieId",
    }


@pytest.mark.parametrize("words", [[], ["--at", "no-such-state"], ["--select", "CHG9999"]])
def test_what_cannot_be_compared_is_one_line(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if words:
        sources(tmp_path, "1.2.0-2026-07")
    assert main(["spec", "refresh", str(tmp_path), *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
