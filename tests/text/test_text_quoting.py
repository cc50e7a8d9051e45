"""Hostile texts: what is written with quotes is read back by Python's csv module as it was."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.text.cells import quoted
from ascend_ref.text.setting import Setting
from ascend_ref.text.sheet import lines, write_sheet
from ascend_spec import text_catalog

HOSTILE = [
    "",
    " ",
    "plain",
    "comma, comma",
    'a "quoted" word',
    '"',
    '""',
    "line\nbreak",
    "line\r\nbreak",
    "carriage\rreturn",
    "tab\t",
    "nul\0byte",
    "<script>alert('1')</script>",
    "=cmd|' /C calc'!A0",
    "../../etc/passwd",
    "算子_🚀",
    "\u2028\u202e\ufeff",
    "N/A",
]


def joined(cells: list[pa.Array], end: str = "\r\n") -> bytes:
    return b"".join(map(bytes, lines(cells, end)))


def read(data: bytes) -> list[list[str]]:
    csv.field_size_limit(1 << 26)
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_any_text_survives(texts: list[str]) -> None:
    cells = quoted(pa.array(texts + HOSTILE))
    assert read(joined([cells, cells])) == [[text, text] for text in texts + HOSTILE]


def test_quotes_are_those_of_the_csv_module() -> None:
    plain = io.StringIO(newline="")
    writer = csv.writer(plain)
    # Of a lone CR the module before Python 3.13 takes no notice when lines end otherwise.
    writer.writerows([text, "1"] for text in HOSTILE)
    ones = pa.array(["1"] * len(HOSTILE))
    assert joined([quoted(pa.array(HOSTILE)), ones]) == plain.getvalue().encode()


def test_no_text_stays_no_text() -> None:
    assert quoted(pa.array(["a", None])).to_pylist() == ["a", None]
    assert quoted(pa.array([",", None])).to_pylist() == ['","', None]
    assert quoted(pa.array([], pa.string())).to_pylist() == []


def test_no_rows_are_no_text() -> None:
    assert joined([pa.array([], pa.string())]) == b""


def test_a_slice_of_a_column_is_written_alone() -> None:
    texts = pa.array(["a", "b", "c", "d"])
    numbers = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), ["x", "y"])
    assert joined([texts.slice(1, 2), numbers.slice(1, 2)], "\n") == b"b,y\nc,x\n"


def test_names_of_a_megabyte_survive(tmp_path: Path) -> None:
    catalog = text_catalog()
    how = Setting(catalog.csv["l2_cache"], catalog.writers["python"], "A2")
    rows = 12
    names = ["n,\n" * (1 << 18) + str(number) for number in range(3)]

    def batches() -> Iterator[dict[str, pa.Array]]:
        numbers = pa.array(range(rows))
        yield {
            "Device_id": numbers,
            "Stream Id": numbers,
            "Task Id": numbers,
            "Hit Rate": pa.nulls(rows),
            "Victim Rate": pa.array([0.5] * rows),
            "Op Name": pa.DictionaryArray.from_arrays(
                pa.array([number % 3 for number in range(rows)], pa.int32()), names
            ),
        }

    (path,) = write_sheet(how, batches(), tmp_path, timestamp="1")
    csv.field_size_limit(1 << 26)
    with path.open(newline="", encoding="utf-8") as file:
        found = csv.reader(file)
        assert len(next(found)) == 6
        for number, row in enumerate(found):
            assert row == [*[str(number)] * 3, "N/A", "0.5", names[number % 3]]
    assert number == rows - 1
