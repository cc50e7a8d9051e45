"""Text made of columns is what plain Python makes of each row."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.spill import Spill
from ascend_ref.timeline import rows
from ascend_ref.timeline.lookup import Lookup, packed
from ascend_ref.timeline.notation import Notation, instants, lengths, reals, wholes
from ascend_ref.timeline.rows import ROWS_AT_ONCE, row_texts
from ascend_ref.timeline.text import flow_ids
from ascend_spec import timeline_catalog

WORDS = st.integers(-(1 << 63), (1 << 63) - 1)
EXTREMES = st.sampled_from([-(1 << 63), -1, 0, 1, (1 << 63) - 1])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PYTHON, CPP = Notation(", ", ": ", True), Notation(",", ":", False)


def column(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


def plain(fragment: str | pa.Array, count: int) -> list[str | None]:
    if isinstance(fragment, str):
        return [fragment] * count
    return fragment.to_pylist()


@settings(deadline=None, max_examples=60)
@given(st.lists(TEXTS | st.none(), min_size=1))
def test_strings_are_escaped_as_json_has_them(texts: list[str | None]) -> None:
    given_texts = pa.array(texts, pa.string())
    encoded = given_texts.dictionary_encode()
    assert PYTHON.strings(encoded).to_pylist() == PYTHON.strings(given_texts).to_pylist()
    for notation in (PYTHON, CPP):
        for text, shown in zip(texts, notation.strings(given_texts).to_pylist(), strict=True):
            assert (text is None) == (shown is None)
            if text is not None:
                assert json.loads(f'"{shown}"') == text
                if notation.ascii:
                    assert f'"{shown}"' == json.dumps(text)


@settings(deadline=None, max_examples=60)
@given(st.lists(WORDS, min_size=1))
def test_numbers_are_those_of_python(values: list[int]) -> None:
    assert plain(wholes(column(values)), len(values)) == [str(value) for value in values]
    shown = plain(lengths(column(values)), len(values))
    assert shown == [repr(value / 1000) for value in values]
    for value, text in zip(values, plain(instants(column(values)), len(values)), strict=True):
        whole, _, fraction = str(text).partition(".")
        assert len(fraction) == 3
        assert int(whole + fraction) == value


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(), min_size=1))
def test_floats_read_back_and_are_always_json(values: list[float]) -> None:
    for value, text in zip(values, reals(np.array(values)).to_pylist(), strict=True):
        finite = np.isfinite(value)
        assert text == (repr(value) if finite else "null")


@settings(deadline=None, max_examples=60)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_rows_are_the_fragments_in_their_order(texts: list[str], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 20))
    places = st.lists(st.sampled_from([*range(len(texts)), None]), min_size=count, max_size=count)
    chosen = data.draw(places)
    indices = pa.array(chosen, pa.int32())
    small = pa.DictionaryArray.from_arrays(indices, pa.array(texts, pa.string()))
    fragments = ["<", small, "|", "=", small.dictionary_decode(), ">", small]
    expected = ""
    for place in chosen:
        text = "" if place is None else texts[place]
        expected += f"<{text}|={text}>{text}"
    assert b"".join(row_texts(fragments, count)).decode() == expected


def test_long_texts_are_joined_in_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BYTES_AT_ONCE", 1 << 10)
    text = "x" * 300
    names = pa.DictionaryArray.from_arrays(pa.array([0] * 9, pa.int32()), pa.array([text]))
    blocks = list(row_texts(["", names, pa.array(["!"] * 9)], 9))
    assert [len(block) for block in blocks] == [903, 903, 903]
    assert b"".join(blocks) == (text + "!").encode() * 9


def test_many_rows_are_joined_in_batches() -> None:
    count = 2 * ROWS_AT_ONCE + 1
    blocks = list(row_texts([wholes(np.arange(count)), ","], count))
    assert len(blocks) == 3
    assert b"".join(blocks) == "".join(f"{row}," for row in range(count)).encode()


IDS = {
    (name, form.writers): form
    for name, flow in timeline_catalog().flows.items()
    for form in flow.ids
}


@settings(deadline=None, max_examples=20)
@given(st.data())
@pytest.mark.parametrize("key", IDS, ids=str)
def test_flow_ids_are_sums_of_shifted_numbers(
    key: tuple[str, tuple[str, ...]], data: st.DataObject
) -> None:
    form = IDS[key]
    largest = data.draw(st.sampled_from([2, 1 << 16, 1 << 32, 1 << 63]))
    numbers = st.lists(st.integers(0, largest - 1), min_size=3, max_size=3)
    quantities = {part.of: data.draw(numbers) for part in form.parts}
    shown = plain(flow_ids(form, {of: column(one) for of, one in quantities.items()}), 3)
    for row in range(3):
        expected = form.value(**{of: one[row] for of, one in quantities.items()})
        in_us = f"{expected // 1000}.{expected % 1000:03d}"
        assert shown[row] == (in_us if form.microseconds else str(expected))


def test_a_flow_id_counts_what_is_missing() -> None:
    form = timeline_catalog().flows["communication"].id_of("python")
    assert form is not None
    assert flow_ids(form, {"connectionId": column([1175])}) == "5046586572799"


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-3, 3)), st.lists(st.integers(-4, 4)))
def test_a_lookup_finds_the_first_of_equal_keys(keys: list[int], wanted: list[int]) -> None:
    found = Lookup(column(keys), Spill()).rows(column(wanted))
    assert found.tolist() == [keys.index(one) if one in keys else -1 for one in wanted]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(*[st.sampled_from([-(1 << 63), -1, 0, 1, (1 << 63) - 1])] * 3), min_size=1)
)
def test_packed_numbers_are_equal_where_all_columns_are(found: list[tuple[int, ...]]) -> None:
    keys = packed(*(column(list(one)) for one in zip(*found, strict=True))).tolist()
    for one, key in zip(found, keys, strict=True):
        for other, other_key in zip(found, keys, strict=True):
            assert (one == other) == (key == other_key)
