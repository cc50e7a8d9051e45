"""Float texts against those that the producer's library really wrote."""

from __future__ import annotations

import json
import struct
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_blocks import REAL, real

from ascend_ref.bin import open_file
from ascend_ref.bin.grisu import float_text


@pytest.mark.parametrize("name", REAL)
def test_every_number_of_the_real_files(name: str) -> None:
    tokens: list[str] = []
    with open_file(real(name)) as file:
        for entry in file.entries:
            json.loads(bytes(file.payload(entry)), parse_float=lambda t: tokens.append(t) or 0)
    assert tokens
    assert [float_text(float(token)) for token in tokens] == tokens


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (32.8168343843593, "32.816834384359296"),  # not the shortest: the library's own quirk
        (3.5678787231445312, "3.5678787231445313"),
        (1e15, "1e+15"),
        (1e14, "100000000000000.0"),
        (1e-5, "1e-05"),
        (0.0001, "0.0001"),
        (-0.0, "-0.0"),
        (0.0, "0.0"),
        (100.0, "100.0"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (float("nan"), "null"),
        (float("-inf"), "null"),
    ],
)
def test_documented_texts(value: float, text: str) -> None:
    assert float_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_text_leads_back_to_its_number(value: float) -> None:
    text = float_text(value)
    assert struct.pack("<d", float(text)) == struct.pack("<d", value)
    assert set(text) & set(".e"), "an integer token would read as 0 in a float column"


@given(st.floats(0.0009765625, 999999995904.0, width=32))
def test_single_precision_numbers_are_shortest_with_ties_up(value: float) -> None:
    """What was measured against the library itself: no difference in 60,000 such numbers."""
    digits = len(repr(value).replace(".", "").strip("0").split("e")[0])
    exact = Decimal(value)
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    rounded = exact.quantize(step, ROUND_HALF_UP)
    if float(rounded) == value:
        assert Decimal(float_text(value)) == rounded
