"""What a kernel costs on a chip: a roofline of its pipes, a head before it and a start around it.

A task lasts ``start + head + body``. The start passes before the cores count cycles. The body is as
long as the busiest pipe needs: arithmetic on the cores that take part, in whole waves of tiles, or
bringing operands from memory (``cold``) or from L2 (``warm``). The counters are the same numbers:
each pipe's share is its own time over ``head + body``. All integers; lengths inside are ps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from ascend_spec.core import packaged

from ..hardware.model import Chip

Unit = Literal["vector", "cube", "mix_vector", "attention", "ai_cpu", "random"]
WHOLE = 65_536
FIXPIPE_BYTES = 60
"""Byte per cycle that a core writes from L0C."""
CUBE_LOAD = 5, 4
"""How much faster a core's cube loads than its vector unit."""
REUSE = 3
"""Neighbouring tiles share operands, which are loaded once for so many of them."""
SPILL = 3, 4
"""A working set beyond this share of L2 streams through it."""
WRITTEN_BACK = 4
"""Of what is written into L2, one in so many Byte leaves for memory before it is overwritten."""
TILES = (
    (128, 256),
    (256, 128),
    (128, 128),
    (64, 256),
    (64, 128),
    (32, 256),
    (32, 128),
    (16, 256),
    (16, 128),
)
CUBE_SCALAR = (400, 480)
FIRST_PS = {"vec": 30_000, "mte2": 250_000, "mte3": 130_000}
"""What a pipe of the vector core needs for the first data."""
ALIGNED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """An entry of operators.yaml; see the head of that file."""

    type: str
    unit: Unit
    kernel: str
    head: int
    block: int
    vector: int
    l2: int
    hbm: int
    scalar: tuple[int, int]
    icache: int
    efficiency: int = 0
    mte1: int = 0
    mte2: int = 280
    fixpipe: int = 0
    rate: int = 0
    rows: int = 1024
    blocks: int = 0


@dataclass(frozen=True, slots=True)
class Traffic:
    """Byte that a kernel reads from memory (cold) and from L2 (warm), and writes."""

    cold: int
    warm: int
    written: int

    @property
    def read(self) -> int:
        """Byte read."""
        return self.cold + self.warm


@dataclass(frozen=True, slots=True)
class Cost:
    """What a kernel costs.

    duration: ns at the nominal clock. clock_bound: per mille of it that grows when the clock falls
    (the rest is bound by memory). read, written: traffic with HBM in Byte.
    busy: share of ``duration`` that counts as total_time of the counters, in 1/65536.
    loaded, stored: traffic of the cores in Byte, through L2 or not. pipes: for each pipe (``mac``,
    ``mte1``, ``mte2``, ``fixpipe``, ``scalar``, ``vec``, ``mte3``) its share of total_time in
    1/65536. mix_pipes: those of the ``mix_blocks`` cores of the second kind. rates: other metrics
    as value, such as icache_miss_rate.
    """

    duration: int
    blocks: int
    mix_blocks: int = 0
    clock_bound: int = 1000
    read: int = 0
    written: int = 0
    loaded: int = 0
    stored: int = 0
    busy: int = 60_000
    pipes: Mapping[str, int] = field(default_factory=dict)
    mix_pipes: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)


@cache
def kinds() -> dict[str, Kind]:
    """All kinds of operators, by name."""
    document: dict[str, Any] = packaged(__package__, "operators.yaml")
    found = {}
    for name, entry in document["kinds"].items():
        values = {"type": name, **document["default"], **entry}
        values.setdefault("kernel", f"{values['type']}AiCore")
        if values["unit"] in ("cube", "attention") and "scalar" not in entry:
            values["scalar"] = CUBE_SCALAR
        found[name] = Kind(**{**values, "scalar": tuple(values["scalar"])})
    return found


