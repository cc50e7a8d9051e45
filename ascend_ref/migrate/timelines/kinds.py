"""Kinds of events and their args by one writer, and what they are by another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ascend_ref.forms import NOT_COLLECTED
from ascend_spec.timeline import Arg, EventKind, Layer

from .style import Style


class Step(NamedTuple):
    """One arg of an event. ``source``: its key before, ``None`` where it appears; ``target``: its
    key then, ``None`` where it goes. ``value``: what it holds where it appears; ``words``: what it
    holds in place of other values.
    """

    source: str | None
    target: str | None
    value: bytes = b""
    words: Mapping[bytes, bytes] | None = None

    def held(self, value: bytes) -> bytes:
        """What the arg holds then."""
        return value if self.words is None else self.words.get(value, value)


def counterpart(kind: EventKind, style: Style, layer: Layer) -> EventKind | None:
    """The kind of another writer that shows the same."""
    others = style.kinds(layer)
    same = [one for one in others if (one.layer, one.kind) == (kind.layer, kind.kind)]
    alike = [
        one
        for one in others
        if (one.layer, one.phase, one.cat, one.thread, one.shows, one.rows, one.fixed)
        == (kind.layer, kind.phase, kind.cat, kind.thread, kind.shows, kind.rows, kind.fixed)
    ]
    return next(iter(same or alike), None)


def steps_of(
    kind: EventKind, new: EventKind, keys: Sequence[str], old: str, style: str
) -> tuple[Step, ...]:
    """The args of an event in the order of the new writer, then those that go.

    ``old``, ``style``: whose the kinds are.
    """
    ours = kind.matched(keys, old)
    if ours is None:
        return tuple(Step(key, key) for key in keys)
    left = list(zip(keys, ours, strict=True))
    found: list[Step] = []
    for arg in new.args_of(style):
        taken = [one for one in left if one[1].name.template == arg.name.template]
        if not taken:
            others = {one.name.template for one in new.args_of(style)}
            taken = [
                one for one in left if _is_same(one[1], arg) and one[1].name.template not in others
            ]
        for key, own in taken if arg.many else taken[:1]:
            left.remove((key, own))
            renamed = arg.name.template if own.name.template != arg.name.template else key
            found.append(Step(key, renamed))
        if not taken and arg.required and arg.name.is_fixed:
            found.append(Step(None, arg.name.template, nothing(arg)))
    return (*found, *(Step(key, None) for key, _ in left))


def _is_same(one: Arg, other: Arg) -> bool:
    return one.shows == other.shows and one.shows.form != "nothing" and other.name.is_fixed


def nothing(arg: Arg) -> bytes:
    """What an arg holds of which nothing is known."""
    if arg.none:
        return json.dumps(arg.none[0]).encode()
    if "null" in arg.json:
        return b"null"
    if "string" in arg.json:
        words = {value: word for word, value in arg.shows.words}
        return json.dumps(words.get(0, arg.values[0] if arg.values else NOT_COLLECTED)).encode()
    return str(max(0, arg.minimum or 0)).encode()


def name_of(kind: EventKind, new: EventKind, name: str) -> str:
    """The name of an event by another writer; as it is where the other has none for it."""
    if kind.name.template == new.name.template and kind.name.fields == new.name.fields:
        return name
    parts = dict(kind.name.named(name) or {})
    for part, form in new.name.fields.items():
        ours = kind.name.fields[part].values if part in kind.name.fields else ()
        given = parts.get(part, "")
        if form.values and given not in form.values and len(ours) == len(form.values):
            # Closed vocabularies of one length stand in the same order.
            given = form.values[ours.index(given)] if given in ours else given
        parts[part] = given
    try:
        return new.name.of(**parts)
    except (KeyError, ValueError):
        return name
