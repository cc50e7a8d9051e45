"""Attention on mix blocks: scores and values on the cube, softmax and rescaling on the vectors."""

from __future__ import annotations

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .cube_part import CubePart, Load, Store
from .flags import CrossFlags
from .frame import Frame, run_scalar, scalar_code
from .geometry import ACCUMULATOR_BYTES, attention_geometry
from .model import VECTORS, Draft, Program
from .product import contiguous
from .recipes import recipe
from .tape import Tape, Transfer
from .vector_part import Hand, VectorPart

SLOTS = 2


class Attention:
    """The code of both kinds of cores, and the addresses of the tensors.

    Scores, probabilities and values lie in workspace, two of each per block; on ``near`` cores
    (950) they stay on the chip.
    """

    def __init__(self, scenario: KernelScenario, chip: KernelChip) -> None:
        """Add the kernel to the code, and its operands."""
        plan = self.plan = attention_geometry(scenario, chip)
        draft = self.draft = Draft.of(
            scenario,
            chip,
            tile_m=plan.queries,
            tile_n=plan.keys,
            k=plan.width,
            tiles=plan.tiles,
            steps=plan.steps,
        )
        code, tensor = draft.code, draft.tensor
        self.near, self.size = chip.family == "950", draft.size
        cross = self.cross = CrossFlags(draft)
        store: Store = "ub" if self.near else "gm"
        reads = "VECTOR" if self.near else "MTE2"
        self.frame, self.inner = Frame(code), scalar_code(code, "loop-k", 3)
        self.first = CubePart(draft, step=plan.width, store=store, prefix="s-")
        cross.set("scores", "FIXP", "s-cross-set")
        cross.wait("softmax", "MTE2", "cube-wait")
        self.second = CubePart(draft, step=plan.keys, store=store, prefix="v-")
        cross.set("values", "FIXP", "v-cross-set")
        self.frame.end(code, *self.first.flags, *self.second.flags)
        self.vector_frame = Frame(code, "vector-")
        cross.wait("scores", reads, "p-cross-wait")
        self.softmax, self.rescale = (
            VectorPart(draft, recipe(name, "float32"), inputs=int(not self.near), prefix=prefix)
            for name, prefix in (("scores", "p-"), ("rescale", "o-"))
        )
        cross.set("softmax", "MTE3", "p-cross-set")
        cross.wait("values", reads, "o-cross-wait")
        self.vector_frame.end(code, self.softmax.flags, self.rescale.flags)
        whole = plan.tiles // plan.tiles_per_head * plan.tokens * plan.width * self.size
        slots = plan.blocks * SLOTS * plan.queries
        self.query, self.key, self.value, self.output = (
            tensor(name, whole) for name in ("query", "key", "value", "output")
        )
        self.scores = tensor("scores", slots * plan.keys * ACCUMULATOR_BYTES)
        self.probabilities = tensor("probabilities", slots * plan.keys * self.size)
        self.values = tensor("values", slots * plan.width * ACCUMULATOR_BYTES)

    def program(self) -> Program:
        """The program of flash-attention."""
        vector = self.vector_frame
        frames = {"cube0": self.frame, "vector0": vector, "vector1": vector}
        return self.draft.program(frames, self._work, self.plan.blocks, self.plan.tiles)

    def _work(self, tape: Tape, tile: Integers, number: int) -> None:
        steps = self.plan.steps
        for step in range(steps + 1):
            tape.stage = number * (steps + 1) + step
            if step < steps:
                self._scores(tape, tile, step)
            if step:
                self._softmax(tape, step - 1)
                self._values(tape, tile, step - 1)
                self._rescale(tape, tile, step - 1)

    def _scores(self, tape: Tape, tile: Integers, step: int) -> None:
        """Queries times keys."""
        plan = self.plan
        row = plan.width * self.size
        query = contiguous_rows(self.query + tile * plan.queries * row, plan.queries, row)
        key = self._of_head(self.key, tile, step)
        self._product(
            tape,
            self.first,
            Load(query if step == 0 else None, key, plan.width),
            (plan.queries, plan.keys),
            self._slot(self.scores, tape, step, plan.keys * ACCUMULATOR_BYTES),
        )
        self.cross.give(tape, 0, VECTORS, "scores")

    def _values(self, tape: Tape, tile: Integers, step: int) -> None:
        """Probabilities times values."""
        plan, row = self.plan, self.plan.keys * self.size
        value = self._of_head(self.value, tile, step)
        probabilities = None
        if not self.near:
            start = self._slot(self.probabilities, tape, step, row)
            probabilities = contiguous_rows(start, plan.queries, row)
        self.cross.take(tape, 0, VECTORS, "softmax")
        self._product(
            tape,
            self.second,
            Load(probabilities, value, plan.keys),
            (plan.queries, plan.width),
            self._slot(self.values, tape, step, plan.width * ACCUMULATOR_BYTES),
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

    def _softmax(self, tape: Tape, step: int) -> None:
        plan, size = self.plan, self.size
        elements = plan.queries * plan.keys // len(VECTORS)
        for place, unit in enumerate(VECTORS):
            self.cross.take(tape, unit, (0,), "scores")
            start = self._slot(self.scores, tape, step, plan.keys * ACCUMULATOR_BYTES)
            target = self._slot(self.probabilities, tape, step, plan.keys * size)
            hand = (
                Hand(elements, (), None, elements * size)
                if self.near
                else Hand(
                    elements, _part(start, place, elements), self._out(target, place, elements)
                )
            )
            self.softmax.emit(tape, unit, hand)
            self.cross.give(tape, unit, (0,), "softmax")

    def _rescale(self, tape: Tape, tile: Integers, step: int) -> None:
        plan = self.plan
        elements = plan.queries * plan.width // len(VECTORS)
        for place, unit in enumerate(VECTORS):
            self.cross.take(tape, unit, (0,), "values")
            start = self._slot(self.values, tape, step, plan.width * ACCUMULATOR_BYTES)
            inputs = () if self.near else _part(start, place, elements)
            target = self.output + tile * plan.queries * plan.width * self.size
            last = step == plan.steps - 1
            output = self._out(target, place, elements) if last else None
            self.rescale.emit(tape, unit, Hand(elements, inputs, output))

    def _out(self, target: Integers, place: int, elements: int) -> Transfer:
        """What a vector core writes of a tile."""
        size = elements * self.size
        return contiguous(target + place * size, size, store=True, local="UB")

    def _slot(self, base: int, tape: Tape, step: int, row_bytes: int) -> Integers:
        return base + (tape.blocks * SLOTS + step % SLOTS) * self.plan.queries * row_bytes

    def _of_head(self, base: int, tile: Integers, step: int) -> Transfer:
        """The keys or values of a step."""
        plan, row = self.plan, self.plan.width * self.size
        place = (tile // plan.tiles_per_head * plan.tokens + step * plan.keys) * row
        return contiguous_rows(base + place, plan.keys, row)


def _part(start: Integers, place: int, elements: int) -> tuple[Transfer]:
    """What a vector core reads of a tile that the cube left."""
    size = elements * ACCUMULATOR_BYTES
    return (contiguous(start + place * size, size, store=False, local="UB"),)


def contiguous_rows(address: Integers, rows: int, row_bytes: int) -> Transfer:
    """Rows without gaps, loaded to L1."""
    return Transfer(address, rows, row_bytes, row_bytes, store=False, local="L1")