def blocks_for(elements: int, rows: int, cores: int) -> int:
    """Cores that share so many elements, each at least ``rows`` and a multiple of 128."""
    share = max(rows, -(-elements // cores))
    if share > ALIGNED:
        share = -(-share // ALIGNED) * ALIGNED
    return max(1, -(-elements // share))


def vector_cost(
    chip: Chip, kind: Kind, elements: int, width: int, traffic: Traffic, blocks: int = 0
) -> Cost:
    """An operator of the vector unit. width: Byte per element. blocks: 0 where the chip's cores say
    how many; more than those run in waves.
    """
    if not blocks:
        cores = min(kind.blocks or chip.vector_cores, chip.vector_cores)
        blocks = blocks_for(elements, kind.rows, cores)
    cores = blocks // -(-blocks // chip.vector_cores)
    spilled = (traffic.read + traffic.written) * SPILL[1] > chip.l2 * SPILL[0]
    cold = traffic.cold + (traffic.written if spilled else 0)
    warm = traffic.warm + (0 if spilled else traffic.written)
    far = _far(chip, kind, cold, cores * chip.core_bytes)
    near = _near(chip, kind, warm, cores)
    moving = far + near
    vector = _cycles(kind.vector * elements * width // (cores * _line(chip)), chip)
    limited = 0
    if kind.rate:
        rate = kind.rate * chip.vector_cores * chip.frequency // (48 * 1800)
        limited = (traffic.read + traffic.written) * 1000 // max(1, rate)
    body = max(moving, vector, limited)
    everything = max(1, traffic.read + traffic.written)
    pipes = {
        "vec": vector + FIRST_PS["vec"],
        "mte2": min(body, moving * traffic.read * 3 // (2 * everything)) + FIRST_PS["mte2"],
        "mte3": moving * traffic.written // everything + FIRST_PS["mte3"],
    }
    bound = body if body > far else body - far
    return _cost(chip, kind, blocks, body, bound, pipes, traffic, spilled)


def matmul_cost(
    chip: Chip,
    kind: Kind,
    size: tuple[int, int, int, int],
    widths: tuple[int, int],
    traffic: Traffic,
) -> Cost:
    """A product of matrices. size: batch, m, n, k. widths: Byte per element of operands and result.

    FLOAT operands cost four times as much as FLOAT16: they are not rounded to HF32.
    """
    batch, m, n, k = size
    products = chip.cube_flops // 2 // (4 if widths[0] == 4 else 1)
    found = []
    for most_rows, most_columns in TILES:
        rows = min(most_rows, -(-m // 16) * 16)
        columns = min(most_columns, -(-n // 16) * 16)
        tiles = batch * -(-m // rows) * -(-n // columns)
        blocks = min(chip.cube_cores, tiles)
        waves = -(-tiles // blocks)
        mac = waves * rows * columns * k // products
        load = waves * (rows + columns) * k * widths[0] // REUSE
        load = load * CUBE_LOAD[1] // (chip.core_bytes * CUBE_LOAD[0])
        fixpipe = waves * rows * columns * widths[1] // FIXPIPE_BYTES
        longest = max(mac * 1000 // kind.efficiency, load, fixpipe)
        found.append((longest, blocks, (mac, load, fixpipe)))
    _, blocks, cycles = min(found, key=lambda tried: tried[0])
    return _cube_cost(chip, kind, blocks, cycles, traffic)


def convolution_cost(
    chip: Chip, kind: Kind, products: int, blocks: int, thin: bool, traffic: Traffic
) -> Cost:
    """A convolution in HF32 or FLOAT16 of so many padded multiply-adds at FLOAT16's rate.

    thin: a single C0 block of input channels, which fills the cube badly.
    """
    mac = products // (blocks * chip.cube_flops // 2)
    load = traffic.read * CUBE_LOAD[1] // (blocks * chip.core_bytes * CUBE_LOAD[0])
    fixpipe = traffic.written // (blocks * FIXPIPE_BYTES)
    return _cube_cost(chip, kind, blocks, (mac, load, fixpipe), traffic, 380 if thin else 1000)


def _cube_cost(
    chip: Chip,
    kind: Kind,
    blocks: int,
    cycles: tuple[int, int, int],
    traffic: Traffic,
    filled: int = 1000,
) -> Cost:
    mac, load, fixpipe = (_cycles(part, chip) for part in cycles)
    far = _far(chip, kind, traffic.cold, blocks * chip.core_hbm_bytes)
    spilled = traffic.written * SPILL[1] > chip.l2 * SPILL[0]
    back = _far(chip, kind, traffic.written, blocks * chip.core_bytes) if spilled else 0
    computing = mac * 1_000_000 // (kind.efficiency * filled)
    memory = far + back
    body = max(computing, load, fixpipe, memory)
    pipes = {
        "mac": mac,
        "mte1": min(body, mac * kind.mte1 // 1000),
        "mte2": max(min(body, max(load, far)), body * kind.mte2 // 1000),
        "fixpipe": max(min(body, max(fixpipe, back)), body * kind.fixpipe // 1000),
    }
    bound = 0 if body == memory else body
    return _cost(chip, kind, blocks, body, bound, pipes, traffic, spilled)


@dataclass(frozen=True, slots=True)
class Heads:
    """What fused attention computes: of each head ``queries`` rows of ``keys`` scores.

    width: elements of a head. causal: the queries are the last of the keys, and none looks at keys
    behind its own, which halves the scores among the queries.
    """

    batch: int
    count: int
    queries: int
    keys: int
    width: int
    causal: bool

    @property
    def scores(self) -> int:
        """Products of a query and a key."""
        seen = 2 * self.keys - (self.queries if self.causal else 0)
        return self.batch * self.count * self.queries * seen // 2


def attention_cost(
    chip: Chip, kind: Kind, heads: Heads, products: int, element: int, traffic: Traffic
) -> Cost:
    """Fused attention: multiply-adds of the cube, and scores for the vector units.

    products: multiply-adds. element: Byte of an operand's; FLOAT costs the cube four times as much
    as FLOAT16, and the vector units, which work in FLOAT, the same.
    """
    products *= 4 if element == 4 else 1
    scores, tiles = heads.scores, heads.batch * heads.count * -(-heads.queries // 128)
    blocks = max(1, min(chip.cube_cores, tiles))
    waves = -(-tiles // blocks)
    helpers = blocks * chip.vector_cores // chip.cube_cores
    share = waves * blocks * 1000 // max(1, tiles)
    mac = _cycles(products * share // (1000 * blocks * chip.cube_flops // 2), chip)
    vector = _cycles(scores * kind.vector * 4 * share // (1000 * helpers * _line(chip)), chip)
    far = _far(chip, kind, traffic.cold, blocks * chip.core_hbm_bytes * 2)
    near = _near(chip, kind, traffic.warm, blocks)
    body = max(max(mac, vector) * 1000 // kind.efficiency, far + near)
    pipes = {
        "mac": mac,
        "mte1": min(body, mac * kind.mte1 // 1000),
        "mte2": max(min(body, far + near), body * kind.mte2 // 1000),
        "fixpipe": min(body, mac * 3 // 10),
    }
    helping = {"vec": vector, "mte2": body * 3 // 10, "mte3": body * 2 // 10}
    bound = body - far if body == far + near else body
    return _cost(chip, kind, blocks, body, bound, pipes, traffic, False, (helpers, helping))


def unit_cost(kind: Kind, traffic: Traffic) -> Cost:
    """A kernel outside the AI cores (AI CPU, random numbers): no blocks and no counters."""
    moved = traffic.read + traffic.written
    duration = kind.head + moved // kind.rate
    return Cost(
        _ticks(duration * 1000),
        0,
        busy=0,
        clock_bound=0,
        read=traffic.read,
        written=traffic.written,
        loaded=traffic.read,
        stored=traffic.written,
    )


def _cost(
    chip: Chip,
    kind: Kind,
    blocks: int,
    body: int,
    bound: int,
    pipes: Mapping[str, int],
    traffic: Traffic,
    spilled: bool,
    mixed: tuple[int, Mapping[str, int]] = (0, {}),
) -> Cost:
    """Put start, head and body together. bound: ps of the body that follow the clock.

    mixed: blocks and pipes of the vector cores that work with cube cores.
    """
    clocked = (kind.head + kind.block * min(blocks, chip.vector_cores)) * 1000
    head = clocked * 1800 // chip.frequency
    start = (chip.start + chip.start_block * min(blocks, chip.vector_cores)) * 1000
    counted = head + body
    duration = _ticks(start + counted)
    scalar = (head * kind.scalar[0] + body * kind.scalar[1]) // 1000
    mix_blocks, mix_pipes = mixed
    if not chip.split:
        pipes = {**pipes, **mix_pipes, "mte2": max(pipes["mte2"], mix_pipes.get("mte2", 0))}
        pipes["mte3"] = max(pipes.get("mte3", 0), pipes.pop("fixpipe", 0))
        mix_blocks, mix_pipes = 0, {}

    def shares(lengths: Mapping[str, int]) -> dict[str, int]:
        return {
            pipe: min(WHOLE, length * WHOLE // counted)
            for pipe, length in {**lengths, "scalar": scalar}.items()
        }

    return Cost(
        duration=duration,
        blocks=blocks,
        busy=min(WHOLE, counted * WHOLE // (duration * 1000)),
        clock_bound=(head + bound) * 1000 // (start + counted),
        mix_blocks=mix_blocks,
        read=traffic.cold,
        written=traffic.written if spilled else traffic.written // WRITTEN_BACK,
        loaded=traffic.read,
        stored=traffic.written,
        pipes=shares(pipes),
        mix_pipes=shares(mix_pipes) if mix_blocks else {},
        rates={"icache_miss_rate": kind.icache * head // counted / 1000},
    )


def _line(chip: Chip) -> int:
    """Byte that a vector instruction works on."""
    return 2 * chip.vector_flops


def _cycles(cycles: int, chip: Chip) -> int:
    """ps of so many cycles at the nominal clock."""
    return cycles * 1_000_000 // chip.frequency


def _far(chip: Chip, kind: Kind, size: int, per_cycle: int) -> int:
    """ps for moving Byte from or to memory."""
    return _transfer(size, chip.hbm_bandwidth * kind.hbm // 1000, per_cycle, chip)


def _near(chip: Chip, kind: Kind, size: int, cores: int) -> int:
    """ps for moving Byte from or to L2."""
    return _transfer(size, chip.l2_bandwidth * kind.l2 // 1000, cores * chip.core_bytes, chip)


def _transfer(size: int, most: int, per_cycle: int, chip: Chip) -> int:
    """ps for moving Byte at ``most`` Byte per microsecond, or as fast as the cores can."""
    return size * 1_000_000 // max(1, min(most, per_cycle * chip.frequency))


def _ticks(picoseconds: int) -> int:
    """ns on the grid of the device's clock (50 MHz), rounded up."""
    return -(-picoseconds // 20_000) * 20
