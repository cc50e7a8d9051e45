"""How the work of a kernel is cut into tiles, and what is impossible about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from math import prod

from ...documents.text import Path
from ..chip import KernelChip, Memory
from ..choices import KernelScenario
from .costs import FRACTAL, FRACTAL_BYTES
from .recipes import Recipe, element_bytes, recipe

Problem = tuple[Path, str]

DEFAULT_SHAPES: dict[str, tuple[int, ...]] = {
    "add": (8, 1024, 1024),
    "gelu": (4, 1024, 1024),
    "softmax": (4096, 1024),
    "matmul": (1024, 1024, 1024),
    "matmul-leakyrelu": (1024, 512, 640),
    "flash-attention": (1, 12, 1024, 128),
    "gather": (65536, 64, 16384),
}
LENGTHS = {"softmax": 2, "matmul": 3, "matmul-leakyrelu": 3, "flash-attention": 4, "gather": 3}
"""How many lengths the shape of a kind has, where it is not any number."""

TILE_BYTES = 32 * 1024
"""Of one operand of a vector tile, where nothing else is wanted; such a copy is efficient."""
ACCUMULATOR_BYTES = 4
USUAL_TILE = (128, 256)
"""Rows and columns of a matrix tile on 910B: it fills L0C."""
STEPS_PER_LOAD = 4
THREADS = 512
WARP = 32
GATHER_TILE = 256
ATTENTION_TILE = 128


@dataclass(frozen=True, slots=True)
class VectorGeometry:
    """tile: elements. columns: of a row, which no tile cuts (1 where there are no rows)."""

    shape: tuple[int, ...]
    columns: int
    tile: int
    tiles: int
    blocks: int


@dataclass(frozen=True, slots=True)
class MatrixGeometry:
    """m, n, k: of the product. tile_m, tile_n: of a tile; step: inner length of one MMAD; load: of
    one load to L1. rows, columns: tiles in either direction.
    """

    m: int
    n: int
    k: int
    tile_m: int
    tile_n: int
    step: int
    load: int
    blocks: int

    @property
    def rows(self) -> int:
        """Tiles below each other."""
        return -(-self.m // self.tile_m)

    @property
    def columns(self) -> int:
        """Tiles next to each other."""
        return -(-self.n // self.tile_n)

    @property
    def tiles(self) -> int:
        """All tiles."""
        return self.rows * self.columns


def shape_of(scenario: KernelScenario) -> tuple[int, ...]:
    """The shape, or the kind's own."""
    return scenario.operator.shape or DEFAULT_SHAPES[scenario.operator.kind]


