"""Rows that hold anything at all: judged to the end, in a report that stays small and clean."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw
import pytest
from engine_trials import Value
from profiles import (
    NEWEST,
    OLDEST,
    change,
    condemned,
    edit_schema,
    judge,
    opened,
    places,
    readable,
    rendered,
    run,
    specimen,
)
from slices import few, some

from ascend_conformance.engine import work
from ascend_conformance.finding import FileReport
from ascend_spec import catalog
from ascend_spec.db.model import CARRIERS, Carrier

WRONG: dict[str, Value] = {
    "blob": b"\x00\xff",
    "text": "n/a",
    "digits": "12",
    "real": 1.5,
    "whole real": 3.0,
    "null": None,
    "empty text": "",
    "empty blob": b"",
}
EXTREMES: tuple[Value, ...] = (
    2**63 - 1,
    -(2**63),
    2**63 - 2,
    -1,
    0,
    2**32,
    2**53 + 1,
    9.3e18,
    -9.3e18,
    1e308,
    -1e308,
    5e-324,
    float("inf"),
    float("-inf"),
    None,
)
ANYTHING: tuple[Value, ...] = (*WRONG.values(), *EXTREMES, "9" * 400, "-1", "1e400", b"7", "\x007")
TEXTS = {
    "escapes": "\x1b[31m\x1b]0;owned\x07\x9b31m",
    "bidi": "‮live⁦⁩﻿­",
    "lines": "a\r\nb c\x0bd\x85e\tf",
    "HTML": "<script>alert(1)</script><img src=x onerror=y>&amp;]]>",
    "Markdown": "|`a`|**b**[c](javascript:d)\n# e",
    "rich": "[bold red]x[/] [link=y]z[/link]",
    "annotation": "::error file=a::b%0A",
    "JSON": '"},{"\\u0000',
    "XML": "\x00\x01\x0c￾￿",
    "SQL": "'; DROP TABLE TASK; --",
    "format": "{column} {resolves} %s %n {0.__class__}",
    "wide": "漢😀é" * 500,
    "long": "x" * 20_000,
    "astral": "\U0010ffff\U000e0001",
}
BYTES = {
    "lone byte": "x'ff'",
    "cut sequence": "x'e6bc'",
    "overlong": "x'c080c1bf'",
    "surrogate": "x'eda080'",
    "beyond Unicode": "x'f4908080'",
    "NUL first": "x'00'",
    "NUL inside": "x'6100ff62'",
    "all bytes": "x'" + bytes(range(256)).hex() + "'",
}


def writable(connection: apsw.Connection, table: str) -> list[str]:
    """The columns of a table that take any value: not the alias of the rowid."""
    rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [str(row[1]) for row in rows if not row[5]]


def tables(connection: apsw.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    return [str(row[0]) for row in rows.fetchall()]


def storage(connection: apsw.Connection, table: str, column: str) -> list[tuple[str, int, int]]:
    """Storage class, number of rows and first rowid of what a column really holds."""
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT typeof({column}), count(*), min(rowid) FROM {table} GROUP BY 1"
    ).fetchall()
    return [(str(kind), int(number), int(first)) for kind, number, first in rows]


def fill_all(path: Path, value: Value) -> Path:
    """Every column of every table set to one value."""
    with opened(path) as connection:
        for table in tables(connection):
            columns = writable(connection, table)
            if columns:
                assignments = ", ".join(f"{column} = ?1" for column in columns)
                connection.execute(f"UPDATE {table} SET {assignments}", (value,))
    return path


def expected_classes(path: Path, revision: str, carrier: Carrier) -> dict[str, tuple[int, int]]:
    """``TABLE.column`` to the number and first of the rows of a class that it never holds."""
    found: dict[str, tuple[int, int]] = {}
    connection = apsw.Connection(str(path))
    for table in catalog().at(revision, carrier).tables.values():
        for column in table.columns.values():
            held = {*column.storage, "null"} | {
                {"TEXT": "text", "REAL": "real", "INTEGER": "integer", "NUMERIC": "integer"}[kind]
                for kind in column.also_declared
            }
            if "NUMERIC" in column.also_declared:
                held.add("real")
            wrong = [
                (count, first)
                for kind, count, first in storage(connection, table.name, column.name)
                if kind not in held
            ]
            if wrong and not column.primary_key:
                number = sum(count for count, _ in wrong)
                found[f"{table.name}.{column.name}"] = (number, min(first for _, first in wrong))
    connection.close()
    return found


@pytest.mark.parametrize("kind", few(WRONG, every=4))
@pytest.mark.parametrize("carrier", some(CARRIERS, every=3))
def test_a_wrong_value_in_every_column_of_every_table_is_judged(
    tmp_path: Path, kind: str, carrier: Carrier
) -> None:
    path = fill_all(specimen(tmp_path, carrier), WRONG[kind])
    file = readable(path)
    assert file.seen is not None
    found = {
        place: (finding.count, finding.first_rowid)
        for place, finding in places(file, "DB201").items()
    }
    assert found == expected_classes(path, file.seen.revision, carrier)
    rendered(file)


@pytest.mark.parametrize("table", some(sorted(catalog().at(NEWEST, "pytorch").tables), every=72))
def test_a_table_of_wrong_values_alone_is_judged(tmp_path: Path, table: str) -> None:
    """The other tables stay sound, so that nothing hides behind an unknown carrier."""
    path = specimen(tmp_path)
    for value in (b"\x00\xff", "n/a"):
        with opened(path) as connection:
            columns = writable(connection, table)
            if columns:
                assignments = ", ".join(f"{column} = ?1" for column in columns)
                connection.execute(f"UPDATE {table} SET {assignments}", (value,))
        readable(path)


@pytest.mark.parametrize("carrier", some(CARRIERS, every=3))
def test_a_wrong_value_in_every_column_is_told_by_the_command(
    tmp_path: Path, carrier: Carrier
) -> None:
    condemned(fill_all(specimen(tmp_path, carrier), b"\x00\xff"))


def scatter(path: Path, values: tuple[Value, ...], seed: int, share: float = 1.0) -> Path:
    """Values drawn for every cell of every table, or for a share of the cells."""
    draw = random.Random(seed)
    with opened(path) as connection:
        for table in tables(connection):
            columns = writable(connection, table)
            if not columns:
                continue
            rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table}").fetchall()]
            for column in columns:
                changes = [(draw.choice(values), row) for row in rows if draw.random() < share]
                connection.executemany(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", changes)
    return path


@pytest.mark.parametrize("value", some(EXTREMES[:-1], every=15), ids=repr)
def test_one_extreme_number_everywhere_is_judged(tmp_path: Path, value: Value) -> None:
    for carrier in CARRIERS:
        rendered(readable(fill_all(specimen(tmp_path / carrier, carrier), value)))


@pytest.mark.parametrize("carrier", CARRIERS)
def test_sums_that_no_integer_holds_are_judged(tmp_path: Path, carrier: Carrier) -> None:
    """All rows are of one time, and amounts are as great as a column can hold."""
    path = specimen(tmp_path, carrier)
    with opened(path) as connection:
        for table in tables(connection):
            schema = catalog().at(NEWEST, carrier).tables.get(table)
            for name, column in schema.columns.items() if schema else ():
                if column.unit in ("ns", "Byte"):
                    value = f"min({name})" if column.unit == "ns" else str(2**63 - 1)
                    connection.execute(f"UPDATE {table} SET {name} = (SELECT {value} FROM {table})")
    readable(path)


@pytest.mark.parametrize("seed", some(range(6), every=3))
@pytest.mark.parametrize("carrier", some(CARRIERS, every=3))
def test_extreme_numbers_at_random_are_judged(tmp_path: Path, carrier: Carrier, seed: int) -> None:
    readable(scatter(specimen(tmp_path, carrier), EXTREMES, seed, share=(1.0, 0.1, 0.01)[seed % 3]))


@pytest.mark.parametrize("seed", some(range(6), every=18))
@pytest.mark.parametrize("carrier", CARRIERS)
def test_values_of_any_kind_at_random_are_judged(
    tmp_path: Path, carrier: Carrier, seed: int
) -> None:
    revision = (OLDEST, NEWEST)[seed % 2]
    path = scatter(
        specimen(tmp_path, carrier, revision), ANYTHING, seed, share=(1.0, 0.1)[seed % 2]
    )
    rendered(readable(path))


@pytest.mark.parametrize("seed", range(2))
def test_an_analysis_beside_a_profiler_database_of_any_values_is_judged(
    tmp_path: Path, seed: int
) -> None:
    scatter(specimen(tmp_path), ANYTHING, seed, share=(1.0, 0.05)[seed])
    readable(scatter(specimen(tmp_path, "analysis"), ANYTHING, seed, share=0.05))


@pytest.mark.parametrize("extreme", [2**63 - 1, -(2**63)])
def test_keys_at_the_ends_of_the_numbers_are_judged(tmp_path: Path, extreme: int) -> None:
    path = specimen(tmp_path)
    with opened(path) as connection:
        for table in tables(connection):
            info = connection.execute(f"PRAGMA table_info({table})").fetchall()
            for row in info:
                if row[5]:
                    connection.execute(
                        f"UPDATE {table} SET {row[1]} = ? WHERE rowid = "
                        f"(SELECT {'max' if extreme > 0 else 'min'}(rowid) FROM {table})",
                        (extreme,),
                    )
    rendered(readable(path))


@pytest.mark.parametrize("name", some(TEXTS, every=10))
def test_any_text_in_every_text_column_is_shown_safely(tmp_path: Path, name: str) -> None:
    for carrier in CARRIERS:
        rendered(readable(fill_all(specimen(tmp_path / carrier, carrier), TEXTS[name])))


def of_bytes(path: Path, literal: str) -> Path:
    """Every text column set to a text of the given bytes, in every second row."""
    with opened(path) as connection:
        for table in tables(connection):
            info = connection.execute(f"PRAGMA table_info({table})").fetchall()
            for column in (str(row[1]) for row in info if row[2] == "TEXT"):
                connection.execute(
                    f"UPDATE {table} SET {column} = CAST({literal} AS TEXT) WHERE rowid % 2"
                )
    return path


@pytest.mark.parametrize("name", few(BYTES, every=4))
def test_texts_of_any_bytes_are_shown_safely(tmp_path: Path, name: str) -> None:
    for carrier in CARRIERS:
        rendered(readable(of_bytes(specimen(tmp_path / carrier, carrier), BYTES[name])))


def test_texts_that_are_not_utf_8_are_found(tmp_path: Path) -> None:
    path = of_bytes(specimen(tmp_path), "x'616cff'")
    found = places(readable(path), "DB206")
    assert {"STRING_IDS.value", "META_DATA.value", "PYTORCH_API.startNs"} <= found.keys()
    finding = found["STRING_IDS.value"]
    with opened(path) as connection:
        odd = "SELECT count(*), min(id) FROM STRING_IDS WHERE id % 2"
        assert [(finding.count, finding.first_rowid)] == connection.execute(odd).fetchall()


@pytest.mark.exhaustive
def test_texts_of_any_bytes_are_shown_safely_by_the_command(tmp_path: Path) -> None:
    path = change(
        specimen(tmp_path),
        *(
            f"INSERT INTO STRING_IDS(value) VALUES (CAST({literal} AS TEXT))"
            for literal in BYTES.values()
        ),
        *(f"INSERT INTO STRING_IDS(value) VALUES ({quoted(text)})" for text in TEXTS.values()),
        *(
            f"INSERT INTO META_DATA VALUES ({quoted(text)}, {quoted(text)})"
            for text in TEXTS.values()
        ),
        "UPDATE COMPUTE_TASK_INFO SET name = (SELECT max(id) FROM STRING_IDS) - rowid % 20",
        "UPDATE NPU_INFO SET name = char(27) || '[31m' || char(8238)",
    )
    lines = condemned(path).decode().split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    json.loads(run(path, "--format", "json").stdout)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''").replace("\0", "' || char(0) || '") + "'"


@pytest.mark.exhaustive
def test_a_text_of_20_million_characters_is_judged(tmp_path: Path) -> None:
    path = change(
        specimen(tmp_path),
        "UPDATE STRING_IDS SET value = hex(zeroblob(10000000)) "
        "WHERE id = (SELECT min(id) FROM STRING_IDS)",
        "UPDATE META_DATA SET value = hex(zeroblob(5000000)) WHERE rowid = 2",
    )
    rendered(readable(path))


def test_a_text_of_40_million_characters_gives_a_report_or_a_refusal(tmp_path: Path) -> None:
    long = "hex(zeroblob(20000000))"
    path = change(specimen(tmp_path), f"INSERT INTO STRING_IDS(value) VALUES ({long})")
    file = judge(path)
    assert file.unreadable is None or "too big" in file.unreadable
    rendered(file)


JSONS = {
    "nested arrays": "[" * 100_000 + "]" * 100_000,
    "nested objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "unfinished": '{"a": [',
    "number": "17",
    "list": "[1, 2]",
    "huge number": "9" * 100_000,
    "not a number": "NaN",
    "odd members": '{"a": {"global_ranks": [null, 1e999, {}, "x"], "group_name": 7}, "b": null}',
    "surrogates": '{"\\ud800": {"group_name": "\\udfff"}}',
    "many groups": json.dumps({f"g{number}": {} for number in range(50_000)}),
}


@pytest.mark.parametrize("kind", some(JSONS, every=3))
def test_hostile_json_in_meta_data_is_judged(tmp_path: Path, kind: str) -> None:
    path = specimen(tmp_path)
    with opened(path) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM META_DATA").fetchall()]
        for name in {*names, "parallel_group_info", "distributed_args", "ENV_VARIABLES"}:
            connection.execute("DELETE FROM META_DATA WHERE name = ?", (name,))
            if not str(name).startswith("SCHEMA"):
                connection.execute("INSERT INTO META_DATA VALUES (?, ?)", (name, JSONS[kind]))
        connection.execute("INSERT INTO META_DATA VALUES ('SCHEMA_VERSION', '1.2.0')")
    rendered(readable(path))


@pytest.mark.parametrize(
    "version", some(["", "9" * 400, "1.2", "1.2.0.0", "\x1b[31m1.2.0", "1.0.0\n", 1.2], every=3)
)
def test_odd_versions_are_judged(tmp_path: Path, version: Value) -> None:
    path = specimen(tmp_path)
    with opened(path) as connection:
        connection.execute(
            "UPDATE META_DATA SET value = ? WHERE name = 'SCHEMA_VERSION'", (version,)
        )
    rendered(readable(path))


def without_keys(path: Path, names: Iterable[str]) -> Path:
    """Tables whose ids may repeat, as they are no keys."""
    for name in names:
        edit_schema(
            path,
            "UPDATE sqlite_schema SET sql = replace(sql, ' PRIMARY KEY', '') "
            f"WHERE name = '{name}'",
        )
    keyed = "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%PRIMARY KEY%' AND name = ?"
    with opened(path) as connection:
        assert not any(connection.execute(keyed, (name,)).get for name in names)
    return path


def repeated(path: Path, times: int) -> FileReport:
    """The last row of every table many times, all of them with the same ids."""
    keyed = ("COMMUNICATION_OP", "COMPUTE_TASK_INFO", "CANN_API", "STRING_IDS")
    with opened(path) as connection:
        held = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in keyed}
        for name in keyed:
            connection.execute(f"DELETE FROM {name}")
    without_keys(path, keyed)
    with opened(path) as connection:
        for name, rows in held.items():
            marks = ", ".join("?" for _ in rows[0])
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        for name in (*keyed, "TASK", "COMMUNICATION_TASK_INFO", "TASK_PMU_INFO", "CONNECTION_IDS"):
            connection.execute(
                f"WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT {times}) "
                f"INSERT INTO {name} SELECT last.* FROM n, (SELECT * FROM {name} "
                "ORDER BY rowid DESC LIMIT 1) AS last"
            )
    return readable(path)


@pytest.mark.exhaustive
def test_ids_that_repeat_without_end_are_given_up_not_multiplied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "OPERATIONS", 1_000_000)
    started = time.process_time()
    file = repeated(specimen(tmp_path), 20_000)
    assert time.process_time() - started < 15
    given_up = [skip for skip in file.skipped if skip.reason.startswith("given up after")]
    assert given_up
    assert "STRING_IDS.id" in places(file, "DB111")
    rendered(file)


NOT_SHOWN: dict[Carrier, set[str]] = {
    "msprof": {"REL306", "REL314", "REL406", "REL618", "REL621"},
    "pytorch": {"REL306", "REL415"},
    "analysis": set(),
}
"""Relations on what a specimen does not hold: calls, numbers of Python, levels of memory."""


def test_nothing_of_a_sound_file_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The allowance for each row alone is enough, so large files are judged in full."""
    monkeypatch.setattr(work, "OPERATIONS", 150_000)
    for carrier in CARRIERS:
        specimen(tmp_path, carrier)
    for carrier in CARRIERS:
        file = readable(specimen(tmp_path, carrier))
        assert {one.rule for one in file.skipped} == NOT_SHOWN[carrier]
        reasons = ("nothing to judge", "not applicable")
        assert all(one.reason.startswith(reasons) for one in file.skipped)


def test_a_missing_number_leaves_the_orphans_of_others_open_and_says_so(tmp_path: Path) -> None:
    """Nothing is outside of numbers and NULL: the task without its mark went unmentioned."""
    path = specimen(tmp_path)
    change(path, "UPDATE TASK SET connectionId = 4100000000 WHERE rowid = 1")
    assert "DB514" in {one.rule for one in judge(path).findings}
    change(path, "UPDATE MSTX_EVENTS SET connectionId = NULL WHERE rowid = 1")
    report = judge(path)
    assert "DB202" in {one.rule for one in report.findings}
    reasons = {one.rule: one.reason for one in report.skipped}
    assert reasons["DB514"] == "bad values in MSTX_EVENTS.connectionId leave it open"
