"""Block types, epochs and values of ``visualize_data.bin`` as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ascend_ref.markdown import PLAIN, Style, anchor, code, facts, page, table
from ascend_spec import Catalog, api_catalog, bin_catalog
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
from ascend_spec.bin.model import BinEnum, EnumMember
from ascend_spec.bin.records import RECORD_SIZE
from ascend_spec.core.dialect import Node
from ascend_spec.core.packed import FieldFacts, dtype_of

from .pages import citations, evidence, in_force, resolutions
from .schema_keys import keys, keys_table
from .subject import Subject, headed

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
RECORDS = {"trace-records": TRACE_RECORD, "cache-records": CACHE_RECORD}


def block_page(catalog: Catalog, bins: BinCatalog, block: BlockType, style: Style = PLAIN) -> str:
    """One block type: who writes and reads it, and what is in its payload at which epoch."""
    declaration = RECORDS.get(block.payload)
    return page(
        f"# {hexed(block.code)} {block.name}",
        style.prose(block.summary),
        facts(*_block_facts(catalog, bins, block, style)),
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
        FRAMING,
        "## Packed bytes",
        *(
            record_section(catalog, bins, name, style, level=3).rstrip("\n")
            for name in RECORD_FACTS
        ),
        "## Block types",
        table(("type", "name", "in force", "what it holds"), rows),
        "## Epochs",
        "No file names its own epoch; the checker recognises it by the form of the payloads.",
        *(epoch_section(catalog, one, style, level=3).rstrip("\n") for one in bins.epochs),
    )


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """Packed bytes: what they are, where they stand, their declaration if they have fields."""

    summary: str
    blocks: tuple[int, ...]
    size: int
    declaration: Any = None


RECORD_FACTS: Mapping[str, RecordFacts] = {
    "header": RecordFacts(FRAMING, (), HEADER_SIZE, HEADER),
    "path-section": RecordFacts(
        f"A path of at most {PATH_SECTION_SIZE - 1} bytes, a NUL, and zeros up to the fixed size; "
        "readers must expect a section without any NUL.",
        (PATH_TYPE,),
        PATH_SECTION_SIZE,
    ),
    "padding": RecordFacts(
        f"Zero bytes behind a payload, so that both together are a multiple of {ALIGNMENT}; the "
        "header's padding says how many.",
        (),
        ALIGNMENT - 1,
    ),
    "trace-record": RecordFacts("One event of the memories.", (0x0A,), RECORD_SIZE, TRACE_RECORD),
    "cache-record": RecordFacts(
        "The accesses to one cache set. A rate is a count over loadCount + storeCount: the hit "
        "rate is hit / (loadCount + storeCount).",
        (0x0B,),
        RECORD_SIZE,
        CACHE_RECORD,
    ),
}
"""What the containers of ``ascend_spec.bin`` declare, under the names that people look up."""


def record_section(
    catalog: Catalog, bins: BinCatalog, name: str, style: Style = PLAIN, level: int = 1
) -> str:
    """Packed bytes of the file: their size, their place and their fields."""
    record = RECORD_FACTS[name]
    cited = [one for one in bins.errata.values() if name in one.at]
    return page(
        f"{'#' * level} {name}",
        style.prose(record.summary),
        facts(
            ("Bytes", f"at most {record.size}" if name == "padding" else str(record.size)),
            ("In blocks", ", ".join(style.link("block", hexed(one)) for one in record.blocks)),
            ("Errata", ", ".join(style.link("erratum", one.id) for one in cited)),
        ),
        fields_table(record.declaration, style) if record.declaration is not None else "",
        resolutions(bins.errata, (one.id for one in cited), style) if level == 1 else "",
    )


def bin_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Block types, packed bytes, sets of values and epochs."""
    bins = bin_catalog()
    for block in bins.blocks.values():
        yield _block_subject(catalog, bins, block)
    for name, record in RECORD_FACTS.items():
        yield Subject(
            kind="record",
            name=name,
            summary=record.summary.partition(". ")[0].rstrip(".") + ".",
            page=f"blocks/index.md#{anchor(name)}",
            section=partial(record_section, catalog, bins, name),
            fact={"bytes": record.size, "blocks": [hexed(one) for one in record.blocks]},
            cells={"bytes": str(record.size), "blocks": ", ".join(map(hexed, record.blocks))},
        )
    yield from headed(
        "values",
        bins.enums,
        "blocks/values.md",
        partial(values_section, catalog),
        cells=lambda values: {"members": str(len(values.members))},
    )
    yield from headed(
        "epoch",
        {one.id: one for one in bins.epochs},
        "blocks/index.md",
        partial(epoch_section, catalog),
        cells=lambda epoch: {"from": epoch.date, "grade": epoch.grade},
    )


