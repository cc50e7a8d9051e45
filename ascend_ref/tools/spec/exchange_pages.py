"""What ascend-ref conform and exporters exchange, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ascend_ref.markdown import Style, code, table
from ascend_spec.exchange import EXCHANGED, exchange_schema

from .subject import Subject, things


def exchange_section(schema: Mapping[str, Any], style: Style) -> str:
    """One file or protocol: its messages, or the members of an entry."""
    name = schema["$id"].rpartition(":")[2]
    forms = [
        (one, node) for one, node in schema.get("$defs", {}).items() if "properties" in node
    ] or [("entry", schema["properties"]["expected"]["items"])]
    return style.page(
        name,
        schema["description"],
        *(_form(one, node, style) for one, node in forms),
    )


def _form(name: str, node: Mapping[str, Any], style: Style) -> str:
    rows = (
        (
            code(member),
            "always" if member in node["required"] else "",
            style.prose(value.get("description", "")),
        )
        for member, value in node["properties"].items()
        if member != "seq"
    )
    inner = style.below()
    return inner.page(
        name, node.get("description", ""), table(("member", "there", "what it is"), rows)
    )


def exchange_subjects() -> Iterator[Subject]:
    """Every file and protocol."""
    yield from things(
        "exchange",
        {name: exchange_schema(name) for name in EXCHANGED},
        "exchange.md#{anchor}",
        exchange_section,
        summary=lambda schema: schema["title"],
    )
