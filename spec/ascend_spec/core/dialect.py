"""The one dialect of JSON Schema in the spec, and its compiler to plain JSON Schema 2020-12.

``vocabulary/dialect.schema.yaml`` is its meta-schema. Beyond the standard a node may have:

``since``, ``until``, ``writers``
    Where the node is in force: on the ordered axis of its document (epochs, generations), and of
    which writers. A node that is not in force is left out, also of ``required``. So is a node whose
    ``$ref`` leads to a definition that is not in force.
``variants``
    Forms of the node, of which at most one is in force. It is merged into the node, and what it
    states itself wins, since it is the more specific of the two. Where none is in force, the node
    is not in force either.
``$ref``
    A definition of the same set of documents, whose names are unique, so that only the last part of
    the reference counts. The demands of both hold, as in the standard. Annotations next to ``$ref``
    replace those of the definition, since they are about the one place that refers.
``missing``
    The erratum about the absence of a required property (``erratum``), and whether absence is only
    advice (``advisory``). An ``erratum`` of the property itself is about the value there. The
    requirement gets an ``allOf`` of its own, so that a failing keyword leads to the erratum.
``values_of``, ``or_text``
    A named set whose values become ``enum``; of an open set, those that are no longer in force
    are forbidden. ``or_text`` also admits integers written as text.
``keys_of``, ``each``
    A named set whose values become required properties, each as ``each`` says.

The annotations ``unit``, ``shows``, ``erratum``, ``advisory``, ``references``, ``maxBytes`` and
``source`` remain in the result. ``shows`` names the member of a payload that a member of an answer
shows, within what the object around it shows. ``erratum`` and ``advisory`` are about whatever fails
at or below their node; the nearest wins. ``source`` is where a node comes from, with all nodes
below it that state none. Keys of the result are in the order of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .pointer import ANY, escaped
from .values import SetMember, ValueSet

Node = dict[str, Any]
Holds = Callable[[Mapping[str, Any]], bool]
"""Whether the bounds among the keys of a node hold at the point that is compiled for."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_OURS = frozenset(("unit", "shows", "erratum", "advisory", "references", "maxBytes", "source"))
ANNOTATIONS = _OURS | {"title", "description", "default"}
_SINGLE = frozenset(
    ("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else")
)
_LISTS = frozenset(("allOf", "anyOf", "prefixItems"))
_MAPS = frozenset(("properties", "patternProperties"))
_BOUNDS = frozenset(("since", "until", "writers"))
_BESIDE_PROPERTIES = frozenset(("additionalProperties", "patternProperties"))
"""Keywords whose meaning depends on the properties of the same node."""

_RESOLVED = frozenset(
    (
        *("since", "until", "writers", "variants", "missing", "$defs", "$schema"),
        *("values_of", "or_text", "keys_of", "each"),
    )
)


class NotInForce(LookupError):
    """What was asked for does not exist at the point."""


def compile_schema(
    root: Node,
    definitions: Mapping[str, Node],
    holds: Holds,
    sets: Mapping[str, ValueSet] | None = None,
) -> Node:
    """A node at a point, as a plain schema with all that it refers to in its ``$defs``.

    Raises :class:`NotInForce` where the node does not exist at the point, ``KeyError`` for a
    reference or a set that nobody knows.
    """
    compiler = _Compiler(definitions, holds, sets or {})
    if not compiler.stands(root):
        raise NotInForce("not in force")
    schema = compiler.compile(root)
    found: dict[str, Node] = {}
    while unseen := compiler.wanted - found.keys():
        found |= {name: compiler.compile(definitions[name]) for name in sorted(unseen)}
    order = [name for name in definitions if name in found]
    return {**schema, "$defs": {name: found[name] for name in order}} if found else schema


