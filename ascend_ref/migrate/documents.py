"""JSON documents of one writer as those of another: keys that were renamed, came or went."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ascend_ref.derive.mindspore_steps import ONE_STEP
from ascend_ref.forms import NOT_COLLECTED
from ascend_ref.json_damage import find_damage
from ascend_ref.json_place import JsonText, Member
from ascend_ref.timeline.elements import BYTE_ORDER_MARK
from ascend_spec import document_catalog, per_spec, text_catalog
from ascend_spec.core.dialect import Node, inlined

from .account import Effect, Entry, Migrated, unlike_its
from .json_text import ChangedText
from .refusal import Refusal

MAX_BYTES = 256 << 20
"""Bytes of a document that are read."""
ALIKE = 0.5
"""Share of the keys of a writer that another must have, so that the one's document is the other's.
"""
FEW = 2
"""Values that two closed sets may have in common by chance, such as the answers to a question."""
ANOTHER = unlike_its("writer")

_RAW: msgspec.json.Decoder[msgspec.Raw] = msgspec.json.Decoder(msgspec.Raw)


def form_of(name: str, writer: str) -> str | None:
    """The writer whose schema a document of a writer has, its own or that which it is like;
    ``None`` where it does not write the document.
    """
    known = document_catalog().writers_of(name)
    like = text_catalog().writers[writer].like
    return next((one for one in (writer, like) if one in known), None)


@per_spec
def _schema(name: str, form: str) -> Node:
    schema = inlined(document_catalog().schema_of(name, form))
    return {key: value for key, value in schema.items() if key != "$id"}


def migrate_document(
    source: Path,
    name: str,
    writer: str,
    kin: Callable[[str], bool],
    likely: Sequence[str],
    target: Path,
) -> Migrated | None:
    """Write a document as another generation of its writer would have written the same values.

    name: in the spec. likely: writers of the files next to it. ``None``, and nothing is written,
    where no generation of that program wrote it. Raises :class:`.Refusal`, ``OSError``.
    """
    every = [one for one in text_catalog().writers if kin(one) and form_of(name, one)]
    if not every:
        return None
    new = form_of(name, writer)
    if new is None:
        raise Refusal(f"{writer} writes no {name}.json")
    if source.stat().st_size > MAX_BYTES:
        raise Refusal(f"it has more than {MAX_BYTES:,} bytes")
    content = source.read_bytes()
    text = _sound(content)
    ordered = sorted(every, key=lambda one: (one not in likely, one != writer))
    faults = {
        one: _faults(text, text.start, _schema(name, str(form_of(name, one)))) for one in every
    }
    old_writer = min(ordered, key=lambda one: faults[one])
    old = str(form_of(name, old_writer))
    if _schema(name, old) == _schema(name, new):
        shutil.copyfile(source, target)
        return Migrated(source.name, "migrated", old_writer, writer)
    schemas = _schema(name, old), _schema(name, new)
    if _alike(*schemas) < ALIKE:
        raise Refusal(f"{old_writer} and {writer} state different things in {name}.json")
    rewriting = _Rewriting(text, f"{name}.json", writer)
    made = rewriting.value(text.start, schemas[0], schemas[1], "")
    end = text.end(text.start)
    target.write_bytes(content[: text.start] + made + content[end:])
    return Migrated(source.name, "migrated", old_writer, writer, entries=tuple(rewriting.entries))


def _sound(content: bytes) -> ChangedText:
    if content.startswith(BYTE_ORDER_MARK):
        raise Refusal("it stands behind a byte order mark")
    try:
        _RAW.decode(content)
        content.decode("utf-8")
        text = ChangedText(content)
        text.end(text.start)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, StopIteration, ValueError):
        damage = find_damage(content)
        if damage is not None:
            raise Refusal(f"byte {damage.offset:,}: {damage.reason}") from None
        raise Refusal("it is nested too deeply") from None
    return text


def _alike(old: Node, new: Node) -> float:
    """How many of the properties of a schema another one has."""
    names = _properties(new).keys()
    return len(names & _properties(old).keys()) / len(names) if names else 1.0


def _properties(node: Node) -> Mapping[str, Node]:
    found: Mapping[str, Node] = node.get("properties", {})
    return found


def _required(node: Node) -> frozenset[str]:
    """The members that an object must have, those whose absence is known of some among them."""
    branches = (one.get("required", ()) for one in node.get("allOf", ()) if "if" not in one)
    return frozenset(node.get("required", ())).union(*branches)


def _objects(node: Node) -> Node:
    """What a node says of an object, where a value may be something else as well."""
    for one in node.get("anyOf", ()):
        if one.get("type") == "object":
            return dict(one)
    return node


def _is_closed(node: Node) -> bool:
    then = node.get("then", {})
    return node.get("additionalProperties") is False or then.get("additionalProperties") is False


def _below(node: Node, key: str) -> Node:
    """What a schema says of a member that it does not name."""
    others = node.get("additionalProperties")
    found = _properties(node).get(key) or next(
        iter(node.get("patternProperties", {}).values()), None
    )
    return found or (others if isinstance(others, dict) else {})


def _faults(text: JsonText, at: int, node: Node) -> int:
    """How many keys of a document are not as a schema has them."""
    node = _objects(node)
    if text.kind(at) != "{":
        return 0
    members = list(text.members(at))
    keys = {one.key for one in members}
    names = node.get("propertyNames", {})
    found: int = len(_required(node) - keys)
    found += sum(not _may_be(key, names) for key in keys)
    named = _properties(node)
    if _is_closed(node) and "patternProperties" not in node:
        found += len(keys - named.keys())
    below = (one for one in members if one.key in named)
    return found + sum(_faults(text, one.value, named[one.key]) for one in below)


def _may_be(key: str, names: Node) -> bool:
    """Whether a key is one that the names of an object allow."""
    return key == names.get("const", key) and bool(re.search(names.get("pattern", ""), key))


def nothing(node: Node) -> Any:
    """What a member holds of which nothing is known."""
    types = _types(node)
    found: Any = NOT_COLLECTED if "string" in types else node.get("minimum", 0)
    if "default" in node:
        found = node["default"]
    elif "null" in types:
        found = None
    elif "array" in types:
        found = node.get("items", {}).get("enum", [])[: node.get("minItems", 0)]
    elif "enum" in node:
        found = node["enum"][0]
    elif "boolean" in types:
        found = False
    elif "object" in types:
        found = {key: nothing(_properties(node)[key]) for key in node.get("required", ())}
    return found


@dataclass
class _Rewriting:
    """A document on its way to a writer."""

    text: ChangedText
    name: str
    writer: str
    entries: list[Entry] = field(default_factory=list)

    def _note(self, effect: Effect, place: str, words: str, count: int = 1) -> None:
        self.entries.append(Entry(effect, f"{self.name}: {place.lstrip('.')}", words, count))

    def value(self, at: int, old: Node, new: Node, place: str) -> bytes:
        """The text of a value."""
        end = self.text.end(at)
        own = self.text.content[at:end]
        if old == new:
            return own
        kind = self.text.kind(at)
        old_object, new_object = _objects(old), _objects(new)
        if kind == "{":
            return self._object(at, old_object, new_object, place)
        if kind == "[" and "array" in _types(new):
            members = list(self.text.members(at))
            items = old.get("items", {}), new.get("items", {})
            texts = [self.value(one.value, *items, place) for one in members]
            plain = [self.text.content[one.start : one.end] for one in members]
            return own if texts == plain else self.text.joined(at, members, texts)
        if kind == "[" and "array" in _types(old) and "enum" in new:
            return self._first(at, own, place)
        if kind == '"' and _types(new) == {"array"}:
            self._note("converted", place, "a list")
            return self.text.listed(at, own)
        return own

    def _first(self, at: int, own: bytes, place: str) -> bytes:
        """The first value of a list, where there is only room for one."""
        members = list(self.text.members(at))
        if not members:
            return own
        self._note("converted", place, "the first of the list")
        text = self.text.content[members[0].value : members[0].end]
        if self.text.listed(at, text) != own:
            self._note("lost", place, ANOTHER)
        return text

    def _object(self, at: int, old: Node, new: Node, place: str) -> bytes:
        members = list(self.text.members(at))
        steps = self._steps(members, old, new)
        names = _renamed(old, new)
        texts: list[bytes | None] = []
        keys: list[str] = []
        for one in members:
            key = names.get(one.key) or steps.get(one.key, one.key)
            inner = f"{place}.{key}"
            if key != one.key:
                self._note("renamed", inner, f"{one.key} before")
            if self._goes(one, key, old, new, place):
                texts.append(None)
                continue
            value = self.value(one.value, _below(old, one.key), _below(new, key), inner)
            texts.append(self._member(one, key, value))
            keys.append(key)
        kept = [one for one in texts if one is not None]
        for key in self._appearing(keys, old, new):
            value = nothing(_properties(new)[key])
            self._note("defaulted", f"{place}.{key}", json.dumps(value))
            where = _place(key, keys, list(_properties(new)))
            kept.insert(where, self.text.added(at, members, key, value))
            keys.insert(where, key)
        plain = [self.text.content[one.start : one.end] for one in members]
        if kept == plain:
            return self.text.content[at : self.text.end(at)]
        return self.text.joined(at, members, kept)

    def _member(self, member: Member, key: str, value: bytes) -> bytes:
        if key != member.key:
            return self.text.renamed(member, key, value)
        return self.text.content[member.start : member.value] + value

    def _steps(self, members: Sequence[Member], old: Node, new: Node) -> Mapping[str, str]:
        """The names of steps by the new writer, where one of the two knows one step alone."""
        names = [one.get("propertyNames", {}).get("const") for one in (old, new)]
        if names[0] == names[1] or not members:
            return {}
        if names[1] is None:
            return {names[0]: f"{names[0]}{ONE_STEP}"}
        if len(members) > 1:
            raise Refusal(f"it holds {len(members):,} steps, and {self.writer} knows one")
        if members[0].key != f"{names[1]}{ONE_STEP}":
            self._note("lost", members[0].key, "the number of the step")
        return {members[0].key: names[1]}

    def _goes(self, member: Member, key: str, old: Node, new: Node, place: str) -> bool:
        """Whether a member has no place at the target, which is noted."""
        if key in _properties(new) or key not in _properties(old) or not _is_closed(new):
            return False
        again = nothing(_properties(old)[key]) if key in _required(old) else ...
        lost = again is ... or self.text.value(member.value) != again
        words = f"no key of {self.writer}"
        self._note("lost" if lost else "gone", f"{place}.{key}", words, int(lost))
        return True

    def _appearing(self, keys: Sequence[str], old: Node, new: Node) -> Iterator[str]:
        """Members that the target must have and the source could not."""
        for key in _properties(new):
            if key in _required(new) and key not in keys and key not in _properties(old):
                yield key


def _renamed(old: Node, new: Node) -> Mapping[str, str]:
    """Members that have another name at the target: one that goes and one that appears are the same
    where the values of the one are among those of the other.
    """
    ours, theirs = _properties(old), _properties(new)
    found: dict[str, str] = {}
    for key in sorted(ours.keys() - theirs.keys()):
        values = set(map(str, ours[key].get("enum", ())))
        for other in sorted(theirs.keys() - ours.keys()):
            others = set(map(str, theirs[other].get("enum", ())))
            if len(values & others) > FEW and (values <= others or others <= values):
                found[key] = other
    return found


def _place(key: str, keys: Sequence[str], order: Sequence[str]) -> int:
    """Where a key stands among others, behind the last one that the order has in front of it."""
    before = set(order[: order.index(key)])
    places = [place for place, one in enumerate(keys) if one in before]
    return max(places, default=-1) + 1


def _types(node: Node) -> set[str]:
    types = node.get("type", ())
    return {types} if isinstance(types, str) else set(types)
