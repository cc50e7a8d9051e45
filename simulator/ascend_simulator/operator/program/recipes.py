"""The recipes of vector operators, from ``recipes.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ascend_spec.core import packaged

RECIPES = "recipes.yaml"
REPEAT_BYTES = 256
MISC = "Misc"


@dataclass(frozen=True, slots=True)
class VectorInstruction:
    """cycles: of one repeat. sources, results: operands of a repeat. counter: of 0x07."""

    name: str
    cycles: int
    sources: int
    results: int
    counter: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one tile takes. inputs, temporaries: operands in the Unified Buffer, without the result.

    size: Byte of an element as it lies in memory; computed_size: as it is computed with.
    """

    inputs: int
    temporaries: int
    compute: tuple[VectorInstruction, ...]
    size: int
    computed_size: int

    @property
    def lanes(self) -> int:
        """Elements of one repeat."""
        return REPEAT_BYTES // self.computed_size

    def footprint(self, buffers: int) -> int:
        """Byte of the Unified Buffer for each element of a tile."""
        return (self.inputs + 1) * buffers * self.size + self.temporaries * self.computed_size


def element_bytes(data_type: str) -> int:
    """Byte of an element in memory."""
    size: int = packaged(__package__, RECIPES)["bytes"][data_type]
    return size


def c_type(data_type: str) -> str:
    """The type as the source spells it."""
    spelled = {"float16": "half", "bfloat16": "bfloat16_t", "float32": "float"}
    return spelled.get(data_type, f"{data_type}_t")


@cache
def recipe(name: str, data_type: str) -> Recipe:
    """The recipe of an operator on a type; types that no unit computes with are converted."""
    document = packaged(__package__, RECIPES)
    sheet = document["operators"][name]
    computed = document["computed_as"].get(data_type, data_type)
    compute = [_instruction(one, computed) for one in sheet["compute"]]
    if computed != data_type:
        convert = _instruction("VCONV", computed)
        compute = [*[convert] * sheet["inputs"], *compute, convert]
    return Recipe(
        inputs=sheet["inputs"],
        temporaries=sheet["temporaries"] + (computed != data_type),
        compute=tuple(compute),
        size=document["bytes"][data_type],
        computed_size=document["bytes"][computed],
    )


def _instruction(name: str, data_type: str) -> VectorInstruction:
    sheet: Mapping[str, Any] = packaged(__package__, RECIPES)["instructions"][name]
    counter = (
        packaged(__package__, RECIPES)["counters"][data_type]
        if sheet["counted"] == "type"
        else MISC
    )
    return VectorInstruction(
        name=name,
        cycles=sheet["cycles"],
        sources=sheet["sources"],
        results=sheet["results"],
        counter=counter,
    )
