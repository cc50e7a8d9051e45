"""JSON values against a compiled schema: where they depart from it, in the words of findings.

:class:`SchemaJudge` judges one value; :class:`~.sliced_judge.SlicedJudge` values with long lists in
bounded memory. :class:`Groups` sums departures up by their place in the schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, TypeAlias

import jsonschema_rs

from ascend_ref.db.display import first_of
from ascend_spec.core.dialect import Node, along, annotation_at, inlined
from ascend_spec.core.pointer import escaped

from .json_values import shown

LISTED = 12
"""Values of an enumeration that are spelled out."""

SPOTS = 4_096
"""Places of a schema that are kept in mind; one that refers to itself has any number."""

Tokens: TypeAlias = tuple[str | int, ...]
SchemaPath: TypeAlias = tuple[str | int, ...]
Located: TypeAlias = Callable[[jsonschema_rs.ValidationError], tuple[SchemaPath, Tokens]]
"""Where an error stands in the schema and in the value."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A failing keyword of a schema.

    ``place`` is that of the value, or of the key that is missing, with ``*`` for indices and free
    keys. ``erratum`` and ``advisory`` are the nearest at or above; ``own_erratum`` is of the value
    itself, not of what it lies in.
    """

    place: str
    keyword: str
    expected: str
    erratum: str | None
    own_erratum: str | None
    advisory: bool


@dataclass(frozen=True, slots=True)
class Departure:
    """A value that departs from its schema. ``tokens`` lead to it, or to where it is missing."""

    spot: Spot
    tokens: Tokens
    _actual: Callable[[], str] = field(repr=False)

    @property
    def actual(self) -> str:
        """The value on one line."""
        return self._actual()

    @property
    def is_unknown_key(self) -> bool:
        """Whether the schema only does not describe the key that the tokens lead to."""
        return self.spot.keyword == "additionalProperties"


@dataclass(slots=True)
class Group:
    """All departures at one place of one schema; the facts are those of the first.

    ``document`` is the number of the judged document that holds the first.
    """

    place: str
    keyword: str
    tokens: Tokens
    shown: str
    expected: str
    erratum: str | None = None
    advisory: bool = False
    document: int = 0
    count: int = 0


class Groups(dict[tuple[str, str], Group]):
    """Departures summed up by place and keyword, until there are ``most``."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    @property
    def is_full(self) -> bool:
        """Whether the judgement ended early, so that counts are too small."""
        return sum(group.count for group in self.values()) >= self._most

    def add(self, departure: Departure, document: int = 0) -> None:
        """Sum up one more, found in a document of this number."""
        spot = departure.spot
        key = spot.place, spot.keyword
        if key not in self:
            self[key] = Group(
                *key,
                tokens=departure.tokens,
                shown=departure.actual,
                expected=spot.expected,
                erratum=spot.erratum,
                advisory=spot.advisory,
                document=document,
            )
        self[key].count += 1


