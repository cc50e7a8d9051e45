"""Batches of a few rows, so that a small test meets every seam of a long column."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ascend_ref.derive import overlap
from ascend_ref.spill import columns, sorting

SIZES = (
    (columns, "ROWS_AT_ONCE", 8),
    (columns, "KEPT_BYTES", 64),
    (columns, "NEAR_ROWS", 8),
    (columns, "FAR_ROWS_AT_ONCE", 3),
    (sorting, "KEPT_BYTES", 64),
    (sorting, "SORTED_AT_ONCE", 7),
    (sorting, "MOST_BOUNDS", 6),
    (overlap, "INTERVALS_AT_ONCE", 4),
)


@contextmanager
def tiny_batches(loaded: int = -1) -> Iterator[None]:
    """Columns of more than 64 bytes lie in files, and eight rows are handled at once.

    ``loaded``: memory of the columns from which they are let go of. By default they always are,
    which for a whole export costs more than the rest of it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "LOADED_BYTES", loaded)
        for module, name, value in SIZES:
            patch.setattr(module, name, value)
        yield
