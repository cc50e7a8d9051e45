"""Numbers as the writers of text files print them.

Numbers with decimals are counted here in *units*: a unit is the last decimal place, so a duration
of ``45.59`` us with three places is 45590 units, which are its nanoseconds.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import joined
from ascend_ref.capture.batch import Integers, Reals

Mask: TypeAlias = npt.NDArray[np.bool_]
Column: TypeAlias = "npt.NDArray[Any] | pa.Array | pa.ChunkedArray"
"""Values of any kind: a NumPy array, or an Arrow array in which some may be null."""


Engine: TypeAlias = Literal["python", "cpp"]
"""Which of the two engines of msprof writes (text-outputs.md 1); the adapter's is Python."""


class Form(Enum):
    """How a number with decimals is written (text-outputs.md 1)."""

    FIXED = "fixed"
    """All places: ``45.590``. Instants everywhere, durations of the C++ engine."""
    STRIPPED = "stripped"
    """Without trailing zeros: ``45.59``, ``0``. Statistics of the C++ engine."""
    REPR = "repr"
    """As Python shows a float: ``45.59``, ``0.0``, ``4.1e-05``. Python engine and adapter."""


FLOAT_DIGITS = 15
"""A decimal of so many digits is the shortest text of the float nearest to it."""
EXACT_FLOATS = 1 << 53
"""Integers up to here are floats."""
PYTHON_FIXED_FROM = 1e-4
"""Python shows smaller floats with an exponent."""
ARROW_FIXED_BELOW = 1e9
"""Arrow shows floats between the two without an exponent, as Python does."""
FEW_UNITS = 1 << 12
"""Numbers of units that are all less, as those of shares are, have texts that are made once."""


def decimal_texts(
    units: Column, form: Form = Form.FIXED, *, places: int = 3, tab: bool = False
) -> pa.Array:
    """Texts of integers that count the last of 1 to 6 decimal ``places``; null stays null.

    With three places ns become us. ``tab`` ends each text with the tab of text-outputs.md 2.6.
    """
    values, valid = _filled(units)
    if len(values) and values.min() >= 0 and values.max() < FEW_UNITS:
        texts = _table(places, form).take(pa.array(values))
    else:
        texts = _texts(values, form, places)
    if tab:
        texts = joined(texts, "\t")
    return _with_nulls(texts, valid)


def number_texts(
    values: Column, form: Form = Form.REPR, *, places: int = 3, tab: bool = False
) -> pa.Array:
    """Texts of floats, rounded half to even from their exact binary value; null stays null.

    So do Python's ``round`` and its ``repr``, and the fixed notation of C and C++.
    """
    reals, valid = _filled(values)
    units, exact = rounded_units(reals, places)
    plain = exact & (np.abs(units) < 10**FLOAT_DIGITS) & ~((units == 0) & np.signbit(reals))
    texts = decimal_texts(units, form, places=places)
    texts = _replaced(
        texts, ~plain, [_slow_text(value, form, places) for value in reals[~plain].tolist()]
    )
    if tab:
        texts = joined(texts, "\t")
    return _with_nulls(texts, valid)


def shortest_texts(values: Column) -> pa.Array:
    """``repr`` of each float: the shortest text that reads back as the same float."""
    reals, valid = _filled(values)
    texts = pa.array(reals).cast(pa.string())
    whole = np.trunc(reals) == reals
    texts = joined(texts, _dictionary(("", ".0")).take(pa.array(whole.astype(np.int8))))
    magnitude = np.abs(reals)
    same = (magnitude >= PYTHON_FIXED_FROM) & (magnitude < ARROW_FIXED_BELOW) | (reals == 0)
    texts = _replaced(texts, ~same, [repr(value) for value in reals[~same].tolist()])
    return _with_nulls(texts, valid)


def rounded_units(values: Reals, places: int = 3) -> tuple[Integers, Mask]:
    """Each float as a number of units, half to even from its exact binary value; where that holds.

    The second array is false, and the unit 0, where a float is not finite or has more than 2^53
    units: neighbouring floats are then further apart than units.
    """
    scale = 10.0**places
    exact = np.abs(values) <= EXACT_FLOATS / scale
    kept = np.where(exact, values, 0.0)
    whole = np.trunc(kept)
    fraction = kept - whole
    product = fraction * scale
    units = np.rint(product)
    # A product is the float next to the true one, so it lies on the true side of each half, or on
    # the half itself: only there does the rest that it lost decide.
    halves = np.flatnonzero(np.abs(product - units) == 0.5)
    if halves.size:
        lost = _lost(fraction[halves], scale, product[halves])
        side = np.sign(product[halves] - units[halves])
        units[halves] += np.where(np.sign(lost) == side, side, 0.0)
    return (whole * scale).astype(np.int64) + units.astype(np.int64), exact


def unit_floats(units: Integers, places: int = 3) -> Reals:
    """The float nearest to each number of units, as reading its text gives it."""
    scale = 10**places
    whole, rest = np.divmod(units, scale)
    # Beyond 2^53 an integer is no float, but its parts are, and half-way between two floats the
    # decimals are binary fractions: the sum is rounded once.
    floats: Reals = np.where(np.abs(units) <= EXACT_FLOATS, units / scale, whole + rest / scale)
    great = np.abs(whole) > EXACT_FLOATS
    floats[great] = [value / scale for value in units[great].tolist()]
    return floats