class _Compiler:
    def __init__(
        self, definitions: Mapping[str, Node], holds: Holds, sets: Mapping[str, ValueSet]
    ) -> None:
        self.definitions = definitions
        self.holds = holds
        self.sets = sets
        self.wanted: set[str] = set()

    def stands(self, node: Any) -> bool:
        """Whether a node is in force, and so are one of its variants and what it refers to."""
        if not isinstance(node, dict):
            return True
        return (
            (node.keys().isdisjoint(_BOUNDS) or self.holds(node))
            and ("variants" not in node or any(map(self.stands, node["variants"])))
            and ("$ref" not in node or self.stands(self.definitions[_target(node)]))
        )

    def compile(self, node: Any) -> Any:
        """A node that is in force, without what below it is not."""
        if not isinstance(node, dict):
            return node
        node = self._merged(node)
        result = _changed(
            {key: value for key, value in node.items() if key not in _RESOLVED},
            self.compile,
            self.stands,
        )
        if "$ref" in result:
            target = _target(result)
            self.wanted.add(target)
            result["$ref"] = f"#/$defs/{target}"
        branches: list[Node] = []
        if "values_of" in node:
            branches += self._enumerate(node, result)
        if "keys_of" in node:
            self._spread(node, result)
        elif "required" in node:
            branches += self._require(node, result)
        if branches:
            result["allOf"] = [*result.get("allOf", ()), *branches]
        if not result.get("allOf", True):
            del result["allOf"]
        return result

    def _merged(self, node: Node) -> Node:
        """The node with its variant in force merged into it."""
        while "variants" in node:
            variant = next(filter(self.stands, node["variants"]))
            frame = {key: value for key, value in node.items() if key != "variants"}
            node = {**frame, **variant}
        return node

    def _enumerate(self, node: Node, result: Node) -> list[Node]:
        """What a set demands: in place where it is closed, else as further branches."""
        known = self.sets[node["values_of"]]
        standing = [one for one in known.members if self._is_in_force(one.since, one.until)]
        if not known.closed:
            gone = [one for one in known.members if not self._is_in_force(None, one.until)]
            return [_branch({"not": {"enum": texts}}, erratum) for erratum, texts in _grouped(gone)]
        result["enum"] = _spelled([member.value for member in standing], node)
        proper = _spelled([one.value for one in standing if one.alias_of is None], node)
        aliases = [member for member in standing if member.alias_of is not None]
        return [_branch({"enum": proper}, erratum) for erratum, _ in _grouped(aliases)]

    def _spread(self, node: Node, result: Node) -> None:
        """Make a required property of each value that a set has in force."""
        result["properties"] = {
            str(one.value): self.compile({**node["each"], "description": one.summary})
            for one in self.sets[node["keys_of"]].members
            if self._is_in_force(one.since, one.until)
        }
        result["required"] = list(result["properties"])

    def _require(self, node: Node, result: Node) -> list[Node]:
        """Keep the requirements in force; return those whose absence an erratum explains."""
        described = node.get("properties", {})
        standing = [name for name in node["required"] if self.stands(described.get(name))]
        missing = {
            name: self._merged(described[name])["missing"]
            for name in standing
            if isinstance(described.get(name), dict) and "missing" in self._merged(described[name])
        }
        result["required"] = [name for name in standing if name not in missing]
        if not result["required"]:
            del result["required"]
        return [{"required": [name], **noted} for name, noted in missing.items()]

    def _is_in_force(self, since: str | None, until: str | None) -> bool:
        bounds = {"since": since, "until": until}
        return self.holds({key: value for key, value in bounds.items() if value is not None})


def _changed(
    node: Node, change: Callable[[Any], Any], keep: Callable[[Any], bool] = lambda _: True
) -> Node:
    """The node with each schema directly below it changed, and only those that are kept."""
    result: Node = {}
    for key, value in node.items():
        if key in _MAPS:
            result[key] = {name: change(one) for name, one in value.items() if keep(one)}
        elif key in _LISTS:
            result[key] = [change(one) for one in value if keep(one)]
        elif key not in _SINGLE:
            result[key] = value
        elif keep(value):
            result[key] = change(value)
    return result


def _target(node: Node) -> str:
    name: str = node["$ref"].rpartition("/")[2]
    return name


def _branch(demand: Node, erratum: str | None) -> Node:
    """A demand whose failure is advice, since a known erratum explains it."""
    return {**demand, "erratum": erratum, "advisory": True}


def _grouped(members: Sequence[SetMember]) -> list[tuple[str | None, list[str | int]]]:
    """Values by the erratum about them, in the order of the set."""
    groups: dict[str | None, list[str | int]] = {}
    for member in members:
        groups.setdefault(member.erratum, []).append(member.value)
    return list(groups.items())


def _spelled(values: Sequence[str | int], node: Node) -> list[str | int]:
    """The values, and integers as text too where the node allows it."""
    texts = [str(value) for value in values if isinstance(value, int)] if "or_text" in node else []
    return [*values, *texts]


# --- compiled schemas ----------------------------------------------------------------------------


def inlined(schema: Node) -> Node:
    """A compiled schema with definitions in the place of the references to them.

    What a reference within a definition to itself leads to remains in ``$defs``. Annotations next
    to a reference replace those of the definition; demands next to one are joined with its own.
    """
    definitions: Mapping[str, Node] = schema.get("$defs", {})
    circular: set[str] = set()

    def expand(node: Any, inside: frozenset[str]) -> Any:
        if not isinstance(node, dict):
            return node
        own = _changed(node, lambda inner: expand(inner, inside))
        if "$ref" not in node:
            return own
        name = _target(node)
        if name in inside:
            circular.add(name)
            return own
        del own["$ref"]
        return _joined(expand(definitions[name], inside | {name}), own)

    own = {key: value for key, value in schema.items() if key != "$defs"}
    result: Node = expand(own, frozenset())
    kept = {name: expand(definitions[name], frozenset({name})) for name in sorted(circular)}
    return {**result, "$defs": kept} if kept else result