def _block_subject(catalog: Catalog, bins: BinCatalog, block: BlockType) -> Subject:
    return Subject(
        kind="block",
        name=hexed(block.code),
        summary=block.summary,
        page=f"blocks/{block.slug}.md",
        section=lambda style, _level: block_page(catalog, bins, block, style),
        fact=block,
        also=tuple(dict.fromkeys((block.name, block.slug))),
        cells={"name": block.name, "payload": block.payload, "since": block.since or ""},
    )


def epoch_section(catalog: Catalog, epoch: Epoch, style: Style = PLAIN, level: int = 1) -> str:
    """One state of the format."""
    signs = ", ".join(style.link("block", hexed(one)) for one in epoch.signs)
    return page(
        f"{'#' * level} {epoch.id}",
        style.prose(epoch.summary),
        facts(
            ("From", epoch.date),
            ("Recognised by", signs),
            ("Grade", epoch.grade),
            ("Source", citations(catalog, epoch.source, style)),
        ),
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
            ("Members", "closed" if enum.closed else "open: further values occur"),
            ("Source", citations(catalog, enum.source, style)),
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
    known = api_catalog().commands.values()
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
        ("Read by", style.links("command", _commands(block))),
        ("Needs", ", ".join(needs)),
        ("In force", in_force(block.since, None)),
        ("Experimental", "nobody is known to write or read it" if block.experimental else ""),
        *evidence(catalog, block, style),
    ]


def _written(bins: BinCatalog, block: BlockType, style: Style) -> Iterator[str]:
    for writer, how in block.written.items():
        count = sum(writer in other.written for other in bins.blocks.values())
        when = f": {style.prose(how.when).rstrip('.')}" if how.when else ""
        yield f"{writer} runs, {how.place + 1} of {count}{when}"


def _keys(bins: BinCatalog, block: int, style: Style) -> str:
    """Every place of the payload: what it held at the epochs that had it, the newest form first."""
    return keys_table(_states(bins, block), style)


def _states(bins: BinCatalog, block: int) -> dict[str, Node]:
    return {one.id: bins.payload_schema(block, one.id) for one in bins.epochs}


def key_section(
    bins: BinCatalog, block: BlockType, place: str, style: Style = PLAIN, level: int = 1
) -> str:
    """One place in the JSON of a block type."""
    found = next(one for one in keys(_states(bins, block.code), style) if one.place == place)
    cited = [found.node["erratum"]] if "erratum" in found.node else []
    return page(
        f"{'#' * level} {hexed(block.code)}{place}",
        found.meaning,
        facts(
            ("Block", style.link("block", hexed(block.code))),
            ("JSON", found.kind),
            ("Unit", found.unit),
        ),
        resolutions(bins.errata, cited, style),
    )


def key_subjects(_: Catalog) -> Iterator[Subject]:
    """The places in the JSON of every block type."""
    bins = bin_catalog()
    for block in bins.blocks.values():
        for one in keys(_states(bins, block.code)) if bins.has_schema(block.code) else ():
            yield Subject(
                kind="key",
                name=f"{hexed(block.code)}{one.place}",
                summary=one.meaning,
                page=f"blocks/{block.slug}.md#keys",
                section=partial(key_section, bins, block, one.place),
                fact=one.node,
                cells={"JSON": one.kind, "unit": one.unit},
            )


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
