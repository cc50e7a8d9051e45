"""Columns as arrays, without what costs a check its Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ascend_ref.arrays import arrow, integers
from ascend_ref.recorded import from_captures
from ascend_ref.timeline import write_timeline
from ascend_simulator.cli.presets import named
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override


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


def without_pandas(code: str) -> int:
    """What a process ends with that runs some code and ends with 9 where pandas is looked for."""
    finder = (
        "import os, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pandas': os._exit(9)\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    command = [sys.executable, "-c", finder + code]
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode


def test_pandas_is_looked_for_by_arrow() -> None:
    assert without_pandas("import pyarrow as pa; pa.array(['a'])") == 9


def test_columns_do_without_pandas() -> None:
    """Imported from inside pyarrow, pandas swallows an interrupt."""
    code = (
        "import pyarrow as pa\n"
        "from ascend_ref.arrays import integers\n"
        "buffers = [None, pa.py_buffer(bytes(16))]\n"
        "integers(pa.Array.from_buffers(pa.int64(), 2, buffers))\n"
    )
    assert without_pandas(code) == 0


def test_a_check_of_a_timeline_does_without_pandas(tmp_path: Path) -> None:
    run = simulate(override(named("dense-8"), ranks=None, steps=1, level=None))
    (path,) = write_timeline(from_captures([run.capture(0)], "pytorch"), tmp_path)
    code = f"from ascend_conformance.check import check; check([{str(path)!r}])"
    assert without_pandas(code) == 0
