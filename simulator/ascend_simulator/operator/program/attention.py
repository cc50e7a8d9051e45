"""Attention on mix blocks: scores and values on the cube, softmax and rescaling on the vectors."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .cross import CrossFlags
from .cube_part import ACCUMULATOR_BYTES, CubePart, Load, Store
from .frame import Ending, Frame, run_scalar, scalar_code
from .geometry import AttentionGeometry, attention_geometry
from .listing import Code, Instruction
from .model import MIX_UNITS, GlobalMemory, Program, by_count, divide
from .product import contiguous
from .recipes import c_type, element_bytes, recipe
from .source import source
from .tape import Tape, Transfer
from .vector_part import Hand, VectorPart

VECTORS = (1, 2)
SLOTS = 2


@dataclass(frozen=True, slots=True)
class _Tensors:
    """Addresses; scores, probabilities and values lie in workspace, two of each per block."""

    query: int
    key: int
    value: int
    output: int
    scores: int
    probabilities: int
    values: int


@dataclass(frozen=True, slots=True)
class _Attention:
    plan: AttentionGeometry
    near: bool
    size: int
    frame: Frame
    inner: list[Instruction]
    first: CubePart
    second: CubePart
    ending: Ending
    vector_frame: Frame
    softmax: VectorPart
    rescale: VectorPart
    vector_ending: Ending
    cross: CrossFlags
    at: _Tensors

    def tape(self, blocks: Integers, starts: Integers, count: int) -> Tape:
        """What the blocks execute that have so many tiles of queries."""
        tape = Tape(blocks)
        for _ in MIX_UNITS:
            tape.unit()
        self.frame.begin(tape, 0)
        for unit in VECTORS:
            self.vector_frame.begin(tape, unit)
        steps = self.plan.steps
        for number in range(count):
            tile = starts + number
            self.frame.round(tape, 0)
            for unit in VECTORS:
                self.vector_frame.round(tape, unit)
            for step in range(steps + 1):
                tape.stage = number * (steps + 1) + step
                if step < steps:
                    self._scores(tape, blocks, tile, step)
                if step:
                    self._softmax(tape, blocks, step - 1)
                    self._values(tape, blocks, tile, step - 1)
                    self._rescale(tape, blocks, tile, step - 1)
        for part in (self.first, self.second):
            part.drain(tape, 0)
        self.ending.run(tape, 0)
        for unit in VECTORS:
            self.softmax.drain(tape, unit)
            self.rescale.drain(tape, unit)
            self.vector_ending.run(tape, unit)
        return tape

    def _scores(self, tape: Tape, blocks: Integers, tile: Integers, step: int) -> None:
        """Queries times keys."""
        plan, size = self.plan, self.size
        row = plan.width * size
        head = tile // plan.tiles_per_head
        query = contiguous_rows(self.at.query + tile * plan.queries * row, plan.queries, row)
        place = (head * plan.tokens + step * plan.keys) * row
        key = contiguous_rows(self.at.key + place, plan.keys, row)
        self._product(
            tape,
            self.first,
            Load(query if step == 0 else None, key, plan.width),
            (plan.queries, plan.keys),
            self._slot(self.at.scores, blocks, step, plan.keys * ACCUMULATOR_BYTES),
        )
        self.cross.give(tape, 0, VECTORS, "scores")

    def _values(self, tape: Tape, blocks: Integers, tile: Integers, step: int) -> None:
        """Probabilities times values."""
        plan, size = self.plan, self.size
        row = plan.width * size
        head = tile // plan.tiles_per_head
        place = (head * plan.tokens + step * plan.keys) * row
        value = contiguous_rows(self.at.value + place, plan.keys, row)
        probabilities = None
        if not self.near:
            start = self._slot(self.at.probabilities, blocks, step, plan.keys * size)
            probabilities = contiguous_rows(start, plan.queries, plan.keys * size)
        self.cross.take(tape, 0, VECTORS, "softmax")
        self._product(
            tape,
            self.second,
            Load(probabilities, value, plan.keys),
            (plan.queries, plan.width),
            self._slot(self.at.values, blocks, step, plan.width * ACCUMULATOR_BYTES),
        )
        self.cross.give(tape, 0, VECTORS, "values")

    def _product(
        self, tape: Tape, part: CubePart, load: Load, tile: tuple[int, int], slot: Integers
    ) -> None:
        m, n = tile
        run_scalar(tape, 0, self.inner)
        part.begin(tape, 0)
        part.accumulate(tape, 0, load, m, n, first=True)
        size = m * n * ACCUMULATOR_BYTES
        output = None if self.near else contiguous(slot, size, store=True, local="L0C")
        part.finish(tape, 0, size, output)

    def _softmax(self, tape: Tape, blocks: Integers, step: int) -> None:
        plan, size = self.plan, self.size
        elements = plan.queries * plan.keys // len(VECTORS)
        for place, unit in enumerate(VECTORS):
            self.cross.take(tape, unit, (0,), "scores")
            start = self._slot(self.at.scores, blocks, step, plan.keys * ACCUMULATOR_BYTES)
            source = contiguous(
                start + place * elements * ACCUMULATOR_BYTES,
                elements * ACCUMULATOR_BYTES,
                store=False,
                local="UB",
            )
            target = self._slot(self.at.probabilities, blocks, step, plan.keys * size)
            output = contiguous(
                target + place * elements * size, elements * size, store=True, local="UB"
            )
            hand = (
                Hand(elements, (), None, elements * size)
                if self.near
                else Hand(elements, (source,), output)
            )
            self.softmax.emit(tape, unit, hand)
            self.cross.give(tape, unit, (0,), "softmax")

    def _rescale(self, tape: Tape, blocks: Integers, tile: Integers, step: int) -> None:
        plan = self.plan
        elements = plan.queries * plan.width // len(VECTORS)
        for place, unit in enumerate(VECTORS):
            self.cross.take(tape, unit, (0,), "values")
            start = self._slot(self.at.values, blocks, step, plan.width * ACCUMULATOR_BYTES)
            source = contiguous(
                start + place * elements * ACCUMULATOR_BYTES,
                elements * ACCUMULATOR_BYTES,
                store=False,
                local="UB",
            )
            number = tile * plan.queries * plan.width + place * elements
            output = contiguous(
                self.at.output + number * self.size, elements * self.size, store=True, local="UB"
            )
            self.rescale.emit(
                tape,
                unit,
                Hand(
                    elements,
                    () if self.near else (source,),
                    output if step == plan.steps - 1 else None,
                ),
            )

    def _slot(self, base: int, blocks: Integers, step: int, row_bytes: int) -> Integers:
        return base + (blocks * SLOTS + step % SLOTS) * self.plan.queries * row_bytes


def contiguous_rows(address: Integers, rows: int, row_bytes: int) -> Transfer:
    """Rows without gaps, loaded to L1."""
    return Transfer(address, rows, row_bytes, row_bytes, store=False, local="L1")


def attention_program(scenario: KernelScenario, chip: KernelChip) -> Program:
    """The program of flash-attention."""
    plan = attention_geometry(scenario, chip)
    data_type, near = scenario.operator.data_type, chip.family == "950"
    size, buffers = element_bytes(data_type), scenario.tiling.buffers
    text = source(
        scenario.operator.kind,
        {
            "buffers": buffers,
            "tile_m": plan.queries,
            "tile_n": plan.keys,
            "k": plan.width,
            "tiles": plan.tiles,
            "steps": plan.steps,
            "type": c_type(data_type),
        },
    )
    code, memory = Code(text), GlobalMemory()
    cross, store = CrossFlags(code, chip), "ub" if near else "gm"
    frame, inner = Frame.of(code), scalar_code(code, "loop-k", 3)
    parts = []
    for prefix, name, step in (("s-", "scores", plan.width), ("v-", "values", plan.keys)):
        if name == "values":
            cross.wait("softmax", "MTE2", "cube-wait")
        parts.append(_cube_part(code, chip, size, step, buffers, store, prefix))
        cross.set(name, "FIXP", f"{prefix}cross-set")
    ending, vector_frame = Ending.of(code), Frame.of(code, "vector-")
    cross.wait("scores", "VECTOR" if near else "MTE2", "p-cross-wait")
    conflicts = scenario.conditions.bank_conflicts
    softmax, rescale = (
        VectorPart(
            code,
            chip,
            recipe(name, "float32"),
            buffers=buffers,
            bank_conflicts=conflicts,
            inputs=int(not near),
            prefix=prefix,
        )
        for name, prefix in (("scores", "p-"), ("rescale", "o-"))
    )
    cross.set("softmax", "MTE3", "p-cross-set")
    cross.wait("values", "VECTOR" if near else "MTE2", "o-cross-wait")
    heads = plan.tiles // plan.tiles_per_head
    whole = heads * plan.tokens * plan.width * size
    slots = plan.blocks * SLOTS * plan.queries
    tensors = _Tensors(
        query=memory.tensor("query", whole),
        key=memory.tensor("key", whole),
        value=memory.tensor("value", whole),
        output=memory.tensor("output", whole),
        scores=memory.tensor("scores", slots * plan.keys * ACCUMULATOR_BYTES),
        probabilities=memory.tensor("probabilities", slots * plan.keys * size),
        values=memory.tensor("values", slots * plan.width * ACCUMULATOR_BYTES),
    )
    attention = _Attention(
        plan=plan,
        near=near,
        size=size,
        frame=frame,
        inner=inner,
        first=parts[0],
        second=parts[1],
        ending=ending,
        vector_frame=vector_frame,
        softmax=softmax,
        rescale=rescale,
        vector_ending=Ending.of(code),
        cross=cross,
        at=tensors,
    )
    starts, counts = divide(plan.tiles, plan.blocks, scenario.conditions.imbalance)
    return Program(
        chip=chip,
        op_type="mix",
        units=MIX_UNITS,
        block_dim=plan.blocks,
        cores=chip.cube_cores,
        kernel="flash_attention_custom",
        code=code,
        tapes=tuple(
            attention.tape(blocks, starts[blocks], count) for count, blocks in by_count(counts)
        ),
        tensors=tuple(memory.tensors),
    )


def _cube_part(
    code: Code, chip: KernelChip, size: int, step: int, buffers: int, store: str, prefix: str
) -> CubePart:
    kind: Store = "ub" if store == "ub" else "gm"
    return CubePart(code, chip, size=size, step=step, buffers=buffers, store=kind, prefix=prefix)
