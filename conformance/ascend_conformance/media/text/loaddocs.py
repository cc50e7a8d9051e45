"""From JSON documents to the schema ``doc`` of the facts, and what their schemas say of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ascend_ref.bin import MalformedPayload, parse
from ascend_ref.json_damage import Damage, find_damage, wide_text
from ascend_ref.json_keys import ObjectReader
from ascend_ref.timeline.elements import BYTE_ORDER_MARK
from ascend_spec import document_catalog, per_spec
from ascend_spec.core.pointer import escaped, pointer_of

from ...engine.json_values import shown
from ...engine.schema_judge import Group, Groups, SchemaJudge, Tokens
from .database import Facts
from .deliverables import Deliverable

MAX_BYTES = 256 << 20
"""Bytes of a document that are read."""

DOUBLED = "doubled"
"""What stands for a keyword where a key is doubled."""

MAX_ERRORS = 10_000
"""Errors of one document that are counted."""

TOTAL = "Total Op Info"

TIMES: Mapping[str, str] = {
    "start_us": "Start Timestamp(us)",
    "elapse_ms": "Elapse Time(ms)",
    "transit_ms": "Transit Time(ms)",
    "wait_ms": "Wait Time(ms)",
    "synchronization_ms": "Synchronization Time(ms)",
    "idle_ms": "Idle Time(ms)",
    "wait_ratio": "Wait Time Ratio",
    "synchronization_ratio": "Synchronization Time Ratio",
}
LINK: Mapping[str, str] = {
    "size_mb": "Transit Size(MB)",
    "time_ms": "Transit Time(ms)",
    "bandwidth": "Bandwidth(GB/s)",
}
LARGE, TRANSPORT, NAMED = "Large Packet Ratio", "Transport Type", "Op Name"
NAMED_BY_MINDSPORE = "op_name"

KEYS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "doc.operator": {column: ("Communication Time Info", key) for column, key in TIMES.items()},
    "doc.link": {column: (key,) for column, key in {**LINK, "large_ratio": LARGE}.items()},
    "doc.packet": {"number": ("0",), "time_ms": ("1",)},
    "doc.matrix": {
        column: (key,)
        for column, key in {**LINK, "transport": TRANSPORT, "operator": NAMED}.items()
    },
}
"""Where the values of columns stand below the pointers of their rows, by table."""

_MATRIX_NAME = re.compile(r"(?P<kind>.*)-(?P<place>[a-z]+[0-9]*)@(?P<group>.*)", re.DOTALL)
_LINK_NAME = re.compile(r"(?P<source>[0-9]{1,18})-(?P<target>[0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Document:
    """One document: its text and value, or what is wrong with the text.

    ``doubled`` leads to the keys that an object has more than once.
    """

    content: bytes
    value: Any = None
    damage: Damage | None = None
    marked: bool = False
    doubled: tuple[Tokens, ...] = ()


def load_document(facts: Facts, number: int, file: Deliverable) -> Document:
    """Read one document and flatten it. Raises ``OSError``."""
    with file.path.open("rb") as source:
        content = source.read(MAX_BYTES + 1)
    marked = content.startswith(BYTE_ORDER_MARK)
    text = b"   " + content[len(BYTE_ORDER_MARK) :] if marked else content
    if len(content) > MAX_BYTES:
        return Document(b"", damage=Damage(0, f"more than {MAX_BYTES:,} bytes"), marked=marked)
    reader = ObjectReader()
    try:
        value = parse(text, reader)
    except MalformedPayload as problem:
        damage = wide_text(content) or find_damage(text) or Damage(problem.offset, problem.reason)
        return Document(text, damage=damage, marked=marked)
    _flatten(facts, number, file.name, value)
    doubled = tuple(islice(reader.doubled_keys(value), MAX_ERRORS))
    return Document(text, value, marked=marked, doubled=doubled)


def document_faults(name: str, writer: str, value: Any) -> Groups:
    """Where the value of a document departs from what its writer writes."""
    return _judge(name, writer).groups(value, MAX_ERRORS)


def doubled_faults(document: Document) -> list[Group]:
    """Keys that stand more than once in one object of a document, all of them as one group."""
    doubled = document.doubled
    return [
        Group("", DOUBLED, first, shown(first[-1]), "each key once", count=len(doubled))
        for first in doubled[:1]
    ]


@per_spec
def _judge(name: str, writer: str) -> SchemaJudge:
    return SchemaJudge(document_catalog().schema_of(name, writer))


def pointer_below(table: str, column: str | None) -> str:
    """How a pointer goes on from a row of a table to the value that a column shows."""
    keys = KEYS.get(table, {}).get(column or "", ())
    return pointer_of(keys)


def key_of(table: str, column: str) -> str:
    """What users call a column of ``doc``: the key of its values, if they have one."""
    keys = KEYS.get(table, {}).get(column, ())
    return keys[-1] if keys and not keys[-1].isdigit() else column


def _flatten(facts: Facts, number: int, name: str, value: Any) -> None:
    if name == "communication":
        _add_communication(facts, number, value)
    elif name == "communication_matrix":
        rows = [(number, row, *one) for row, one in enumerate(_links_of_matrix(value))]
        facts.add("doc.matrix", rows)
    else:
        found = enumerate(_scalars(value, ""))
        facts.add("doc.member", [(number, row, *one) for row, one in found])


def _add_communication(facts: Facts, number: int, value: Any) -> None:
    operators: list[tuple[Any, ...]] = []
    links: list[tuple[Any, ...]] = []
    packets: list[tuple[Any, ...]] = []
    for pointer, step, kind, name, one in _operators(value):
        base, _, group = name.rpartition("@")
        times = _object(_object(one).get("Communication Time Info"))
        is_total = name == TOTAL
        operators.append(
            (
                number,
                len(operators),
                pointer,
                step,
                kind,
                base or name,
                group if base else None,
                is_total,
                *(_number(times.get(key)) for key in TIMES.values()),
            )
        )
        bandwidths = _object(_object(one).get("Communication Bandwidth Info"))
        for link, figures in bandwidths.items():
            at = f"{pointer}/Communication Bandwidth Info/{escaped(link)}"
            for size, pair in _object(_object(figures).get("Size Distribution")).items():
                first, second = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
                where = f"{at}/Size Distribution/{escaped(size)}"
                packets.append(
                    (number, len(packets), where, len(links), size, _number(first), _number(second))
                )
            shares = (*(_number(_object(figures).get(key)) for key in LINK.values()),)
            ratio = _number(_object(figures).get(LARGE))
            links.append((number, len(links), at, len(operators) - 1, link, *shares, ratio))
    facts.add("doc.operator", operators)
    facts.add("doc.link", links)
    facts.add("doc.packet", packets)


def _operators(value: Any) -> Iterator[tuple[str, str | None, str | None, str, Any]]:
    """Pointer, step, class, name and facts of each operator and each sum of operators."""
    for step, classes in _object(value).items():
        if "Communication Time Info" in _object(classes):
            yield f"/{escaped(step)}", None, None, step, classes
            continue
        for kind, operators in _object(classes).items():
            for name, one in _object(operators).items():
                yield f"/{escaped(step)}/{escaped(kind)}/{escaped(name)}", step, kind, name, one


def _links_of_matrix(value: Any) -> Iterator[tuple[Any, ...]]:
    for step, classes in _object(value).items():
        for kind, entries in _object(classes).items():
            for name, links in _object(entries).items():
                parts = _MATRIX_NAME.fullmatch(name)
                texts = parts.group("kind", "place", "group") if parts else (None, None, None)
                for link, one in _object(links).items():
                    pointer = "/".join(map(escaped, ("", step, kind, name, link)))
                    ends = _LINK_NAME.fullmatch(link)
                    ranks = map(int, ends.group("source", "target")) if ends else (None, None)
                    yield (
                        *(pointer, step, kind, name, *texts, link, *ranks),
                        _text(_object(one).get(TRANSPORT)),
                        *(_number(_object(one).get(key)) for key in LINK.values()),
                        _text(_object(one).get(NAMED, _object(one).get(NAMED_BY_MINDSPORE))),
                    )


def _scalars(value: Any, pointer: str) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _scalars(one, f"{pointer}/{escaped(key)}")
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _scalars(one, f"{pointer}/{index}")
    else:
        yield pointer, None if value is None else str(value)


def _object(value: Any) -> Mapping[str, Any]:
    """The members of an object; none of any other value."""
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
