"""Columns as arrays, and arrays as columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ascend_ref.arrays import arrow, integers


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, -2, 1 << 62]),
        pa.array([7, 8, 9, 10]).slice(1, 2),
        pa.array([3, None, 5]).drop_null(),
        pa.array([3.0, 4.0]),
        pa.array([1, 2], pa.int8()),
        pa.array([], pa.int64()),
        pa.array([None], pa.null()).drop_null(),
    ],
)
def test_whole_numbers_are_those_of_the_column(column: pa.Array) -> None:
    assert integers(column).tolist() == column.to_pylist()
    assert integers(column).dtype == np.int64


NUMBERS = st.sampled_from(
    [np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_]
)


@given(st.data(), NUMBERS, st.booleans(), st.sampled_from([1, 2, -1]))
def test_a_column_is_as_arrow_makes_it(
    data: st.DataObject, kind: type, has_nulls: bool, step: int
) -> None:
    shape = data.draw(array_shapes(max_dims=1, min_side=0, max_side=30))
    values: npt.NDArray[np.generic] = data.draw(arrays(kind, shape))[::step]
    mask = data.draw(arrays(np.bool_, values.shape)) if has_nulls else None
    column = arrow(values, mask=mask)
    column.validate(full=True)
    # As texts, since NaN is not equal to itself.
    shown = [str(one) for one in pa.array(values, mask=mask).to_pylist()]
    assert [str(one) for one in column.to_pylist()] == shown
    assert column.type == pa.array(values).type


@given(st.lists(st.none() | st.text(max_size=9), max_size=30))
def test_texts_are_as_arrow_makes_them(texts: list[str | None]) -> None:
    column = arrow(texts, pa.string())
    column.validate(full=True)
    assert column.equals(pa.array(texts, pa.string()))


def test_texts_are_not_taken_for_numbers() -> None:
    with pytest.raises(TypeError, match="expected numbers"):
        arrow(np.array(["a", "bc"]))