def python_round(values: Reals, places: int = 3) -> Reals:
    """Python's ``round(value, places)`` of each float, with 1 to 6 places."""
    units, exact = rounded_units(values, places)
    # Beyond 2^53 units the float nearest to a rounded one is the one it was rounded from.
    return np.where(exact, np.copysign(units / 10.0**places, values), values)


def cpp_round(values: Reals, places: int = 3) -> Reals:
    """The C++ engine's rounding: the product with 10^places, half away from zero, divided again."""
    scale = 10.0**places
    with np.errstate(over="ignore", invalid="ignore"):
        product = values * scale
        whole = np.trunc(product)
        away = np.abs(product - whole) >= 0.5
        return (whole + np.where(away, np.copysign(1.0, product), 0.0)) / scale


def sqlite_round(values: Reals, places: int = 3) -> Reals:
    """``round(value, places)`` of SQLite before 3.43, by which the engines round statistics.

    It enlarges each number by a little more than its float is inexact, so that a decimal half goes
    away from zero however the float lies. Source: sqlite3_mprintf of 3.40, compared with it.
    """
    return python_round(np.nextafter(values, np.copysign(np.inf, values)), places)


def _texts(values: npt.NDArray[Any], form: Form, places: int) -> pa.Array:
    """The text of each number of units."""
    negative = values < 0
    magnitude = np.abs(values).astype(np.uint64)
    whole, rest = np.divmod(magnitude, np.uint64(10**places))
    parts = [pa.array(whole).cast(pa.string()), _fractions(rest, places, form)]
    if negative.any():
        parts.insert(0, _dictionary(("", "-")).take(pa.array(negative.astype(np.int8))))
    texts = joined(*parts)
    if form is Form.REPR:
        tiny = (magnitude > 0) & (magnitude < 10**places * PYTHON_FIXED_FROM)
        rare = tiny | (magnitude >= 10**FLOAT_DIGITS)
        # A Python integer divides to the nearest float, however great it is.
        texts = _replaced(
            texts, rare, [repr(value / 10**places) for value in values[rare].tolist()]
        )
    return texts


@cache
def _table(places: int, form: Form) -> pa.Array:
    """The texts of the first units."""
    return _texts(np.arange(FEW_UNITS), form, places)


def _slow_text(value: float, form: Form, places: int) -> str:
    """Text of one float: not finite, beyond the digits of a float, or a negative zero."""
    if form is Form.REPR:
        return repr(round(value, places))
    text = f"{value:.{places}f}"
    if form is Form.STRIPPED and "." in text:
        return text.rstrip("0").removesuffix(".")
    return text


def _lost(fraction: Reals, scale: float, product: Reals) -> Reals:
    """What a product of fractions with a power of ten lost when it was rounded, exactly."""
    split = fraction * (2.0**27 + 1)
    high = split - (split - fraction)
    # Halves of a float have 26 bits, and the powers of ten up to 10^6 have 14: both are exact.
    upper, lower = high * scale, (fraction - high) * scale
    return lower - (product - upper)


def _fractions(rest: npt.NDArray[np.uint64], places: int, form: Form) -> pa.Array:
    """The decimal point and what follows, of the places after it."""
    if places <= 3:
        return _fraction_table(places, form).take(pa.array(rest))
    upper, lower = np.divmod(rest, np.uint64(1000))
    texts = joined(
        _fraction_table(places - 3, Form.FIXED).take(pa.array(upper)),
        _digit_table(3).take(pa.array(lower)),
    )
    return texts if form is Form.FIXED else _trimmed(texts, form)


@cache
def _fraction_table(places: int, form: Form) -> pa.Array:
    """The fractions with so many places."""
    texts = joined(".", _digit_table(places))
    return texts if form is Form.FIXED else _trimmed(texts, form)


@cache
def _digit_table(places: int) -> pa.Array:
    return pa.array([f"{value:0{places}d}" for value in range(10**places)])


def _trimmed(fractions: pa.Array, form: Form) -> pa.Array:
    """Fractions without trailing zeros."""
    texts = pc.ascii_rtrim(fractions, "0")
    return pc.if_else(pc.equal(texts, "."), ".0" if form is Form.REPR else "", texts)


@cache
def _dictionary(texts: tuple[str, ...]) -> pa.Array:
    return pa.array(texts)


def _replaced(texts: pa.Array, where: Mask, by: list[str]) -> pa.Array:
    """The texts with those of a mask replaced, in order."""
    return pc.replace_with_mask(texts, pa.array(where), pa.array(by, pa.string())) if by else texts


def _filled(column: Column) -> tuple[npt.NDArray[Any], pa.Array | None]:
    """Values with 0 for null; which are no null, None if none is."""
    if isinstance(column, np.ndarray):
        return column, None
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    valid = array.is_valid() if array.null_count else None
    return array.fill_null(0).to_numpy(zero_copy_only=False), valid


def _with_nulls(texts: pa.Array, valid: pa.Array | None) -> pa.Array:
    return texts if valid is None else pc.if_else(valid, texts, None)
