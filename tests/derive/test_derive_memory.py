"""Arithmetic of the real memory files, from their cells alone."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from real_text import rows_of

from ascend_ref.derive.decimals import Form, decimal_texts


def cells(name: str) -> pa.Array:
    """A column of the real operator_memory; an empty cell is null."""
    texts = pa.array([row[name] for row in rows_of("operator_memory")])
    return pc.if_else(pc.equal(texts, ""), None, texts)


def nanoseconds(texts: pa.Array) -> pa.Array:
    """Cells in us; an empty one is null."""
    cells = texts.to_pylist()
    return pa.array([None if one is None else int(Decimal(one.strip()) * 1000) for one in cells])


@pytest.mark.parametrize(
    ("length", "end", "count"),
    [
        ("Duration(us)", "Release Time(us)", 160),
        ("Active Duration(us)", "Active Release Time(us)", 103),
    ],
)
def test_a_real_block_lasts_from_its_allocation_to_its_release(
    length: str, end: str, count: int
) -> None:
    lasted = pc.subtract(nanoseconds(cells(end)), nanoseconds(cells("Allocation Time(us)")))
    written = cells(length)
    assert len(written) - written.null_count == count
    assert lasted.to_pylist() == nanoseconds(written).to_pylist()
    own = pc.ends_with(written, "\t")
    # The rows of the graph engine stand as msprof wrote them, floats of Python without a tab.
    texts = pc.if_else(own, decimal_texts(lasted, tab=True), decimal_texts(lasted, Form.REPR))
    assert texts.to_pylist() == written.to_pylist()
