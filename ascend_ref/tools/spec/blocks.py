"""Block types, epochs and values of ``visualize_data.bin`` as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ascend_spec import Catalog
from ascend_spec.api import insight_catalog
from ascend_spec.bin import (
    CACHE_RECORD,
    HEADER,
    PATH_SECTION_SIZE,
    TRACE_RECORD,
    BinCatalog,
    BlockType,
    Epoch,
)
from ascend_spec.bin.model import BinEnum, EnumMember
from ascend_spec.core.dialect import Node, walk
from ascend_spec.core.packed import FieldFacts, dtype_of
from ascend_spec.core.pointer import escaped

from .pages import citations, in_force
from .style import PLAIN, Style, code, facts, page, table

PAYLOAD = {
    "none": "",
    "source": f"path section of {PATH_SECTION_SIZE} bytes, then the text of the file",
    "json": "JSON",
    "trace-records": "packed records, then JSON",
    "cache-records": "packed records",
}
READ = {
    "never": "never",
    "first": "the first block of the type",
    "all": "every block of the type",
    "last-of-a-path": "of each path the last block",
}
RECORDS = {"trace-records": TRACE_RECORD, "cache-records": CACHE_RECORD}
MANY_VALUES = 16


def block_page(catalog: Catalog, bins: BinCatalog, block: BlockType, style: Style = PLAIN) -> str:
    """One block type: who writes and reads it, and what is in its payload at which epoch."""
    declaration = RECORDS.get(block.payload)
    return page(
        f"# {hexed(block.code)} {block.name}",
        style.prose(block.summary),
        facts(_block_facts(catalog, bins, block, style)),
        *(("## Record", fields_table(declaration, style)) if declaration else ()),
        *(("## Keys", _keys(bins, block.code, style)) if bins.has_schema(block.code) else ()),
    )


def blocks_index(catalog: Catalog, bins: BinCatalog, style: Style = PLAIN) -> str:
    """The framing, every block type, and the epochs."""
    rows = (
        (
            style.link("block", hexed(block.code)),
            block.name,
            in_force(block.since, None),
            style.prose(block.summary),
        )
        for block in bins.blocks.values()
    )
    return page(
        "# visualize_data.bin",
        "A plain concatenation of blocks. Each has a header, little-endian, and a payload whose "
        "padding brings it to a multiple of 4 bytes; type 0x01 has a path section between them. "
        "Sizes count payload and padding.",
        fields_table(HEADER, style),
        table(("type", "name", "in force", "what it holds"), rows),
        "## Epochs",
        "No file names its own epoch; the checker tells it by the form of the payloads.",
        *(epoch_section(catalog, one, style, level=3).rstrip("\n") for one in bins.epochs),
    )


def epoch_section(catalog: Catalog, epoch: Epoch, style: Style = PLAIN, level: int = 1) -> str:
    """One state of the format."""
    signs = ", ".join(style.link("block", hexed(one)) for one in epoch.signs)
    return page(
        f"{'#' * level} {epoch.id}",
        style.prose(epoch.summary),
        facts(
            (
                ("From", epoch.date),
                ("Told by", signs),
                ("Grade", epoch.grade),
                ("Source", citations(catalog, epoch.source, style)),
            )
        ),
    )


def values_page(
    catalog: Catalog, enums: Iterable[BinEnum], style: Style = PLAIN, level: int = 1
) -> str:
    """Sets of values, each as a section."""
    return page(
        f"{'#' * level} Values in visualize_data.bin",
        *(values_section(catalog, one, style, level + 1).rstrip("\n") for one in enums),
    )


def values_section(catalog: Catalog, enum: BinEnum, style: Style = PLAIN, level: int = 1) -> str:
    """One set of values."""
    rows = [
        (code(one.value), one.name or "", style.prose(one.label or ""), _member(one, style))
        for one in enum.members
    ]
    kept = [0, *(n for n in (1, 2, 3) if any(row[n] for row in rows))]
    headers = ("value", "name", "shown as", "remarks")
    return page(
        f"{'#' * level} {enum.name}",
        style.prose(enum.summary),
        facts(
            (
                ("Members", "closed" if enum.closed else "open: further values occur"),
                ("Source", citations(catalog, enum.source, style)),
            )
        ),
        table([headers[n] for n in kept], ([row[n] for n in kept] for row in rows)),
    )


def bin_place(style: Style, place: str) -> str:
    """A place of an erratum, linked to the page of its block type where it has one."""
    block = place.partition("/")[0]
    return style.link("block", block, place) if place.startswith("0x") else code(place)


def hexed(block: int) -> str:
    """A code as documents write it: ``0x08``."""
    return f"0x{block:02X}"


def fields_table(declaration: Any, style: Style = PLAIN) -> str:
    """The fields of a packed record with their offsets, from its construct declaration."""
    places: Mapping[str, Any] = dtype_of(declaration).fields or {}
    rows = []
    for part in declaration.subcons:
        dtype, offset, *_ = places[part.name]
        names: Mapping[str, int] = getattr(part.subcon, "encmapping", {})
        values = ", ".join(f"{number} {name}" for name, number in names.items())
        kind = f"{dtype.kind}{8 * dtype.itemsize}"
        meaning = _meaning(part.facts, style)
        rows.append((str(offset), code(part.name), kind, values, part.facts.unit or "", meaning))
    return table(("offset", "field", "type", "values", "unit", "meaning"), rows)


def _meaning(known: FieldFacts, style: Style) -> str:
    """What a field is, when it is there, and what is doubtful about it."""
    remarks = (
        style.prose(known.summary).rstrip("."),
        "" if known.grade == "documented" else known.grade.capitalize(),
        in_force(known.since, known.until),
        f"See {', '.join(style.link('erratum', one) for one in known.errata)}"
        if known.errata
        else "",
    )
    return f"{'. '.join(remark for remark in remarks if remark)}."


def _commands(block: BlockType) -> list[str]:
    """The viewer's commands that answer from a block type."""
    known = insight_catalog().commands.values()
    return [command.name for command in known if block.code in command.blocks]


