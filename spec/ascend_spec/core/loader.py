"""From rows of YAML documents to typed facts, and the documents that all families share."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache, cached_property
from typing import Any, TypeVar, cast

import msgspec

from .facts import Erratum, Source, Switch, Vocabulary, best_grade
from .folder import Document, Folder, SpecError
from .generations import Generations
from .names import Field
from .products import Capability, DataSet, Product, Products, cells_of
from .values import ValueType

Fact = TypeVar("Fact")
Row = Mapping[str, Any]
NAMES: Mapping[type, str] = {list: "a list", dict: "a mapping", str: "a text"}


class Loader:
    """Makes facts of the rows of one folder of documents."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def fact(self, kind: type[Fact], row: Row, place: str, /, **more: Any) -> Fact:
        """A row as an object of a dataclass, whose fields are the keys of the row.

        ``more`` replaces keys; a kind with a grade gets the best one among its sources. Raises
        :class:`SpecError` naming the ``place`` (file, then keys) where the row does not fit.
        """
        if not isinstance(row, Mapping):
            raise SpecError(f"{place}: expected a mapping, got {row!r}")
        facts = {**row, **more}
        names = _names(cast(Hashable, kind))
        if "grade" in names and "grade" not in facts and "source" in facts:
            facts["grade"] = self.grade(facts["source"], place)
        if not facts.keys() <= names:
            known = ", ".join(sorted(names))
            raise SpecError(f"{place}: unknown key {min(facts.keys() - names)!r}; known: {known}")
        try:
            return msgspec.convert(facts, kind)
        except msgspec.ValidationError as error:
            raise SpecError(f"{place}: {error}") from error

    def grade(self, citations: Any, place: str) -> str:
        """The best grade among citations of :attr:`sources`."""
        try:
            return best_grade(citations, self.sources)
        except (KeyError, AttributeError, TypeError, StopIteration) as error:
            raise SpecError(
                f"{place}: source: expected ids of core/sources.yaml, got {citations!r}"
            ) from error

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """Sources by id."""
        return self.by("id", Source, "core/sources.yaml")

    @cached_property
    def switches(self) -> Mapping[str, Switch]:
        """Collection switches by id."""
        return self.by("id", Switch, "core/switches.yaml")

    @cached_property
    def products(self) -> Products:
        """Products, and which has which data."""
        with reading("products/matrix.yaml"):
            matrix = self.folder.read("products/matrix.yaml")
            documents = {
                row["product"]: (row, name)
                for name, row in self.folder.documents("products/families")
            }
            return Products(
                families={
                    product: self.fact(Product, without(row, "product"), name, id=product)
                    for product in matrix["products"]
                    for row, name in [documents[product]]
                },
                capabilities=self.by("id", Capability, "products/capabilities.yaml"),
                data={
                    name: self.fact(
                        DataSet,
                        without(row, "says", "not"),
                        f"products/matrix.yaml: {name}",
                        id=name,
                        cells=cells_of(row, matrix),
                    )
                    for name, row in matrix["data"].items()
                },
                errata=self.errata("products/errata.yaml"),
            )

    @cached_property
    def generations(self) -> Generations:
        """Which writers of text are older ones of which."""
        name = "text/writers.yaml"
        with reading(name):
            rows = {writer: row for writer, row, _ in self.rows(name, "id")}
            return Generations(
                dates={writer: row["date"] for writer, row in rows.items()},
                like={writer: row["like"] for writer, row in rows.items() if "like" in row},
            )

    @cached_property
    def vocabularies(self) -> Mapping[str, Vocabulary]:
        """Words that exporters write, by the name of their set."""
        return self.by("id", Vocabulary, "core/words.yaml")

    @cached_property
    def value_types(self) -> Mapping[str, ValueType]:
        """Value types that every family may use, by name."""
        return self.named(ValueType, "core/value_types.yaml", "id")

    def name_parts(self, name: str) -> dict[str, Field]:
        """The parts of names that a document describes, by id."""
        with reading(name):
            return {
                part: self.fact(
                    Field, row, f"{name}: {part}", name=part, **_digits(row.get("digits"))
                )
                for part, row in self.folder.read(name).items()
            }

    def rows(self, name: str, key: str) -> Iterator[tuple[Any, Document, str]]:
        """The rows of a document, each with the value of its ``key`` and its place."""
        rows = self.folder.read(name)
        if not isinstance(rows, list):
            raise SpecError(f"{name}: expected a list of rows")
        for number, row in enumerate(rows, 1):
            if not isinstance(row, dict) or key not in row:
                raise SpecError(f"{name}: row {number}: expected a mapping with the key {key!r}")
            yield row[key], row, f"{name}: {row[key]}"

    def by(self, key: str, kind: type[Fact], name: str) -> dict[str, Fact]:
        """The rows of a document by the value of a key."""
        return {value: self.fact(kind, row, place) for value, row, place in self.rows(name, key)}

    def named(self, kind: type[Fact], name: str, key: str = "name") -> dict[str, Fact]:
        """The facts of a document that is a mapping; their names also stand under ``key``."""
        with reading(name):
            return {
                one: self.fact(kind, row, f"{name}: {one}", **{key: one})
                for one, row in self.folder.read(name).items()
            }

    def errata(self, name: str) -> dict[str, Erratum]:
        """The errata of one document by id."""
        return {
            erratum: self.fact(Erratum, row, place, says=_claims(row, place))
            for erratum, row, place in self.rows(name, "id")
        }


def _digits(digits: Sequence[int] | None) -> dict[str, Any]:
    least, most = digits or (None, None)
    return {"digits": least, "longest": most}


def _claims(row: Document, place: str) -> list[tuple[Any, Any]]:
    says = part(row, "says", list, place)
    return [(part(one, "source", str, place), part(one, "claim", str, place)) for one in says]


@contextmanager
def reading(place: str) -> Iterator[None]:
    """Reports whatever a row lacks, or has in another form, as :class:`SpecError` of its place."""
    try:
        yield
    except SpecError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise SpecError(f"{place}: not as expected, {type(error).__name__}: {error}") from error


def part(row: Row, key: str, kind: type[Fact], place: str) -> Fact:
    """What a row has under a key, which must be there and of that kind."""
    if not isinstance(row, Mapping):
        raise SpecError(f"{place}: expected a mapping, got {row!r}")
    value = row.get(key)
    if not isinstance(value, kind):
        raise SpecError(f"{place}: {key}: expected {NAMES[kind]}, got {type(value).__name__}")
    return value


def typed(types: Mapping[str, Fact], row: Row, place: str) -> Fact:
    """The value type that a row names."""
    if not isinstance(row, Mapping):
        raise SpecError(f"{place}: expected a mapping, got {row!r}")
    name = row.get("type")
    if not isinstance(name, str) or name not in types:
        raise SpecError(f"{place}: type: unknown value type {name!r}")
    return types[name]


def type_facts(kind: Any) -> dict[str, Any]:
    """What a column of a value type is where it does not say otherwise."""
    return {one.name: getattr(kind, one.name) for one in fields(kind) if one.name != "id"}


def tuples(row: Row) -> dict[str, Any]:
    """A row with its lists as facts have them."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


def without(row: Row, *keys: str) -> dict[str, Any]:
    """A row without keys that its fact names otherwise or takes apart."""
    return {key: value for key, value in row.items() if key not in keys}


@cache
def _names(kind: Hashable) -> frozenset[str]:
    return frozenset(one.name for one in fields(cast(Any, kind)))
