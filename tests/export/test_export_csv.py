"""CSV files have pages, and a JSON Schema that real rows obey."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from click.testing import CliRunner
from json_schemas import exported_schema
from jsonschema import Draft202012Validator

from ascend_ref.markdown import PLAIN
from ascend_ref.tools.spec.csv_pages import condition
from ascend_ref.tools.spec.exports import Wanted, export
from ascend_ref.tools.spec.lookup import NotFound, find
from ascend_ref.tools.spec.site import spec_pages
from ascend_ref.tools.spec.verb import spec
from ascend_spec import text_catalog
from ascend_spec.text import CsvFile

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "text"
LEVEL_1 = REAL / "pytorch_level1_rank0" / "ASCEND_PROFILER_OUTPUT"
FILES = list(text_catalog().csv.values())


def shown(name: str) -> str:
    return find(name).section(PLAIN)


def schema(name: str, writer: str) -> dict[str, Any]:
    document = exported_schema(f"csv/{name}", writer)
    assert isinstance(document, dict)
    return document


def typed(name: str, writer: str, row: dict[str, str]) -> dict[str, object]:
    """A row as the schema wants it: numbers as numbers, sentinels as they are, no tab."""
    result: dict[str, object] = {}
    for header, cell in row.items():
        column = text_catalog().csv[name].column(header, writer)
        assert column is not None, header
        text = cell.removesuffix("\t")
        is_text = column.storage == ("text",) or text in column.sentinels
        result[header] = text if is_text else json.loads(text)
    return result


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_every_row_schema_is_a_schema(file: CsvFile) -> None:
    for writer in file.writers:
        jsonschema_rs.meta.validate(schema(file.name, writer))


@pytest.mark.parametrize(
    "name",
    ["api_statistic", "kernel_details", "l2_cache", "memory_record", "operator_memory"],
)
def test_rows_of_real_csv_files_are_valid(name: str) -> None:
    if not LEVEL_1.is_dir():
        pytest.skip("the real files are not next to the project in ../shared/data/text")
    validator = jsonschema_rs.Draft202012Validator(schema(name, "adapter-2025-01"))
    with (LEVEL_1 / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
        rows = [typed(name, "adapter-2025-01", row) for row in csv.DictReader(stream)]
    assert rows
    assert [error.message for row in rows for error in validator.iter_errors(row)] == []


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({}, True),
        ({"Count": 0}, True),
        ({"Count": -1}, False),
        ({"Count": 1.5}, False),
        ({"Ratio(%)": 100}, True),
        ({"Ratio(%)": 100.1}, False),
        ({"Ratio(%)": "N/A"}, False),
        ({"OP Type": 7}, False),
    ],
)
def test_a_row_is_judged_by_its_columns(change: dict[str, object], valid: bool) -> None:
    row = {
        **{"Device_id": 0, "OP Type": "MatMul", "Core Type": "AI_CORE", "Count": 2},
        **{f"{which} Time(us)": 1.5 for which in ("Total", "Min", "Avg", "Max")},
        **{"Ratio(%)": 50, "Further": True},
    }
    validator = Draft202012Validator(schema("op_statistic", "cpp"))
    assert validator.is_valid({**row, **change}) == valid
    assert not validator.is_valid({key: row[key] for key in row if key != "Count"})


def test_a_sentinel_stands_beside_the_numbers() -> None:
    columns = schema("npu_module_mem", "cpp")["properties"]
    assert columns["Total Reserved(KB)"]["anyOf"][0] == {"enum": [-1, 18014398509481983]}
    assert columns["Timestamp(us)"]["x-tab"] is True
    assert columns["Timestamp(us)"]["x-decimals"] == 3
    assert "Total Reserved(MB)" not in columns


def test_a_repeated_column_is_an_array() -> None:
    assert schema("step_trace", "python")["properties"]["Reduce Start(us)"]["type"] == "array"
    numbered = schema("llc_aicpu", "python")["patternProperties"]
    assert list(numbered) == [r"^CPU\d+\(KB\)$"]


def test_a_row_schema_uses_the_names_of_its_writer() -> None:
    assert "Block Dim" in schema("kernel_details", "adapter-2025-01")["properties"]
    assert "Block Num" in schema("kernel_details", "adapter")["properties"]


def test_a_schema_file_is_named_after_file_and_writer() -> None:
    dp = find("csv/dp")
    assert export(dp, Wanted("json-schema")).file_name == "ascend-csv-dp-python.schema.json"


def test_the_page_of_a_csv_file_states_names_writers_and_columns() -> None:
    text = shown("op_summary")
    assert "`op_summary_{timestamp}.csv` in mindstudio_profiler_output" in text
    assert "| `Task Start Time(us)` | us |" in text
    assert "| `cube_utilization(%)` |  | % | cpp 3 decimals, else at most 3 decimals |" in text
    assert shown("op_summary.csv") == text
    assert "**Older names:** `Block Dim` until 2026-01-28" in shown("op_summary/Block Num")


def test_a_name_of_several_things_is_reported_with_their_addresses() -> None:
    assert shown("csv/HBM").startswith("# hbm\n")
    for name in ("hbm", "HBM"):
        with pytest.raises(NotFound, match="table/HBM, csv/hbm, layer/HBM; give the address"):
            find(name)


def test_a_metric_group_is_found_by_its_spelling_in_options() -> None:
    assert shown("ACL_AICORE_L2_CACHE") == shown("L2Cache")
    assert "`write_cache_hit` | 0x500" in shown("L2Cache")


def test_every_csv_file_has_a_page_on_the_site() -> None:
    pages = spec_pages({})
    assert {path for path in pages if path.startswith("csv/")} == {
        *("csv/index.md", "csv/writers.md", "csv/counters.md", "csv/metrics.md"),
        *(f"csv/{file.name}.md" for file in FILES),
    }
    assert all(f"`{file.name}`" in pages["csv/index.md"] for file in FILES)


def test_every_condition_has_words() -> None:
    conditions = {column.when for file in FILES for column in file.columns}
    silent = {one for one in conditions if not condition(one)}
    assert len(silent) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["list", "csv"], "op_summary"),
        (["list", "writers"], "adapter-2025-01"),
        (["list", "counter-groups"], "PipeUtilization"),
        (["list", "errata"], "Order of the times in op_statistic"),
        (["show", "kernel_details/Wait Time(us)"], "Gap between the end of the row before"),
        (["export", "dp"], "urn:ascend-ref:csv:dp:python"),
    ],
)
def test_the_command_tells_about_csv_files(arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(spec, arguments)
    assert result.exit_code == 0
    assert told in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["op_sumary"], "unknown name 'op_sumary'; did you mean csv/op_summary"),
        (["dp", "--at", "cpp"], "unknown writer 'cpp'"),
        (["dp", "--as", "ddl"], "csv/dp is exported as json-schema only"),
    ],
)
def test_a_wrong_export_is_refused(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(spec, ["export", *arguments])
    assert result.exit_code == 2
    assert message in result.output
