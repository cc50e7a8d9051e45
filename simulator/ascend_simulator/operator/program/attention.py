"""Attention on mix blocks: scores and values on the cube, softmax and rescaling on the vectors."""

from __future__ import annotations

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .cross import CrossFlags
from .cube_part import ACCUMULATOR_BYTES, CubePart, Load, Store
from .frame import Ending, Frame, run_scalar, scalar_code
from .geometry import AttentionGeometry, attention_geometry
from .listing import Code
from .model import MIX_UNITS, Draft, Program
from .product import contiguous
from .recipes import c_type, element_bytes, recipe
from .source import source
from .tape import Tape, Transfer
from .vector_part import Hand, VectorPart

VECTORS = (1, 2)
SLOTS = 2


class _Attention:
    """The code of both kinds of cores, and the addresses of the tensors.

    Scores, probabilities and values lie in workspace, two of each per block; on ``near`` cores
    (950) they stay on the chip.
    """

    def __init__(self, draft: Draft, plan: AttentionGeometry) -> None:
        """Add the kernel to the code, and its operands to the memory."""
        code, tensor = draft.code, draft.memory.tensor
        self.plan, self.near = plan, draft.chip.family == "950"
        self.size = element_bytes(draft.scenario.operator.data_type)
        cross = self.cross = CrossFlags(draft)
        store: Store = "ub" if self.near else "gm"
        reads = "VECTOR" if self.near else "MTE2"
        self.frame, self.inner = Frame(code), scalar_code(code, "loop-k", 3)
        self.first = CubePart(draft, step=plan.width, store=store, prefix="s-")
        cross.set("scores", "FIXP", "s-cross-set")
        cross.wait("softmax", "MTE2", "cube-wait")
        self.second = CubePart(draft, step=plan.keys, store=store, prefix="v-")
        cross.set("values", "FIXP", "v-cross-set")
        self.ending, self.vector_frame = Ending(code), Frame(code, "vector-")
        cross.wait("scores", reads, "p-cross-wait")
        self.softmax, self.rescale = (
            VectorPart(draft, recipe(name, "float32"), inputs=int(not self.near), prefix=prefix)
            for name, prefix in (("scores", "p-"), ("rescale", "o-"))
        )
        cross.set("softmax", "MTE3", "p-cross-set")
        cross.wait("values", reads, "o-cross-wait")
        self.vector_ending = Ending(code)
        whole = plan.tiles // plan.tiles_per_head * plan.tokens * plan.width * self.size
        slots = plan.blocks * SLOTS * plan.queries
        self.query, self.key, self.value, self.output = (
            tensor(name, whole) for name in ("query", "key", "value", "output")
        )
        self.scores = tensor("scores", slots * plan.keys * ACCUMULATOR_BYTES)
        self.probabilities = tensor("probabilities", slots * plan.keys * self.size)
        self.values = tensor("values", slots * plan.width * ACCUMULATOR_BYTES)

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
        query = contiguous_rows(self.query + tile * plan.queries * row, plan.queries, row)
        place = (head * plan.tokens + step * plan.keys) * row
        key = contiguous_rows(self.key + place, plan.keys, row)
        self._product(
            tape,
            self.first,
            Load(query if step == 0 else None, key, plan.width),
            (plan.queries, plan.keys),
            self._slot(self.scores, blocks, step, plan.keys * ACCUMULATOR_BYTES),
        )
        self.cross.give(tape, 0, VECTORS, "scores")

    def _values(self, tape: Tape, blocks: Integers, tile: Integers, step: int) -> None:
        """Probabilities times values."""
        plan, size = self.plan, self.size
        row = plan.width * size
        head = tile // plan.tiles_per_head
        place = (head * plan.tokens + step * plan.keys) * row
        value = contiguous_rows(self.value + place, plan.keys, row)
        probabilities = None
        if not self.near:
            start = self._slot(self.probabilities, blocks, step, plan.keys * size)
            probabilities = contiguous_rows(start, plan.queries, plan.keys * size)
        self.cross.take(tape, 0, VECTORS, "softmax")
        self._product(
            tape,
            self.second,
            Load(probabilities, value, plan.keys),
            (plan.queries, plan.width),
            self._slot(self.values, blocks, step, plan.width * ACCUMULATOR_BYTES),
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
            start = self._slot(self.scores, blocks, step, plan.keys * ACCUMULATOR_BYTES)
            target = self._slot(self.probabilities, blocks, step, plan.keys * size)
            hand = (
                Hand(elements, (), None, elements * size)
                if self.near
                else Hand(
                    elements, _part(start, place, elements), self._out(target, place, elements)
                )
            )
            self.softmax.emit(tape, unit, hand)
            self.cross.give(tape, unit, (0,), "softmax")

    def _rescale(self, tape: Tape, blocks: Integers, tile: Integers, step: int) -> None:
        plan = self.plan
        elements = plan.queries * plan.width // len(VECTORS)
        for place, unit in enumerate(VECTORS):
            self.cross.take(tape, unit, (0,), "values")
            start = self._slot(self.values, blocks, step, plan.width * ACCUMULATOR_BYTES)
            inputs = () if self.near else _part(start, place, elements)
            target = self.output + tile * plan.queries * plan.width * self.size
            last = step == plan.steps - 1
            output = self._out(target, place, elements) if last else None
            self.rescale.emit(tape, unit, Hand(elements, inputs, output))

    def _out(self, target: Integers, place: int, elements: int) -> Transfer:
        """What a vector core writes of a tile."""
        size = elements * self.size
        return contiguous(target + place * size, size, store=True, local="UB")

    def _slot(self, base: int, blocks: Integers, step: int, row_bytes: int) -> Integers:
        return base + (blocks * SLOTS + step % SLOTS) * self.plan.queries * row_bytes


def _part(start: Integers, place: int, elements: int) -> tuple[Transfer]:
    """What a vector core reads of a tile that the cube left."""
    size = elements * ACCUMULATOR_BYTES
    return (contiguous(start + place * size, size, store=False, local="UB"),)


def contiguous_rows(address: Integers, rows: int, row_bytes: int) -> Transfer:
    """Rows without gaps, loaded to L1."""
    return Transfer(address, rows, row_bytes, row_bytes, store=False, local="L1")


def attention_program(scenario: KernelScenario, chip: KernelChip) -> Program:
    """The program of flash-attention."""
    plan = attention_geometry(scenario, chip)
    text = source(
        scenario.operator.kind,
        {
            "buffers": scenario.tiling.buffers,
            "tile_m": plan.queries,
            "tile_n": plan.keys,
            "k": plan.width,
            "tiles": plan.tiles,
            "steps": plan.steps,
            "type": c_type(scenario.operator.data_type),
        },
    )
    draft = Draft(scenario, chip, Code(text))
    whole, cores = _Attention(draft, plan), chip.cube_cores
    return draft.program(MIX_UNITS, cores, plan.blocks, plan.tiles, whole.tape)
