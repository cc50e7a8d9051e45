"""The keys of JSON as a Markdown table, with what changed from state to state of the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ascend_ref.markdown import Style, code, sentences, table
from ascend_spec.core.dialect import Node, walk
from ascend_spec.core.pointer import escaped

from .pages import in_force

MANY_VALUES = 16


@dataclass(frozen=True, slots=True)
class Key:
    """A place in JSON: its newest form, the bounds of all its forms, whether it must be there, and
    the errata about it.
    """

    place: str
    node: Node
    needed: str
    bounds: str
    errata: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The types of the newest form."""
        kinds = self.node.get("type", "")
        return kinds if isinstance(kinds, str) else " or ".join(kinds)

    @property
    def unit(self) -> str:
        """The unit of the newest form."""
        return str(self.node.get("unit", ""))

    def meaning(self, style: Style) -> str:
        """All that is known of it."""
        return sentences(
            style.prose(self.node["description"]),
            _values(self.node),
            self.needed,
            self.bounds,
            style.see(self.errata),
            _source(self.node),
        )


def keys_table(schemas: Mapping[str, Node], style: Style) -> str:
    """The places of :func:`keys` as rows."""
    return table(
        ("place", "JSON", "unit", "meaning"),
        ((code(one.place), one.kind, one.unit, one.meaning(style)) for one in keys(schemas)),
    )


def keys(schemas: Mapping[str, Node]) -> Iterator[Key]:
    """Every place of JSON that has several states, the newest form first.

    ``schemas``: by state, oldest first, the compiled schema without references.
    """
    states: dict[str, dict[str, Node]] = {}
    for state, schema in reversed(list(schemas.items())):
        for place, node in walk(schema):
            if place and "description" in node:
                states.setdefault(place, {}).setdefault(state, node)
    order = list(schemas)
    newest = schemas[order[-1]]
    always, sometimes = _required(newest, always=True), _required(newest, always=False)
    for place, held in states.items():
        node = next(iter(held.values()))
        needed = "Required" if place in always else "Sometimes required"
        errata = dict.fromkeys(filter(None, (node.get("erratum"), sometimes.get(place))))
        given = needed if place in sometimes else ""
        yield Key(place, node, given, _bounds(held, order), tuple(errata))


def _bounds(held: Mapping[str, Node], order: list[str]) -> str:
    """The epochs that know a place, which follow each other."""
    first = min(order.index(one) for one in held)
    last = max(order.index(one) for one in held)
    since = order[first] if first else None
    until = order[last + 1] if last + 1 < len(order) else None
    return in_force(since, until)


def _source(node: Node) -> str:
    """Where a key comes from that the document of the whole does not name."""
    cited = node.get("source", ())
    undocumented = cited and not any(one.startswith("seed-") for one in cited)
    return f"Source: {', '.join(map(code, cited))}" if undocumented else ""


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