def vector_geometry(scenario: KernelScenario, chip: KernelChip) -> VectorGeometry:
    """The tiles of a vector operator; they may not fit."""
    shape = shape_of(scenario)
    one = recipe(scenario.operator.kind, scenario.operator.data_type)
    columns = shape[1] if scenario.operator.kind == "softmax" else 1
    rows = prod(shape) // columns
    blocks = scenario.device.block_dim or chip.vector_cores
    wanted = scenario.tiling.elements or _fitting(scenario, chip, one, rows * columns, blocks)
    tile_rows = min(max(wanted // columns, 1), rows)
    tiles = -(-rows // tile_rows)
    if scenario.device.block_dim is None:
        blocks = min(blocks, tiles)
    return VectorGeometry(shape, columns, tile_rows * columns, tiles, blocks)


def part_elements(scenario: KernelScenario, chip: KernelChip, one: Recipe, most: int) -> int:
    """Elements of a vector tile that takes its input from a product of ``most`` elements."""
    return min(scenario.tiling.elements or _fitting(scenario, chip, one, most, 1), most)


def result_type(scenario: KernelScenario) -> str:
    """Data type of a product: its accumulator's, if a vector unit works on it (mix.bin)."""
    data_type = scenario.operator.data_type
    if data_type == "int8":
        return "int32"
    return "float32" if scenario.operator.kind == "matmul-leakyrelu" else data_type


def activation(scenario: KernelScenario) -> Recipe:
    """What a vector unit does with a product."""
    return recipe("leakyrelu", result_type(scenario))


def _usual_tile(scenario: KernelScenario, chip: KernelChip) -> tuple[int, int]:
    """Rows and columns; on a unified core the Unified Buffer holds a whole tile too."""
    rows, columns = USUAL_TILE
    if chip.unified:
        room = chip.buffers["UB"] // activation(scenario).footprint(scenario.tiling.buffers)
        while rows * columns > room:
            columns //= 2
    return rows, columns


def matrix_geometry(scenario: KernelScenario, chip: KernelChip) -> MatrixGeometry:
    """The tiles of a matrix product of m x k and k x n; they may not fit."""
    m, k, n = shape_of(scenario)
    size, tiling = element_bytes(scenario.operator.data_type), scenario.tiling
    depth = FRACTAL_BYTES // size
    usual_m, usual_n = _usual_tile(scenario, chip)
    tile_m = tiling.m or min(usual_m, _whole(m, FRACTAL))
    tile_n = tiling.n or min(usual_n, _whole(n, FRACTAL))
    room = min(
        chip.buffers["L0A"] // (tile_m * size * tiling.buffers),
        chip.buffers["L0B"] // (tile_n * size * tiling.buffers),
    )
    step = tiling.k or min(max(room // depth, 1) * depth, _whole(k, depth))
    per_step = (tile_m + tile_n) * step * size * tiling.buffers
    steps = max(1, min(STEPS_PER_LOAD, chip.buffers["L1"] // per_step, -(-k // step)))
    blocks = scenario.device.block_dim or chip.cube_cores
    found = MatrixGeometry(m, n, k, tile_m, tile_n, step, step * steps, blocks)
    if scenario.device.block_dim is None:
        return replace(found, blocks=min(blocks, found.tiles))
    return found


def misfits(scenario: KernelScenario, chip: KernelChip, found: MatrixGeometry) -> Iterator[Problem]:
    """What does not fit into L0A, L0B, L0C and L1."""
    size, buffers = element_bytes(scenario.operator.data_type), scenario.tiling.buffers
    needs: tuple[tuple[str, Memory, int, str], ...] = (
        ("m", "L0A", found.tile_m * found.step * size * buffers, f"m x k = {found.step}"),
        ("n", "L0B", found.tile_n * found.step * size * buffers, f"k = {found.step} x n"),
        ("m", "L0C", found.tile_m * found.tile_n * ACCUMULATOR_BYTES, f"m x n = {found.tile_n}"),
        ("k", "L1", (found.tile_m + found.tile_n) * found.load * size * buffers, "(m + n) x k"),
    )
    values = {"m": found.tile_m, "n": found.tile_n, "k": found.step}
    yield from islice(_too_large(chip, needs, values, buffers, "needs"), 1)


def _too_large(
    chip: KernelChip,
    needs: Iterable[tuple[str, Memory, int, str]],
    values: Mapping[str, int],
    buffers: int,
    verb: str,
) -> Iterator[Problem]:
    """What does not fit. needs: length of a tile, memory, Byte, and what needs them."""
    for name, memory, need, what in needs:
        if need > chip.buffers[memory]:
            yield (
                ("tiling", name),
                f"is {values[name]}, so {what} {verb} {need:,} Byte of {memory} in {buffers} "
                f"buffers; expected at most {chip.buffers[memory]:,}",
            )


def vector_misfits(
    scenario: KernelScenario, chip: KernelChip, one: Recipe, elements: int
) -> Iterator[Problem]:
    """What does not fit into the Unified Buffer."""
    need = elements * one.footprint(scenario.tiling.buffers)
    if need > chip.buffers["UB"]:
        most = chip.buffers["UB"] // one.footprint(scenario.tiling.buffers)
        yield (
            _cause(scenario, elements),
            f"makes vector tiles of {elements} elements, which need {need:,} Byte of UB in "
            f"{scenario.tiling.buffers} buffers; expected at most {most} elements",
        )


def _cause(scenario: KernelScenario, elements: int) -> Path:
    """The field that makes a vector tile so large."""
    if elements <= (scenario.tiling.elements or 0):
        return ("tiling", "elements")
    # A row of softmax is never divided; behind a product, its tile is the vectors' too.
    return ("operator", "shape", 1) if scenario.operator.kind == "softmax" else ("tiling", "m")


def _fitting(
    scenario: KernelScenario, chip: KernelChip, one: Recipe, total: int, blocks: int
) -> int:
    """Elements that fill the Unified Buffer, in whole repeats, and leave every core something."""
    most = chip.buffers["UB"] // one.footprint(scenario.tiling.buffers)
    usual = min(most, TILE_BYTES // one.size, -(-total // blocks))
    return max(usual // one.lanes * one.lanes, min(one.lanes, most))


def _whole(number: int, of: int) -> int:
    return -(-number // of) * of


@dataclass(frozen=True, slots=True)
class AttentionGeometry:
    """queries, keys: rows of a tile of either. tiles: of queries; steps: tiles of keys for each."""

    tokens: int
    width: int
    queries: int
    keys: int
    tiles: int
    steps: int
    blocks: int

    @property
    def tiles_per_head(self) -> int:
        """Tiles of queries of one head."""
        return self.tokens // self.queries


def attention_geometry(scenario: KernelScenario, chip: KernelChip) -> AttentionGeometry:
    """The tiles of attention; they may not fit."""
    batch, heads, tokens, width = shape_of(scenario)
    tiling = scenario.tiling
    lengths = [n for n in range(ATTENTION_TILE, 0, -FRACTAL) if tokens % n == 0] or [tokens]
    sizes = [(min(tiling.m or n, tokens), min(tiling.n or n, tokens)) for n in lengths]
    queries, keys = next(
        (one for one in sizes if not any(_excess(scenario, chip, *one, width))), sizes[-1]
    )
    tiles = batch * heads * max(tokens // queries, 1)
    blocks = scenario.device.block_dim or min(chip.cube_cores, tiles)
    return AttentionGeometry(tokens, width, queries, keys, tiles, tokens // keys, blocks)


def attention_misfits(
    scenario: KernelScenario, chip: KernelChip, found: AttentionGeometry
) -> Iterator[Problem]:
    """What is impossible about the tiles of attention."""
    for name, value in (("m", found.queries), ("n", found.keys)):
        if found.tokens % value or value % FRACTAL:
            yield (
                ("tiling", name),
                f"is {value}; expected a multiple of {FRACTAL} that divides the {found.tokens} "
                "tokens",
            )
            return
    yield from _excess(scenario, chip, found.queries, found.keys, found.width)


def _excess(
    scenario: KernelScenario, chip: KernelChip, queries: int, keys: int, width: int
) -> Iterator[Problem]:
    """What does not fit of the tiles of attention."""
    size, buffers = element_bytes(scenario.operator.data_type), scenario.tiling.buffers
    tiles = max(buffers, 2)  # that of the scores can be there with that of the values
    what = "the tiles"
    needs: tuple[tuple[str, Memory, int, str], ...] = (
        ("m", "L0A", queries * max(width, keys) * size * tiles, what),
        ("n", "L0B", keys * width * size * tiles, what),
        ("m", "L0C", queries * max(keys, width) * ACCUMULATOR_BYTES, what),
        ("n", "L1", 2 * (queries + keys) * width * size * buffers, what),
        ("m", "UB", queries * (keys * 3 + width * 3) * ACCUMULATOR_BYTES // 2, what),
    )
    yield from _too_large(chip, needs, {"m": queries, "n": keys}, buffers, "need")


@dataclass(frozen=True, slots=True)
class GatherGeometry:
    """rows, width: of the table. count: indices. tile: indices of one launch."""

    rows: int
    width: int
    count: int
    tile: int
    tiles: int
    blocks: int


def gather_geometry(scenario: KernelScenario, chip: KernelChip) -> GatherGeometry:
    """How a gather is divided into launches of SIMT functions."""
    rows, width, count = shape_of(scenario)
    tile = min(scenario.tiling.elements or GATHER_TILE, count)
    tiles = -(-count // tile)
    blocks = scenario.device.block_dim or min(chip.vector_cores, tiles)
    return GatherGeometry(rows, width, count, tile, tiles, blocks)
