"""``visualize_data.bin`` at an epoch: block types, the JSON in them, packed records, values."""

from __future__ import annotations

from ascend_spec import Spec
from ascend_spec.bin import BlockType

from .element import Element
from .facts import own_facts, record_element, value_elements
from .json_nodes import json_elements


def blocks(spec: Spec, epoch: str) -> Element:
    """What files of an epoch consist of."""
    catalog = spec.bin
    children = [
        _block(spec, one, epoch)
        for one in catalog.blocks.values()
        if catalog.axis.in_force(one, epoch)
    ]
    children += [
        Element(
            "record",
            name,
            name,
            children=(record_element("record", name, name, declaration),),
            shown="packed bytes",
        )
        for name, declaration in catalog.records.items()
    ]
    children += value_elements(
        "values", catalog.enums, lambda one: catalog.axis.in_force(one, epoch)
    )
    return Element("epoch", epoch, "file", children=tuple(children))


def _block(spec: Spec, block: BlockType, epoch: str) -> Element:
    code = f"0x{block.code:02X}"
    places: tuple[Element, ...] = ()
    if spec.bin.has_schema(block.code):
        schema = spec.bin.payload_schema(block.code, epoch)
        places = json_elements("key", code, schema, part="")
    return Element(
        "block",
        code,
        code,
        facts=own_facts(block, without=("code", "name", "slug")),
        children=places,
        label=block.name,
        shown=block.name,
    )
