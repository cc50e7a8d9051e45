"""Columns as arrays, without what costs a check its Ctrl-C."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from ascend_ref.arrays import integers


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


def test_a_check_does_without_pandas() -> None:
    """Imported from inside pyarrow, pandas swallows an interrupt."""
    code = (
        "import sys, pyarrow as pa\n"
        "from ascend_ref.arrays import integers\n"
        "buffers = [None, pa.py_buffer(bytes(16))]\n"
        "integers(pa.Array.from_buffers(pa.int64(), 2, buffers))\n"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
