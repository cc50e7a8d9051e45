"""How facts of the spec become facts of elements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ascend_spec import Spec
from ascend_spec.core import DAYS, Alteration
from ascend_spec.core.names import NameForm
from ascend_spec.core.shows import Show
from ascend_spec.core.values import ValueSet

from .element import Element, Fact

if TYPE_CHECKING:
    import construct

GROUNDS = frozenset(
    ("grade", "source", "errata", "erratum", "note", "since", "until", "documented_as")
)
"""What says where a fact comes from and when it holds, not what it is."""


def closed(texts: Iterable[object]) -> frozenset[str] | None:
    """A closed set, of which an empty one closes nothing."""
    return frozenset(map(str, texts)) or None


def counted(count: int, noun: str) -> str:
    """``1 column``, ``2 columns``."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def show_text(show: Show | None) -> str:
    """What a cell shows of the recording, in a few words."""
    if show is None:
        return ""
    of = " or ".join(show.of)
    if show.form == "nothing":
        return f"nothing, {show.reason}"
    if show.words:
        return f"{of} in words ({', '.join(f'{cell}: {value}' for cell, value in show.words)})"
    return " as ".join(filter(None, (of, show.pattern or show.packing)))


def own_facts(thing: object, without: Collection[str] = ()) -> dict[str, Fact]:
    """The fields of an object of the spec as facts, but :data:`GROUNDS` and those that its elements
    state otherwise; their names are those of the fields with blanks for underscores.
    """
    if not is_dataclass(thing):
        raise TypeError(f"{thing!r} is no fact of the spec")
    return {
        one.name.replace("_", " "): fact(getattr(thing, one.name))
        for one in fields(thing)
        if one.name not in GROUNDS and one.name not in without
    }


def fact(value: Any) -> Fact:
    """A value of the spec as a fact: what is nested becomes text."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, tuple | list) and all(isinstance(one, str | int) for one in value):
        return tuple(map(str, value))
    return text(value)


def text(value: Any) -> str:
    """A value of the spec in one line."""
    if isinstance(value, NameForm):
        return value.template
    if isinstance(value, Show):
        return show_text(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{text(key)}: {text(one)}" for key, one in value.items())
    if isinstance(value, tuple | list | set | frozenset):
        ordered = value if isinstance(value, tuple | list) else sorted(value, key=str)
        return " ".join(f"({text(one)})" if _is_nested(one) else text(one) for one in ordered)
    if is_dataclass(value) and not isinstance(value, type):
        said = ((one.name, getattr(value, one.name)) for one in fields(value) if one.repr)
        kept = {
            name: one for name, one in said if name not in GROUNDS and one not in (None, (), {})
        }
        return text(kept)
    return str(value.value if isinstance(value, Enum) else value)


def on_day(spec: Spec, at: str) -> tuple[str, str]:
    """The writer and the day (ISO) of ``cpp`` or ``cpp@2026-06-23``."""
    writer, _, day = at.partition("@")
    return writer, day or spec.text.writers[writer].date


def alterations(kind: str, name: str, changed: Iterable[Alteration], day: str) -> Iterator[Element]:
    """What is otherwise on a day (ISO), though all facts are as before."""
    for one in changed:
        if DAYS.in_force(one, day):
            yield Element(kind, name, one.summary, part=one.of, place=one.of)


def value_elements(kind: str, sets: Mapping[str, ValueSet], day_holds: Any) -> Iterator[Element]:
    """Sets of values, each with the members that ``day_holds`` says are in force."""
    for name, one in sets.items():
        members = tuple(
            Element(
                kind,
                name,
                str(member.value),
                facts={"summary": member.summary, "order": member.order},
                part="value",
                place=str(member.value),
                label=member.label or member.name or str(member.value),
            )
            for member in one.members
            if day_holds(member)
        )
        yield Element(
            kind,
            name,
            name,
            {"summary": one.summary, "closed": one.closed},
            members,
            shown="values",
        )


def record_element(
    kind: str, owner: str, record: str, declaration: construct.Struct, **more: Fact
) -> Element:
    """The fields of a packed record of a thing, byte by byte."""
    from ascend_spec.core.packed_fields import packed_fields

    rows = tuple(
        Element(
            kind,
            owner,
            one.name,
            facts={
                "offset": one.offset,
                "type": one.kind,
                "unit": one.facts.unit if one.facts else None,
                "values": one.facts.values if one.facts else None,
                "shows": show_text(one.facts.shows if one.facts else None),
                "summary": one.facts.summary if one.facts else None,
            },
            part="field",
            place=f"{record}.{one.name}",
            twin=f"{one.kind} at {one.offset}",
            ordered=True,
            shown=one.kind,
        )
        for one in packed_fields(declaration)
    )
    facts = {**more, "size": _size(declaration)}
    return Element(kind, owner, record, facts, rows, part="record", place=record, shown="bytes")


def _size(declaration: construct.Struct) -> int | None:
    import construct

    try:
        size: int = declaration.sizeof()
    except construct.SizeofError:
        return None
    return size


def _is_nested(value: Any) -> bool:
    return isinstance(value, tuple | list | Mapping) or is_dataclass(value)
