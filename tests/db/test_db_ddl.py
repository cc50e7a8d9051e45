"""The statements that create a database, compared with the text in real ones."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from db_samples import ANALYSES, PYTORCH_RANKS, STATES, VIEWED, real, write_small

from ascend_ref.db.ddl import create_indexes, create_table, creation_order
from ascend_spec import catalog
from ascend_spec.db.model import Carrier


def statements(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


@pytest.mark.parametrize("name", [*PYTORCH_RANKS, *ANALYSES])
def test_every_table_of_a_real_profile_has_our_text(name: str) -> None:
    found = statements(real(name))
    carrier = "analysis" if name in ANALYSES else "pytorch"
    schema = catalog().at("1.0.0-2025-01", carrier)
    compared = 0
    for table in schema.tables.values():
        if table.name not in found:
            continue
        text = found[table.name]
        if name == VIEWED:
            # ALTER TABLE puts the viewer's columns behind a comma and a space at the end.
            for column in (", depth integer)", ", waitNs INTEGER)"):
                text = text.replace(column, ")")
        assert text == create_table(table, schema)
        compared += 1
        for index in create_indexes(table):
            assert index in found.values()
    assert compared == (len(found) if carrier == "analysis" else compared)
    assert compared >= (1 if carrier == "analysis" else 30)


@pytest.mark.parametrize(("revision", "carrier"), STATES)
def test_every_state_can_be_created(tmp_path: Path, revision: str, carrier: Carrier) -> None:
    schema = catalog().at(revision, carrier)
    found = statements(write_small(tmp_path / "p.db", revision, carrier))
    assert found == {
        **{table.name: create_table(table, schema) for table in schema.tables.values()},
        **{
            statement.split(" ")[2]: statement
            for table in schema.tables.values()
            for statement in create_indexes(table)
        },
    }


def test_the_framework_creates_its_tables_after_those_of_msprof() -> None:
    schema = catalog().at("1.0.0-2025-01", "pytorch")
    order = [table.name for table in creation_order(schema)]
    assert set(order) == set(schema.tables)
    assert order.index("TASK") < order.index("STRING_IDS") < order.index("PYTORCH_API")
    assert order.index("STRING_IDS") < order.index("RANK_DEVICE_MAP")
    assert create_table(schema.tables["RANK_DEVICE_MAP"], schema) == (
        "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER)"
    )
    newer = catalog().at("1.2.0-2026-07", "pytorch")
    assert create_table(newer.tables["RANK_DEVICE_MAP"], newer) == (
        "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER,deviceId INTEGER)"
    )
