"""Tiles of matrix operands in global memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers

from .geometry import MatrixGeometry
from .model import same
from .tape import Quantity, Transfer


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of the result for each block: its place, and its rows and columns without excess."""

    row: Integers
    column: Integers
    rows: Quantity
    columns: Quantity


def tile_at(plan: MatrixGeometry, numbers: Integers) -> Tile:
    """The tiles of these numbers, counted row after row."""
    row, column = numbers // plan.columns, numbers % plan.columns
    return Tile(
        row=row,
        column=column,
        rows=same(np.minimum(plan.tile_m, plan.m - row * plan.tile_m)),
        columns=same(np.minimum(plan.tile_n, plan.n - column * plan.tile_n)),
    )


def left(plan: MatrixGeometry, tile: Tile, address: int, start: int, k: int, size: int) -> Transfer:
    """The rows of the left operand, from inner place ``start`` on."""
    return Transfer(
        address=address + (tile.row * plan.tile_m * plan.k + start) * size,
        rows=tile.rows,
        row_bytes=k * size,
        pitch=plan.k * size,
        store=False,
        local="L1",
    )


def right(
    plan: MatrixGeometry, tile: Tile, address: int, start: int, k: int, size: int
) -> Transfer:
    """The columns of the right operand, from inner place ``start`` on."""
    return Transfer(
        address=address + (start * plan.n + tile.column * plan.tile_n) * size,
        rows=k,
        row_bytes=tile.columns * size,
        pitch=plan.n * size,
        store=False,
        local="L1",
    )


def result(plan: MatrixGeometry, tile: Tile, address: int, size: int, local: str) -> Transfer:
    """Where the tile belongs in the result."""
    place = (tile.row * plan.tile_m * plan.n + tile.column * plan.tile_n) * size
    return Transfer(
        address=address + place,
        rows=tile.rows,
        row_bytes=tile.columns * size,
        pitch=plan.n * size,
        store=True,
        local=local,
    )


def contiguous(address: Quantity, size: Quantity, *, store: bool, local: str) -> Transfer:
    """A piece without gaps."""
    return Transfer(address, 1, size, 0, store, local)