def _block_facts(
    catalog: Catalog, bins: BinCatalog, block: BlockType, style: Style
) -> list[tuple[str, str]]:
    needs = (
        f"{style.link('block', hexed(one.block))} ({style.prose(one.why).rstrip('.')})"
        for one in block.requires
    )
    return [
        ("Payload", PAYLOAD[block.payload]),
        ("In the documents", ", ".join(block.document_names)),
        ("In the exporter", code(block.exporter_name) if block.exporter_name else ""),
        ("In the viewer", code(block.viewer_name) if block.viewer_name else ""),
        ("Written by", "; ".join(_written(bins, block, style))),
        ("In one file", "any number" if block.many else "at most one"),
        ("Read", READ[block.read]),
        ("Read by", ", ".join(map(code, _commands(block)))),
        ("Needs", ", ".join(needs)),
        ("In force", in_force(block.since, None)),
        ("Experimental", "nobody is known to write or read it" if block.experimental else ""),
        ("Grade", block.grade),
        ("Source", citations(catalog, block.source, style)),
        ("Errata", ", ".join(style.link("erratum", one) for one in block.errata)),
    ]


def _written(bins: BinCatalog, block: BlockType, style: Style) -> Iterator[str]:
    for writer, how in block.written.items():
        count = sum(writer in other.written for other in bins.blocks.values())
        when = f": {style.prose(how.when).rstrip('.')}" if how.when else ""
        yield f"{writer} runs, {how.place + 1} of {count}{when}"


def _keys(bins: BinCatalog, block: int, style: Style) -> str:
    """Every place of the payload: what it held at the epochs that had it, the newest form first."""
    states: dict[str, dict[str, Node]] = {}
    for epoch in reversed(bins.epochs):
        for place, node in walk(bins.payload_schema(block, epoch.id)):
            if place and "description" in node:
                states.setdefault(place, {}).setdefault(epoch.id, node)
    order = [epoch.id for epoch in bins.epochs]
    newest = bins.payload_schema(block, order[-1])
    always, sometimes = _required(newest, always=True), _required(newest, always=False)
    rows = []
    for place, held in states.items():
        node = next(iter(held.values()))
        needed = "Required" if place in always else "Sometimes required"
        errata = [one for one in (node.get("erratum"), sometimes.get(place)) if one]
        remarks = (
            style.prose(node["description"]).rstrip("."),
            _values(node),
            needed if place in sometimes else "",
            _bounds(held, order),
            f"See {', '.join(style.link('erratum', one) for one in errata)}" if errata else "",
        )
        meaning = ". ".join(remark[0].upper() + remark[1:] for remark in remarks if remark)
        rows.append((code(place), _kind(node), str(node.get("unit", "")), f"{meaning}."))
    return table(("place", "JSON", "unit", "meaning"), rows)


def _bounds(held: Mapping[str, Node], order: list[str]) -> str:
    """The epochs that know a place, which follow each other."""
    first = min(order.index(one) for one in held)
    last = max(order.index(one) for one in held)
    since = order[first] if first else None
    until = order[last + 1] if last + 1 < len(order) else None
    return in_force(since, until)


def _kind(node: Node) -> str:
    kinds = node.get("type", "")
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _required(schema: Node, always: bool) -> dict[str, str | None]:
    """Places of the keys that must be there, always or under some condition too, with the erratum
    about their absence.
    """
    found: dict[str, str | None] = {}
    for place, node in walk(schema, conditions=not always):
        for key in node.get("required", ()):
            erratum = None if "properties" in node else node.get("erratum")
            found.setdefault(f"{place}/{escaped(key)}", erratum)
    return found


def _values(node: Node) -> str:
    """The values of a short list; a number that may be text is named once."""
    values = node.get("enum", [node["const"]] if "const" in node else [])
    texts = {str(one) for one in values if isinstance(one, int)}
    once = [one for one in values if one not in texts]
    return f"one of {', '.join(map(code, once))}" if 0 < len(once) <= MANY_VALUES else ""


def _member(member: EnumMember, style: Style) -> str:
    remarks = [style.prose(member.summary).rstrip(".")]
    if member.alias_of is not None:
        remarks.append(f"Old name of {code(member.alias_of)}")
    if member.order is not None:
        remarks.append(f"Lane {member.order}, colour {code(member.colour)}")
    if member.chips:
        remarks.append(f"On {', '.join(member.chips)}")
    remarks.append(in_force(member.since, member.until))
    if member.erratum:
        remarks.append(f"See {style.link('erratum', member.erratum)}")
    return ". ".join(remark for remark in remarks if remark)
