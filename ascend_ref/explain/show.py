"""The account of an export as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ascend_ref.db.display import printable

from .explain import Account, Explained
from .found import Found
from .switched import Switched

_STATES = {True: "on", False: "off", None: "not stated"}


def as_document(account: Account) -> dict[str, Any]:
    """What JSON can hold of an account."""
    return asdict(account)


def as_text(account: Account) -> Iterator[str]:
    """The lines of an account: a line on the capture, then each thing with its sources."""
    chip = "an unknown chip" if account.chip is None else f"chip {account.chip}"
    product = "" if account.product is None else f" ({account.product})"
    folders = ", ".join(account.folders)
    yield printable(f"{account.folder}: {chip}{product}, level {account.level}; {folders}")
    for text in account.general:
        yield printable(f"  {text}")
    for one in account.things:
        yield from map(printable, _lines(one))


def _lines(one: Explained) -> Iterator[str]:
    kind, _, name = one.address.partition("/")
    state = _number(one.rows, "event" if kind == "layer" else "row") if one.rows else "absent"
    yield f"{kind} {name}: {state}{''.join(f'; {reason}' for reason in one.reasons)}"
    if one.on_product is False and not one.rows:
        return
    for source in one.sources:
        yield f"  {source.kind}: {_source(source)}"
        for text in source.damage:
            yield f"    {text}"
    if not one.rows:
        for switch in one.switches:
            yield f"  switch {switch.id} ({', '.join(switch.spelled)}): {_switch(switch)}"


def _source(one: Found) -> str:
    if not one.folder:
        return f"no folder with {one.name}"
    if not one.files:
        return f"no {one.name} in {one.folder}"
    files = f"{_number(one.files, 'file')}, {_number(one.size, 'byte')}"
    read = "not read" if one.records is None else _number(one.records, "record")
    other = "" if one.here else ", which this chip does not write"
    return f"{one.folder}, {files}, {read}{other}"


def _number(count: int, of: str) -> str:
    return f"{count:,} {of}{'s' * (count != 1)}"


def _switch(one: Switched) -> str:
    return f"{_STATES[one.on]}{''.join(f'; {text}' for text in one.stated)}"
