"""Values to cells: every form of a number against Decimal arithmetic, sentinels and texts."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.text.cells import CellTexts
from ascend_spec import text_catalog
from ascend_spec.text.model import CsvColumn, NumberFormat, Writer

WRITERS = text_catalog().writers
SUMMARY = text_catalog().csv["op_summary"]
INT64 = st.integers(-(1 << 62), 1 << 62)


def column(name: str, style: str, decimals: int | None = 3, **changes: object) -> CsvColumn:
    found = SUMMARY.column(name)
    assert found is not None
    form = NumberFormat(style, decimals)  # type: ignore[arg-type]
    return replace(found, formats={"*": form}, **changes)  # type: ignore[arg-type]


def cells(of: CsvColumn, values: pa.Array, writer: Writer = WRITERS["python"]) -> list[str]:
    texts = CellTexts(of, writer, "A2", quotes=writer.quoting == "minimal")(values)
    assert not texts.null_count
    return texts.cast(pa.string()).to_pylist()


def shown(value: Decimal, style: str, places: int) -> str:
    """A decimal in a form, by Decimal alone."""
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    if style == "fixed":
        return f"{rounded:f}"
    if style == "stripped":
        text = f"{rounded:f}"
        return text.rstrip("0").removesuffix(".") if "." in text else text
    return repr(float(rounded))


@given(st.lists(INT64, min_size=1), st.sampled_from(["fixed", "stripped", "rounded"]))
def test_nanoseconds_are_us_without_any_rounding(values: list[int], style: str) -> None:
    found = cells(column("Task Duration(us)", style), pa.array(values, pa.int64()))
    exact = [Decimal(value).scaleb(-3) for value in values]
    assert found == [shown(value, style, 3) for value in exact]


@given(st.lists(st.integers(0, 1 << 52), min_size=1))
def test_six_decimals_of_a_time_end_with_three_zeros(values: list[int]) -> None:
    found = cells(column("Task Wait Time(us)", "fixed", 6), pa.array(values, pa.int64()))
    assert found == [f"{Decimal(value).scaleb(-3):.6f}" for value in values]


reals = st.floats(-1e12, 1e12, allow_nan=False)
styles = st.sampled_from(["fixed", "stripped", "rounded"])


@given(st.lists(reals, min_size=1), styles, st.integers(1, 6))
def test_floats_round_half_to_even_from_their_exact_value(
    values: list[float], style: str, places: int
) -> None:
    found = cells(column("Task Duration(us)", style, places), pa.array(values, pa.float64()))
    for value, text in zip(values, found, strict=True):
        expected = shown(Decimal(value), style, places)
        # A negative number that rounds to nothing keeps its sign in Decimal, C and Python alike.
        assert text == expected or (Decimal(text) == 0 == Decimal(expected)), value


@given(st.lists(st.floats(), min_size=1))
def test_the_shortest_text_reads_back_as_the_same_float(values: list[float]) -> None:
    found = cells(column("Task Duration(us)", "shortest", None), pa.array(values, pa.float64()))
    assert found == [repr(value) for value in values]


@given(st.lists(st.floats(-1e15, 1e15), min_size=1))
def test_an_integer_form_cuts_the_decimals(values: list[float]) -> None:
    found = cells(column("Block Num", "integer", None), pa.array(values, pa.float64()))
    assert found == [str(int(Decimal(value).to_integral_value(ROUND_DOWN))) for value in values]


@pytest.mark.parametrize(
    ("style", "text"), [("integer", "1234"), ("text", "1234.5"), ("shortest", "1234.5")]
)
def test_a_time_in_the_other_forms(style: str, text: str) -> None:
    assert cells(column("Task Duration(us)", style, None), pa.array([1_234_500])) == [text]


def test_instants_end_with_a_tab_and_sentinels_do_not() -> None:
    times = pa.array([1_736_408_883_704_643_212, None, 5])
    start = column("Task Start Time(us)", "fixed", tab=True, sentinels=("N/A", ""))
    assert cells(start, times) == ["1736408883704643.212\t", "N/A", "0.005\t"]
    bare = replace(WRITERS["python"], tabbed=False)
    assert cells(start, times, bare) == ["1736408883704643.212", "N/A", "0.005"]


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["a,b", None, "a,b"]),
        pa.array(["a,b", None, "a,b"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([1, None, 1], pa.int32()), ["x", "a,b"]),
    ],
)
def test_texts_are_quoted_and_nothing_is_a_sentinel(values: pa.Array) -> None:
    name = column("Op Name", "text", sentinels=('no,"thing"',))
    assert cells(name, values) == ['"a,b"', '"no,""thing"""', '"a,b"']
    assert cells(name, values, WRITERS["cpp"]) == ["a,b", 'no,"thing"', "a,b"]
    assert cells(name, pa.nulls(2)) == ['"no,""thing"""'] * 2


def test_without_a_sentinel_no_text_is_not_available_and_no_number_empty() -> None:
    assert cells(column("Op Name", "text", sentinels=()), pa.nulls(2)) == ["N/A", "N/A"]
    assert cells(column("Task ID", "text", sentinels=()), pa.array([7, None])) == ["7", ""]


def test_dictionaries_of_different_batches_are_not_mixed_up() -> None:
    texts = CellTexts(column("Op Name", "text"), WRITERS["python"], "A2", quotes=False)
    for words in (["a", "b"], ["c", "d"], ["c", "d", "e"]):
        batch = pa.array(words).dictionary_encode()
        assert texts(batch).to_pylist() == words
        assert texts(batch.slice(1)).to_pylist() == words[1:]


def test_a_copy_has_the_numbers_of_its_original() -> None:
    wait = SUMMARY.column("Task Wait Time(us)")
    assert wait is not None
    values = pa.array(np.array([0.25]))
    adapter = WRITERS["adapter"]
    assert CellTexts(wait, adapter, "A2", quotes=True)(values).to_pylist() == ["0.250000"]
    assert CellTexts(wait, adapter, "310P", quotes=True)(values).to_pylist() == ["0.25"]
