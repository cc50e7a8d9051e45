"""The newest revision equals the exporters' source, as the reference dictionary records it.

Section 2 of db-schema.md was checked against that source column by column. It is the only witness
of the tables that neither a document nor a real file has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from seed_tables import SHARED

from ascend_spec import catalog

NEWEST = "1.2.0-2026-07"

UNITS = {
    "": None,
    "by metric": None,
    "cores": "core",
    "cycles": "cycle",
    "elements": "element",
    "frames": "frame",
    "ranks": "rank",
}


@dataclass(frozen=True)
class Row:
    """One row of the dictionary: what the exporter declares and the unit of the number."""

    declared: str
    primary_key: bool
    unit: str | None


@pytest.fixture(scope="module")
def dictionary() -> Mapping[str, Mapping[str, Row]]:
    path = SHARED / "reference" / "db-schema.md"
    if not path.is_file():
        pytest.skip(f"{path.name} is not next to the project in ../shared/reference")
    text = path.read_text(encoding="utf-8")
    section = text[text.index("\n## 2. ") : text.index("\n### Tables only seen in old")]
    tables: dict[str, Mapping[str, Row]] = {}
    for heading, body in re.findall(r"^### (.+?)\n(.*?)(?=^### |\Z)", section, re.M | re.S):
        lines = [line for line in body.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        assert cells[0][:4] == ["column", "declared type", "key / index", "unit"], heading
        rows = {
            name: Row(declared, key == "PK", UNITS.get(unit, unit))
            for name, declared, key, unit, *_ in cells[2:]
        }
        assert len(rows) == len(cells) - 2, heading
        named = catalog().enums if heading.startswith("ENUM_*") else heading.split(" / ")
        tables.update(dict.fromkeys(named, rows))
    return tables


def spec() -> Mapping[str, Mapping[str, Row]]:
    return {
        name: {
            column.name: Row(column.declared, column.primary_key, column.unit)
            for column in table.columns.values()
        }
        for carrier in ("pytorch", "analysis")
        for name, table in catalog().at(NEWEST, carrier).tables.items()
    }


def test_the_dictionary_was_read_completely(dictionary: Mapping[str, Mapping[str, Row]]) -> None:
    assert len(dictionary) == 62
    assert sum(len(rows) for rows in dictionary.values()) == 400


def test_the_tables_are_those_of_the_source(dictionary: Mapping[str, Mapping[str, Row]]) -> None:
    assert set(spec()) == set(dictionary)


def test_every_column_is_that_of_the_source(dictionary: Mapping[str, Mapping[str, Row]]) -> None:
    ours = spec()
    differing = {
        f"{table}.{name}": (ours[table].get(name), row)
        for table, rows in dictionary.items()
        for name, row in rows.items()
        if ours[table].get(name) != row
    }
    # The dictionary names no unit here; what is counted is packets of package_size.
    count = differing.pop("CommAnalyzerBandwidth.count")
    assert count == (Row("NUMERIC", False, "packet"), Row("NUMERIC", False, None))
    # Nor here: ub_assembler.cpp and db_assembler.cpp of upstream-msprof write one integer, into
    # this table and as bandwidth_rx(MB/s) and bandwidth_tx(MB/s) into the layer.
    for name in ("UB.rxUdmaBind", "UB.txUdmaBind"):
        assert differing.pop(name) == (Row("NUMERIC", False, "MB/s"), Row("NUMERIC", False, None))
    assert differing == {}


def test_the_columns_stand_in_the_order_of_the_source(
    dictionary: Mapping[str, Mapping[str, Row]],
) -> None:
    ours = spec()
    assert {name: list(rows) for name, rows in ours.items()} == {
        name: list(rows) for name, rows in dictionary.items()
    }