class SchemaJudge:
    """Judges values by one compiled schema.

    ``restore`` undoes what was done to a value before it was judged, for showing it.
    """

    def __init__(self, schema: Node, restore: Callable[[Any], Any] = lambda value: value) -> None:
        self.schema = inlined(schema)
        self._restore = restore
        self._validator = jsonschema_rs.Draft202012Validator(self.schema)
        self._spot = lru_cache(SPOTS)(self._find_spot)

    def is_valid(self, value: Any) -> bool:
        """Whether a value obeys the schema."""
        return self._validator.is_valid(value)

    def departures(self, value: Any, before: Tokens = ()) -> Iterator[Departure]:
        """What is wrong with a value that stands at ``before`` in its document."""
        if not self._validator.is_valid(value):
            yield from self._explain(
                self._validator.iter_errors(value),
                lambda error: (tuple(error.evaluation_path), (*before, *error.instance_path)),
            )

    def groups(self, value: Any, most: int) -> Groups:
        """What is wrong with a value, summed up; at most so many departures are counted."""
        found = Groups(most)
        for departure in islice(self.departures(value), most):
            found.add(departure)
        return found

    def like(self, example: Any) -> SchemaJudge:
        """Of a schema with alternatives the one that the example fits, so that only this one is
        required; else the schema itself.
        """
        if len(self._alternatives) < 2:
            return self
        return next((one for one in self._alternatives if one.is_valid(example)), self)

    @cached_property
    def _alternatives(self) -> list[SchemaJudge]:
        return [
            SchemaJudge({**self.schema, "anyOf": [one]}, self._restore)
            for one in self.schema.get("anyOf", ())
        ]

    def _explain(
        self, errors: Iterator[jsonschema_rs.ValidationError], located: Located
    ) -> Iterator[Departure]:
        """The errors as departures; of a value that has another type, only that it has."""
        known = list(errors)
        of_type = {
            tuple(error.instance_path) for error in known if error.evaluation_path[-1] == "type"
        }
        for error in known:
            if error.evaluation_path[-1] == "type" or tuple(error.instance_path) not in of_type:
                yield from self._of_error(error, located)

    def _of_error(
        self, error: jsonschema_rs.ValidationError, located: Located
    ) -> Iterator[Departure]:
        path, tokens = located(error)
        keyword = path[-1]
        if keyword == "anyOf":
            yield from self._of_alternatives(error, located)
            return
        details = error.kind.as_dict()
        if keyword == "additionalProperties":
            # Of an object that may have no keys at all, the error is at the key itself.
            unexpected: list[Tokens] = [(key,) for key in details.get("unexpected", ())]
            for below in unexpected or [()]:
                yield Departure(self._spot(path), (*tokens, *below), lambda: "a key")
        elif keyword == "required":
            name = str(details["property"])
            yield Departure(self._spot(path, name), (*tokens, name), lambda: "absent")
        else:
            yield Departure(self._spot(path), tokens, lambda: self._shown(error))

    def _of_alternatives(
        self, error: jsonschema_rs.ValidationError, located: Located
    ) -> Iterator[Departure]:
        """The errors of the only alternative of the value's type, or of the closest one; a single
        one where none suits the value itself.
        """
        depth = len(error.instance_path)
        alternatives: list[Any] = error.kind.as_dict()["context"]
        of_type = [
            errors
            for errors in alternatives
            if not any(
                one.evaluation_path[-1] == "type" and len(one.instance_path) == depth
                for one in errors
            )
        ]
        if len(of_type) == 1 < len(alternatives):
            for one in of_type[0]:
                yield from self._of_error(one, located)
            return
        closest = min(
            alternatives,
            key=lambda errors: (
                sum(len(one.instance_path) == depth for one in errors),
                len(errors),
            ),
        )
        if len(alternatives) == 1 or all(len(one.instance_path) > depth for one in closest):
            for one in closest:
                yield from self._of_error(one, located)
            return
        wanted = [next(self._of_error(errors[0], located)).spot for errors in alternatives]
        path, tokens = located(error)
        spot = self._spot(path, expected=" or ".join(dict.fromkeys(one.expected for one in wanted)))
        yield Departure(spot, tokens, lambda: self._shown(error))

    def _shown(self, error: jsonschema_rs.ValidationError) -> str:
        return shown(self._restore(error.instance))

    def _find_spot(
        self, path: SchemaPath, missing: str | None = None, expected: str | None = None
    ) -> Spot:
        nodes = list(along(self.schema, path[:-1]))
        place, node = nodes[-1]
        own = [one["erratum"] for at, one in nodes if at == place and "erratum" in one]
        return Spot(
            place=place if missing is None else f"{place}/{escaped(missing)}",
            keyword=str(path[-1]),
            expected=expected or self._expectation(path, node.get(str(path[-1])), missing),
            erratum=annotation_at(self.schema, path, "erratum"),
            own_erratum=own[-1] if own else None,
            advisory=bool(annotation_at(self.schema, path, "advisory")),
        )

    def _expectation(self, path: SchemaPath, value: Any, missing: str | None) -> str:
        """What a keyword of this value asks for."""
        if missing is not None:
            return f"the key {missing}"
        keyword = str(path[-1])
        if keyword in ("type", "enum"):
            values = value if isinstance(value, list) else [value]
            return _listed(values if keyword == "type" else list(map(_spelled, values)))
        if keyword == "not" and "enum" in value:
            return f"none of {first_of(list(map(_spelled, value['enum'])), LISTED)}"
        if keyword == "contains" and "const" in value:
            return f"{_spelled(value['const'])} among the elements"
        if keyword in _PHRASES:
            return _PHRASES[keyword].format(_spelled(value))
        described = annotation_at(self.schema, path, "description")
        return str(described) if described else f"what {keyword!r} asks for"


def _listed(values: Sequence[str]) -> str:
    left = len(values) - LISTED
    *most, last = [*values[:LISTED], f"{left} more"] if left > 0 else values
    return f"{', '.join(most)} or {last}" if most else last


def _spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_PHRASES = {
    "const": "{0}",
    "minimum": "at least {0}",
    "maximum": "at most {0}",
    "exclusiveMinimum": "more than {0}",
    "exclusiveMaximum": "less than {0}",
    "minLength": "at least {0} characters",
    "maxLength": "at most {0} characters",
    "minItems": "at least {0} elements",
    "maxItems": "at most {0} elements",
    "minProperties": "at least {0} keys",
    "maxProperties": "at most {0} keys",
    "pattern": "a text that matches {0}",
    "items": "no further elements",
    "additionalProperties": "only keys that the schema describes",
}