def _joined(target: Node, own: Node) -> Node:
    """The demands of both, and of annotations those of ``own``."""
    clashing = own.keys() & target.keys() - ANNOTATIONS - {"properties", "required"}
    if clashing or ("properties" in own and target.keys() & _BESIDE_PROPERTIES):
        return {**own, "allOf": [target, *own.get("allOf", ())]}
    result = {**target, **own}
    if "properties" in own and "properties" in target:
        both = {**target["properties"], **own["properties"]}
        result["properties"] = {
            name: _joined(target["properties"].get(name, {}), own["properties"].get(name, {}))
            for name in both
        }
    if "required" in own and "required" in target:
        result["required"] = list(dict.fromkeys((*target["required"], *own["required"])))
    return result


def exported(schema: Any) -> Any:
    """A compiled schema for everybody: our annotations begin with ``x-``, as validators ask for."""
    if not isinstance(schema, dict):
        return schema
    result = {
        f"x-{key}" if key in _OURS else key: value
        for key, value in _changed(schema, exported).items()
    }
    if "$defs" in schema:
        result["$defs"] = {name: exported(node) for name, node in schema["$defs"].items()}
    return result


def walk(schema: Node, place: str = "", *, conditions: bool = True) -> Iterator[tuple[str, Node]]:
    """Every node of a compiled schema with the place of the document that it describes.

    References are not followed. ``if``, ``not`` and ``contains`` are left out, for they describe no
    content; what holds under a condition is part of the walk unless ``conditions`` is false.
    """
    yield place, schema
    for name, node in schema.get("properties", {}).items():
        yield from walk(node, f"{place}/{escaped(name)}", conditions=conditions)
    inside = [schema[key] for key in ("items", "additionalProperties") if key in schema]
    inside += [*schema.get("prefixItems", ()), *schema.get("patternProperties", {}).values()]
    for node in inside:
        if isinstance(node, dict):
            yield from walk(node, f"{place}/{ANY}", conditions=conditions)
    branches = [schema[key] for key in ("then", "else") if conditions and key in schema]
    for node in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *branches):
        yield from walk(node, place, conditions=conditions)


def known_keys(schema: Node) -> dict[str, frozenset[str]]:
    """For each place of a compiled schema that is an object with described properties, their names.

    Objects whose keys are free (maps) are left out.
    """
    described: dict[str, set[str]] = {}
    maps = set()
    for place, node in walk(schema):
        if "properties" in node:
            described.setdefault(place, set()).update(node["properties"])
        if node.get("additionalProperties", False) is not False:
            maps.add(place)
    return {place: frozenset(keys) for place, keys in described.items() if place not in maps}


def along(schema: Node, path: Sequence[str | int]) -> Iterator[tuple[str, Node]]:
    """The nodes of a compiled schema on the way to a failing keyword, each with its place.

    ``path`` is as validators report it: ``["properties", "name", "type"]``; a reference on the way
    may be a step ``$ref`` or none. A step that the schema does not have ends the way.
    """
    definitions: Mapping[str, Node] = schema.get("$defs", {})
    place, at = "", schema
    steps = iter(path)
    for step in steps:
        while "$ref" in at and step not in at.keys() - {"$ref"}:
            own = {key: value for key, value in at.items() if key != "$ref"}
            at = {**definitions[_target(at)], **own}
        yield place, at
        if step == "$ref":
            continue
        inner: Any = at.get(str(step))
        if step in _MAPS or step in _LISTS:
            inner, place = _entered(inner, str(step), next(steps, None), place)
        elif step in ("items", "additionalProperties", "propertyNames"):
            place = f"{place}/{ANY}"
        if not isinstance(inner, dict):
            return
        at = inner
    yield place, at


def _entered(inner: Any, step: str, key: Any, place: str) -> tuple[Any, str]:
    """What a map or a list of schemas holds under a key, and the place that it describes."""
    try:
        found = inner[key]
    except (KeyError, IndexError, TypeError):
        return None, place
    if step == "properties":
        return found, f"{place}/{escaped(key)}"
    return found, f"{place}/{ANY}" if step in ("patternProperties", "prefixItems") else place


def annotation_at(schema: Node, path: Sequence[str | int], keyword: str) -> Any:
    """What the nearest node at or above a place of a compiled schema states under a keyword."""
    stated = [node[keyword] for _, node in along(schema, path) if keyword in node]
    return stated[-1] if stated else None
