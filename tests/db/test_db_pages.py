"""Columns from the pages of tables: what SQLite gives for them, or a request for SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from db_samples import make
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.db import reader
from ascend_ref.db.pages import Layout, OtherLayout, plain_batches
from ascend_ref.db.reader import typed_columns
from ascend_ref.profile import write_pytorch_profile
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override, preset
from ascend_spec import catalog

INTEGER, REAL = pa.int64(), pa.float64()


def plain(path: Path, table: str, *wanted: tuple[int, pa.DataType], key: int = -1) -> list[object]:
    """Rows from the pages alone."""
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)
        ).fetchone()
        columns = len(db.execute(f"PRAGMA table_info({table})").fetchall())
    batches = plain_batches(path, Layout(root, columns, key), wanted)
    every = [[column.to_pylist() for column in batch] for batch in batches]
    return [row for batch in every for row in zip(*batch, strict=True)]


def selected(path: Path, sql: str) -> list[object]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


@pytest.mark.exhaustive
def test_the_tables_of_a_profile_are_laid_out_plainly(tmp_path: Path) -> None:
    """The long tables need no SQLite, and hold what it says."""
    scenario = override(preset("llm-inference"), ranks=None, steps=1, level=None)
    capture = simulate(scenario).capture(0)
    newest = catalog().revisions[-1].id
    (path,) = write_pytorch_profile(tmp_path, capture, newest).rglob("ascend_pytorch_*.db")
    for table, names, key in (
        ("TASK", "startNs endNs globalTaskId contextId modelId", -1),
        ("TASK_PMU_INFO", "globalTaskId name value", -1),
        ("CANN_API", "startNs endNs connectionId name", 2),
        ("COMPUTE_TASK_INFO", "globalTaskId name gridDim", 0),
        ("PYTORCH_API", "startNs endNs globalTid connectionId type", -1),
        ("CONNECTION_IDS", "id connectionId", -1),
        ("COMMUNICATION_TASK_INFO", "globalTaskId opId", -1),
    ):
        columns = names.split()
        every = [
            name for (name,) in selected(path, f"SELECT name FROM pragma_table_info('{table}')")
        ]
        real = {"value"}
        wanted = [(every.index(one), REAL if one in real else INTEGER) for one in columns]
        place = every.index(columns[key]) if key >= 0 else -1
        cells = ", ".join(
            f"CAST({one} AS {'REAL' if one in real else 'INTEGER'})" for one in columns
        )
        expected = selected(path, f"SELECT {cells} FROM {table} ORDER BY rowid")
        assert len(expected) > 1_000
        assert plain(path, table, *wanted, key=place) == expected, table


NUMBERS = st.one_of(
    st.none(),
    st.sampled_from([0, 1, -1]),
    st.integers(0, 63).map(lambda bits: (1 << bits) - 1),
    st.integers(0, 63).map(lambda bits: -(1 << bits)),
)
"""Cells of every size."""


@settings(max_examples=40, deadline=None)
@given(
    cells=st.lists(st.tuples(NUMBERS, st.one_of(NUMBERS, st.floats(allow_nan=False))), max_size=9),
    copies=st.sampled_from([1, 300]),
    page_size=st.sampled_from([512, 4096, 65536]),
    first=st.sampled_from([-3, 1, 120, 16_380, (1 << 56) - 4, (1 << 63) - 6_000]),
    step=st.sampled_from([1, 2]),
)
def test_numbers_of_every_size_at_every_rowid(
    cells: list[tuple[int | None, float | None]],
    copies: int,
    page_size: int,
    first: int,
    step: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("pages") / "p.db"
    rows = [(first + step * place, *row) for place, row in enumerate(cells * copies)]
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA page_size = {page_size}")
        with db:
            db.execute("CREATE TABLE T (k INTEGER PRIMARY KEY, a, b NUMERIC)")
            db.executemany("INSERT INTO T VALUES (?, ?, ?)", rows)
    expected = selected(path, "SELECT k, a, CAST(b AS REAL) FROM T ORDER BY k")
    assert plain(path, "T", (0, INTEGER), (1, INTEGER), (2, REAL), key=0) == expected


FEW = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 3000) "


@pytest.mark.parametrize(
    ("statements", "is_plain"),
    [
        (["CREATE TABLE T (a INTEGER, b)", f"{FEW} INSERT INTO T SELECT i, i FROM n"], True),
        (["CREATE TABLE T (a INTEGER, b TEXT)", f"{FEW} INSERT INTO T SELECT i, 'x' FROM n"], True),
        (["CREATE TABLE T (a REAL, b)", f"{FEW} INSERT INTO T SELECT i, i FROM n"], True),
        (["CREATE TABLE T (a TEXT, b)", f"{FEW} INSERT INTO T SELECT 1000 + i, i FROM n"], True),
        (["CREATE TABLE T (a TEXT, b)", f"{FEW} INSERT INTO T SELECT i, i FROM n"], False),
        (["CREATE TABLE T (a, b)", "INSERT INTO T VALUES (7, 1), ('8', 1), (9.0, 1)"], False),
        (
            ["CREATE TABLE T (a)", "INSERT INTO T VALUES (7)", "ALTER TABLE T ADD b DEFAULT 5"],
            False,
        ),
        (["CREATE TABLE T (b, a AS (b + 1))", "INSERT INTO T VALUES (7)"], False),
        (["CREATE TABLE T (b, a AS (b + 1) STORED)", "INSERT INTO T VALUES (7)"], False),
        (
            ["CREATE TABLE T (a, b, PRIMARY KEY (b)) WITHOUT ROWID", "INSERT INTO T VALUES (7, 1)"],
            False,
        ),
        (
            ["CREATE TABLE T (a INTEGER PRIMARY KEY, b)", "INSERT INTO T VALUES (7, 1), (3, 1)"],
            True,
        ),
        (["CREATE TABLE T (a INTEGER PRIMARY KEY DESC, b)", "INSERT INTO T VALUES (7, 1)"], False),
        (["CREATE TABLE T (a INT PRIMARY KEY, b)", "INSERT INTO T VALUES (7, 1), (3, 1)"], True),
        (["CREATE TABLE T (a, b)", "INSERT INTO T VALUES (7, zeroblob(50))"], True),
        (["CREATE TABLE T (a, b)", "INSERT INTO T VALUES (7, zeroblob(100))"], False),
        (["CREATE TABLE T (a, b)", "INSERT INTO T VALUES (7, zeroblob(9000))"], False),
        (["CREATE TABLE T (b, a)", "INSERT INTO T VALUES (zeroblob(100), 7)"], False),
        (["CREATE TABLE T (a, b)"], True),
        (
            [
                "PRAGMA encoding = 'UTF-16le'",
                "CREATE TABLE T (a TEXT, b)",
                "INSERT INTO T VALUES (7, 1)",
            ],
            False,
        ),
        (
            [
                "CREATE TABLE T (a, b)",
                f"{FEW} INSERT INTO T SELECT i, i FROM n",
                "DELETE FROM T WHERE a > 5",
            ],
            True,
        ),
        (
            [
                "CREATE TABLE T (a, b)",
                f"{FEW} INSERT INTO T SELECT i, i FROM n",
                "UPDATE T SET a = '5' WHERE b = 2999",
            ],
            False,
        ),
    ],
    ids=lambda one: one[0][:48] if isinstance(one, list) else "",
)
def test_what_is_laid_out_otherwise_is_read_by_sqlite(
    statements: list[str], is_plain: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path / "p.db", *statements)
    order = "" if "WITHOUT" in statements[0] else "ORDER BY +rowid"
    expected = selected(path, f"SELECT CAST(a AS INTEGER) FROM T {order}")
    asked: list[object] = []
    expects = reader._Reading.expected
    monkeypatch.setattr(
        reader._Reading, "expected", lambda *words: asked.append(words) or expects(*words)
    )
    batches = typed_columns(path, "T", {"A": INTEGER})
    assert [cell for batch in batches for cell in batch.column(0).to_pylist()] == [
        cell for (cell,) in expected
    ]
    assert bool(asked) is not is_plain


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["10", "95"], [10, 95]),
        (["0", "5"], [0, 5]),
        (["-5", "12"], [-5, 12]),
        (["1000000000000000000", "9223372036854775807"], [10**18, (1 << 63) - 1]),
        (["1000000000000000000", "9223372036854775808"], None),
        (["07", "12"], None),
        (["+7", "12"], None),
        (["1/", "12"], None),
        (["1:", "12"], None),
        (["1\u00e9", "123"], None),
    ],
)
def test_texts_are_numbers_that_are_written_in_no_other_way(
    texts: list[str], numbers: list[int] | None, tmp_path: Path
) -> None:
    rows = ", ".join(f"('{text}')" for text in texts)
    path = make(tmp_path / "p.db", "CREATE TABLE T (a TEXT)", f"INSERT INTO T VALUES {rows}")
    if numbers is None:
        with pytest.raises(OtherLayout):
            plain(path, "T", (0, INTEGER))
    else:
        assert plain(path, "T", (0, INTEGER)) == [(number,) for number in numbers]


def test_a_nan_in_a_file_is_null(tmp_path: Path) -> None:
    path = make(tmp_path / "p.db", "CREATE TABLE T (a REAL)", "INSERT INTO T VALUES (1.5)")
    sound = path.read_bytes()
    assert sound.count(bytes.fromhex("3ff8000000000000")) == 1
    nan = bytes.fromhex("7ff8000000000001")
    path.write_bytes(sound.replace(bytes.fromhex("3ff8000000000000"), nan))
    assert selected(path, "SELECT a FROM T") == plain(path, "T", (0, REAL)) == [(None,)]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_pages_end_in_rows_or_in_a_request(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Though the file is checked before, it may change: nothing crashes or goes on for ever."""
    path = make(
        tmp_path_factory.mktemp("pages") / "p.db",
        "PRAGMA page_size = 512",
        "CREATE TABLE T (k INTEGER PRIMARY KEY, a, b TEXT)",
        f"{FEW} INSERT INTO T SELECT i, i * i, 1000000 + i FROM n",
    )
    damaged = bytearray(path.read_bytes())
    pages = len(damaged) // 512
    for _ in range(data.draw(st.integers(1, 4))):
        page = data.draw(st.sampled_from([1, 2, pages // 2, pages - 1]))
        place = page * 512 + data.draw(st.one_of(st.integers(0, 16), st.integers(0, 511)))
        damaged[place] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged[: data.draw(st.sampled_from([len(damaged), len(damaged) - 512]))])
    wanted = [(0, INTEGER), (1, INTEGER), (2, INTEGER)]
    try:
        found = sum(len(batch[0]) for batch in plain_batches(path, Layout(2, 3, 0), wanted))
    except OtherLayout:
        return
    assert found <= len(damaged) // 6
