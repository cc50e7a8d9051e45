"""Where a value stands in the evidence: ``docs/evidence`` and, where present, the seeds.

A value that is long and rare in its section has to stand there; any other in a line that also
names what it is a fact of, for ``0`` and ``ms`` stand everywhere. In a seed, whose tables put each
cell on a line of its own, every value has to stand within 30 lines of that name.

That a value stands there is a ground only where another one would not: :func:`proves` tries others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from seed_tables import SHARED

EVIDENCE = Path(__file__).parents[2] / "docs" / "evidence"
HEADING = re.compile(r"^#{2,4} (.*)")
NUMBER = re.compile(r"(\d+(?:\.\d+)*)\.? ")
# Keys of a path that name a part of a document's form and nothing that evidence speaks of.
STRUCTURE = frozenset(
    [
        "columns",
        "properties",
        "items",
        "events",
        "args",
        "$defs",
        "variants",
        "carriers",
        "metrics",
        "tables",
        "threads",
        "fields",
    ]
)
NEAR = 30
LONG = 5
RARE = 3
# Of the other values of a fact, how many may stand at the same place, and how many are tried.
DOUBT = 0.25
TRIED = 12

# What the evidence says in the line of a column of a value type.
WORDS: dict[str, tuple[str, ...]] = {
    "address": ("address", "streamPtr"),
    "apiTypeId": ("ENUM_API_TYPE.id",),
    "bareText": ("TEXT",),
    "byteCount": ("Byte", "B"),
    "bytesPerSecond": ("Byte/s",),
    "callchainId": ("PYTORCH_CALLCHAINS.id", "PYTORCH_API.callchainId"),
    "coreCount": ("cores",),
    "cycleCount": ("cycles",),
    "durationMs": ("ms",),
    "durationNs": ("ns",),
    "durationUs": ("us",),
    "elementCount": ("elements",),
    "flag": ("0/1", "0 slave stream, 1 master stream"),
    "frequencyMHz": ("MHz",),
    "gigabytesPerSecond": ("GB/s",),
    "globalTaskId": ("TASK.globalTaskId",),
    "globalTid": ("(PID << 32)",),
    "hcclDataTypeId": ("ENUM_HCCL_DATA_TYPE.id",),
    "hcclLinkTypeId": ("ENUM_HCCL_LINK_TYPE.id",),
    "hcclRdmaTypeId": ("ENUM_HCCL_RDMA_TYPE.id",),
    "hcclTransportTypeId": ("ENUM_HCCL_TRANSPORT_TYPE.id",),
    "kibibytes": ("KB",),
    "megabytes": ("MB",),
    "memcpyOperationId": ("ENUM_MEMCPY_OPERATION.id",),
    "moduleId": ("ENUM_MODULE.id",),
    "mstxEventTypeId": ("ENUM_MSTX_EVENT_TYPE.id",),
    "overlapAnalysisTypeId": ("ENUM_OVERLAP_ANALYSIS_TYPE.id",),
    "packetCount": ("packet", "frames"),
    "packetsPerSecond": ("packet/s",),
    "percent": ("%",),
    "stringId": ("STRING_IDS",),
    "timestampNs": ("ns",),
    "timestampText": ("ns",),
    "timestampUs": ("us",),
}


@cache
def sections(document: str) -> dict[str, list[str]]:
    """The lines of each section by its number or title; none of a seed that is absent."""
    if document.startswith("seed-"):
        found = sorted((SHARED / "seeds").glob(f"{document[5:]}_*.txt"))
        return {"": [line.lower() for line in _lines(found[0])]} if found else {}
    parts: dict[str, list[str]] = {}
    here: list[str] = []
    for line in _lines(EVIDENCE / f"{document}.md"):
        if title := HEADING.match(line):
            number = NUMBER.match(title[1])
            here = parts.setdefault(number[1] if number else re.sub(r"[`*]", "", title[1]), [])
        here.append(line.lower())
    return parts


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


@cache
def lines_with(document: str, section: str, value: str) -> frozenset[int]:
    """The numbers of the lines that hold a value as a whole word."""
    value = value.lower()
    whole = re.compile(rf"(?<![0-9a-z_]){re.escape(value)}(?![0-9a-z_])")
    lines = sections(document).get(section, [])
    return frozenset(
        number for number, line in enumerate(lines) if value in line and whole.search(line)
    )


def subjects(place: str) -> tuple[str, ...]:
    """What a place is about: the innermost names of its path, then the names of its document."""
    kind, *path = place.split("/")
    names = (
        path[:1]
        if kind in ("table", "enum", "csv", "layer")
        else [place.rsplit("/", maxsplit=1)[-1]]
    )
    inner = [
        part.split("@")[0]
        for part in reversed(path[1:] if kind in ("table", "enum", "csv", "layer") else path)
        if not part.isdigit() and part not in STRUCTURE
    ]
    return (*inner[:2], *(name for joined in names for name in joined.split("+")))


def stands(document: str, section: str, place: str, fact: str, value: Any) -> bool:
    """Whether every element of a fact's value stands in a section of the evidence."""
    about = subjects(place)
    elements: Sequence[Any] = value if isinstance(value, list) else [value]
    return bool(elements) and all(
        any(_stands(document, section, about, text) for text in _spelled(element))
        or (fact == "type" and _described(document, section, about, element))
        for element in elements
    )


def proves(
    document: str, section: str, place: str, fact: str, value: Any, others: list[Any]
) -> bool:
    """Whether a value stands in a section where few of the other values would.

    ``others`` are the values that the same fact has at other places. A value that is part of its
    place, a name, is held against misspellings: the names of its neighbours stand there as well.
    """
    if not stands(document, section, place, fact, value):
        return False
    if isinstance(value, str) and value in place.split("/"):
        others = [value + "s", value[:-1] + "_"]
    tried = others[:TRIED]
    doubtful = sum(stands(document, section, place, fact, other) for other in tried)
    return len(tried) > 1 and doubtful <= DOUBT * len(tried)


def pair_stands(document: str, section: str, one: Any, other: Any) -> bool:
    """Whether a number and its name stand side by side in a section, as in ``3 HCCL``."""
    return any(
        lines_with(document, section, f"{left}{between}{right}")
        for left, right in ((one, other), (other, one))
        for between in (" ", " | ", " = ", ": ")
    )


def _spelled(value: Any) -> Iterator[str]:
    """A value in the ways in which evidence writes it; a truth value is written in none."""
    if value is None or isinstance(value, bool):
        return
    yield str(value)
    if isinstance(value, int):
        yield f"0x{value:02x}"
        yield f"0x{value:x}"


def _stands(document: str, section: str, about: tuple[str, ...], text: str) -> bool:
    there = lines_with(document, section, text)
    if not there:
        return False
    if not document.startswith("seed-"):
        if len(text) >= LONG and len(there) <= RARE:
            return True
        return any(there & lines_with(document, section, name) for name in about)
    return any(
        abs(one - other) <= NEAR
        for name in about
        for other in lines_with(document, section, name)
        for one in there
    )


def _described(document: str, section: str, about: tuple[str, ...], kind: Any) -> bool:
    lines = lines_with(document, section, about[0]) if about else frozenset()
    return any(lines_with(document, section, word) & lines for word in WORDS.get(str(kind), ()))
