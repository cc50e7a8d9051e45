"""Block types, epochs and values of ``visualize_data.bin`` as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ascend_ref.markdown import PLAIN, Style, code, commas, page, sentences, table
from ascend_spec import api_catalog, bin_catalog
from ascend_spec.bin import (
    ALIGNMENT,
    CACHE_RECORD,
    HEADER,
    HEADER_SIZE,
    PATH_SECTION_SIZE,
    PATH_TYPE,
    TRACE_RECORD,
    BinCatalog,
    BlockType,
    Epoch,
)
from ascend_spec.bin.records import RECORD_SIZE
from ascend_spec.core.dialect import Node
from ascend_spec.core.packed import FieldFacts, dtype_of
from ascend_spec.core.values import SetMember, ValueSet

from .block_contents import contents
from .listing import index
from .pages import citations, evidence, hexed, in_force, resolutions
from .schema_keys import Key, keys, keys_table
from .subject import Subject, things

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
FRAMING = (
    "A plain concatenation of blocks, without a magic number at the start of the file. Each has a "
    f"header of {HEADER_SIZE} bytes, little-endian, and a payload whose padding brings it to a "
    f"multiple of {ALIGNMENT} bytes; type {PATH_TYPE:#04x} has a path section between them. "
    "contentSize counts payload and padding."
)


def block_page(block: BlockType, style: Style) -> str:
    """One block type: who writes and reads it, and what is in its payload at which epoch."""
    bins = bin_catalog()
    declaration = next((one.declaration for one in PACKED if block.code in one.blocks), None)
    has_keys = bins.has_schema(block.code)
    needs = (
        f"{style.link('block', hexed(one.block))} ({style.prose(one.why).rstrip('.')})"
        for one in block.requires
    )
    readers = api_catalog().commands.values()
    return style.page(
        f"{hexed(block.code)} {block.name}",
        block.summary,
        ("Payload", PAYLOAD[block.payload]),
        ("In the documents", block.document_names),
        ("In the exporter", code(block.exporter_name) if block.exporter_name else None),
        ("In the viewer", code(block.viewer_name) if block.viewer_name else None),
        ("Written by", "; ".join(_written(bins, block, style))),
        ("In one file", "any number" if block.many else "at most one"),
        ("Read", READ[block.read]),
        ("Read by", style.links("command", (r.name for r in readers if block.code in r.blocks))),
        ("Needs", needs),
        ("In force", in_force(block.since, None)),
        ("Experimental", "nobody is known to write or read it" if block.experimental else None),
        *evidence(block, style),
        *(("## Record", fields_table(declaration, style)) if declaration else ()),
        *(("## Keys", keys_table(_states(bins, block.code), style)) if has_keys else ()),
        *contents(block.code, style),
    )


def blocks_index(style: Style) -> str:
    """The framing, every block type, and the epochs."""
    inner = style.below(2)
    return page(
        "# visualize_data.bin",
        FRAMING,
        "## Packed bytes",
        *(_record_section(one, inner) for one in PACKED),
        "## Block types",
        index("block", style),
        "## Epochs",
        "No file names its own epoch; the checker recognises it by the form of the payloads.",
        *(epoch_section(one, inner) for one in bin_catalog().epochs),
    )


@dataclass(frozen=True, slots=True)
class PackedBytes:
    """Packed bytes: what they are, where they stand, their declaration if they have fields."""

    name: str
    summary: str
    size: int
    blocks: tuple[int, ...] = ()
    declaration: Any = None


PACKED = (
    PackedBytes("header", FRAMING, HEADER_SIZE, declaration=HEADER),
    PackedBytes(
        "path-section",
        f"A path of at most {PATH_SECTION_SIZE - 1} bytes, a NUL, and zeros up to the fixed size; "
        "readers must expect a section without any NUL.",
        PATH_SECTION_SIZE,
        (PATH_TYPE,),
    ),
    PackedBytes(
        "padding",
        f"Zero bytes behind a payload, so that both together are a multiple of {ALIGNMENT}; the "
        "header's padding says how many.",
        ALIGNMENT - 1,
    ),
    PackedBytes("trace-record", "One event of the memories.", RECORD_SIZE, (0x0A,), TRACE_RECORD),
    PackedBytes(
        "cache-record",
        "The accesses to one cache set. A rate is a count over loadCount + storeCount: the hit "
        "rate is hit / (loadCount + storeCount).",
        RECORD_SIZE,
        (0x0B,),
        CACHE_RECORD,
    ),
)
"""What the containers of ``ascend_spec.bin`` declare, under the names that people look up."""


def _record_section(record: PackedBytes, style: Style) -> str:
    """Packed bytes of the file: their size, their place and their fields."""
    errata = bin_catalog().errata
    cited = [one.id for one in errata.values() if record.name in one.at]
    return style.page(
        record.name,
        record.summary,
        ("Bytes", f"at most {record.size}" if record.name == "padding" else str(record.size)),
        ("In blocks", style.links("block", map(hexed, record.blocks))),
        ("Errata", style.links("erratum", cited)),
        fields_table(record.declaration, style) if record.declaration is not None else "",
        resolutions(errata, cited, style) if style.level == 1 else "",
    )


def bin_subjects() -> Iterator[Subject]:
    """Block types, packed bytes, sets of values and epochs."""
    bins = bin_catalog()
    yield from things(
        "block",
        {hexed(code): block for code, block in bins.blocks.items()},
        "blocks/{fact.slug}.md",
        block_page,
        also=lambda block: tuple(dict.fromkeys((block.name, block.slug))),
        cells=lambda block: {
            "name": block.name,
            "payload": block.payload,
            "since": block.since or "",
        },
    )
    yield from things(
        "record",
        {one.name: one for one in PACKED},
        "blocks/index.md#{anchor}",
        _record_section,
        summary=lambda record: record.summary.partition(". ")[0].rstrip(".") + ".",
        fact=lambda record: {"bytes": record.size, "blocks": [*map(hexed, record.blocks)]},
        cells=lambda record: {
            "bytes": str(record.size),
            "blocks": commas(map(hexed, record.blocks)),
        },
    )
    yield from things(
        "values",
        bins.enums,
        "blocks/values.md#{anchor}",
        values_section,
        cells=lambda values: {"members": str(len(values.members))},
    )
    yield from things(
        "epoch",
        {one.id: one for one in bins.epochs},
        "blocks/index.md#{anchor}",
        epoch_section,
        cells=lambda epoch: {"from": epoch.date, "grade": epoch.grade},
    )


def epoch_section(epoch: Epoch, style: Style) -> str:
    """One state of the format."""
    return style.page(
        epoch.id,
        epoch.summary,
        ("From", epoch.date),
        ("Recognised by", style.links("block", map(hexed, epoch.signs))),
        ("Grade", epoch.grade),
        ("Source", citations(epoch.source, style)),
    )


def values_section(enum: ValueSet, style: Style) -> str:
    """One set of values."""
    rows = [
        (code(one.value), one.name or "", style.prose(one.label), _member(one, style))
        for one in enum.members
    ]
    kept = [0, *(n for n in (1, 2, 3) if any(row[n] for row in rows))]
    headers = ("value", "name", "shown as", "remarks")
    return style.page(
        enum.name,
        enum.summary,
        ("Members", "closed" if enum.closed else "open: further values occur"),
        ("Source", citations(enum.source, style)),
        table([headers[n] for n in kept], ([row[n] for n in kept] for row in rows)),
    )


def bin_place(style: Style, place: str) -> str:
    """A place of an erratum, linked to the page of its block type where it has one."""
    block = place.partition("/")[0]
    return style.link("block", block, place) if place.startswith("0x") else code(place)


def fields_table(declaration: Any, style: Style) -> str:
    """The fields of a packed record with their offsets, from its construct declaration."""
    places: Mapping[str, Any] = dtype_of(declaration).fields or {}
    rows = []
    for part in declaration.subcons:
        dtype, offset, *_ = places[part.name]
        names: Mapping[str, int] = getattr(part.subcon, "encmapping", {})
        values = ", ".join(f"{number} {name}" for name, number in names.items())
        kind = f"{dtype.kind}{8 * dtype.itemsize}"
        known: FieldFacts = part.facts
        meaning = sentences(
            style.prose(known.summary),
            "" if known.grade == "documented" else known.grade,
            in_force(known.since, known.until),
            style.see(known.errata),
        )
        rows.append((str(offset), code(part.name), kind, values, known.unit or "", meaning))
    return table(("offset", "field", "type", "values", "unit", "meaning"), rows)


def _written(bins: BinCatalog, block: BlockType, style: Style) -> Iterator[str]:
    for writer, how in block.written.items():
        count = sum(writer in other.written for other in bins.blocks.values())
        when = f": {style.prose(how.when).rstrip('.')}" if how.when else ""
        yield f"{writer} runs, {how.place + 1} of {count}{when}"


def _states(bins: BinCatalog, block: int) -> dict[str, Node]:
    return {one.id: bins.payload_schema(block, one.id) for one in bins.epochs}


def key_subjects() -> Iterator[Subject]:
    """The places in the JSON of every block type."""
    bins = bin_catalog()
    for block in bins.blocks.values():
        if bins.has_schema(block.code):
            yield from things(
                "key",
                {f"{hexed(block.code)}{key.place}": key for key in keys(_states(bins, block.code))},
                f"blocks/{block.slug}.md#keys",
                partial(_key_section, hexed(block.code)),
                summary=lambda key: key.meaning(PLAIN),
                fact=lambda key: key.node,
                cells=lambda key: {"JSON": key.kind, "unit": key.unit},
            )


def _key_section(block: str, key: Key, style: Style) -> str:
    """One place in the JSON of a block type."""
    cited = [key.node["erratum"]] if "erratum" in key.node else []
    return page(
        style.heading(f"{block}{key.place}"),
        key.meaning(style),
        ("Block", style.link("block", block)),
        ("JSON", key.kind),
        ("Unit", key.unit),
        resolutions(bin_catalog().errata, cited, style),
    )


def _member(member: SetMember, style: Style) -> str:
    lane = "" if member.order is None else f"Lane {member.order}, colour {code(member.colour)}"
    return sentences(
        style.prose(member.summary),
        "" if member.alias_of is None else f"Old name of {code(member.alias_of)}",
        lane,
        _calls(member.calls),
        f"On {commas(member.chips)}" if member.chips else "",
        in_force(member.since, member.until),
        style.see(filter(None, [member.erratum])),
    )


def _calls(names: str | None) -> str:
    """Which calls are of a kind, by how their names begin."""
    if names is None:
        return ""
    return f"Calls whose names begin with {code(names)}" if names else "All other calls"
