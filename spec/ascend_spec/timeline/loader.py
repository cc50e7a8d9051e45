"""From the YAML documents of this folder to the objects of :mod:`ascend_spec.timeline.model`.

The packaged documents are validated by the test suite, not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ascend_spec.core import Document, Loader
from ascend_spec.core.loader import Fact, Row, part, reading, type_facts, typed, without
from ascend_spec.core.names import Field, NameForm
from ascend_spec.core.shows import event_shows, row_tests, shown

from . import model

FOLDER = "timeline"


@dataclass(frozen=True, slots=True)
class Kind:
    """A value type of args: JSON types, unit and range where certain, and what means none."""

    id: str
    json: tuple[model.JsonType, ...]
    summary: str
    unit: str | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    pattern: str | None = None
    none: tuple[int | str, ...] = ()


QUANTITIES: Mapping[str, Field] = {
    "id": Field("id", "integer", summary="The id of the flow."),
    "deviceId": Field("deviceId", "integer"),
    "timestamp": Field("timestamp", "integer", digits=14),
    "slice": Field("slice", "integer", digits=1),
}
"""Changing parts of the names of flows, labels and files."""


def load_kinds(loader: Loader) -> dict[str, Kind]:
    """The value types of args, by name; what they are like is filled in."""
    name = f"{FOLDER}/value_types.yaml"
    with reading(name):
        return {
            kind: _kind(loader, kind, row, f"{name}: {kind}")
            for kind, row in loader.folder.read(name).items()
        }


def _kind(loader: Loader, name: str, row: Document, place: str) -> Kind:
    facts: dict[str, Any] = {}
    if "like" in row:
        like = typed(loader.value_types, {"type": row["like"]}, place)
        facts = {"unit": like.unit, "minimum": like.minimum, "maximum": like.maximum}
    return loader.fact(Kind, {**facts, **without(row, "like")}, place, id=name)


def load_layers(loader: Loader) -> dict[str, model.Layer]:
    """Every layer by its newest name, those of the framework first, then by file name."""
    kinds = load_kinds(loader)
    layers = [
        _layer(loader, row, name, kinds)
        for name, row in loader.folder.documents(f"{FOLDER}/layers")
    ]
    layers.sort(key=lambda layer: (layer.part != "framework", layer.slug))
    return {layer.name: layer for layer in layers}


def load_named(
    loader: Loader, document: str, key: str, kind: type[Fact], *names: str
) -> dict[str, Fact]:
    """The rows of a document by their key; ``names``: keys of names with changing parts."""
    name = f"{FOLDER}/{document}"
    with reading(name):
        return {
            value: loader.fact(
                kind, row, place, **{one: _named(row[one]) for one in names if one in row}
            )
            for value, row, place in _rows(loader, name, key)
        }


def _rows(loader: Loader, name: str, key: str) -> Iterator[tuple[Any, Document, str]]:
    """The rows of a document; a form of a writer stands there for each older one like it, too."""
    for value, row, place in loader.rows(name, key):
        full = loader.generations.on_their_days(row)
        yield value, full, place
        if key == "writer":
            own = full["engines"] == [value]
            for older in loader.generations.with_older([value])[1:]:
                engines = [older] if own else full["engines"]
                yield older, {**full, "writer": older, "engines": engines}, place


def _named(template: str | Mapping[str, str]) -> NameForm | dict[str, NameForm]:
    """A name with changing parts, or several by a key."""
    if isinstance(template, str):
        return NameForm.made(template, QUANTITIES)
    return {key: NameForm.made(one, QUANTITIES) for key, one in template.items()}


def _layer(loader: Loader, row: Document, document: str, kinds: Mapping[str, Kind]) -> model.Layer:
    with reading(document):
        row = loader.products.in_full(loader.generations.on_their_days(row))
        reader = _Reader(loader, row, document, kinds)
        part(row, "layer", str, document)
        part(row, "source", list, document)
        slug = document.rpartition("/")[2].removesuffix(".yaml")
        return loader.fact(
            model.Layer,
            without(row, "layer", "fields"),
            document,
            name=row["layer"],
            slug=slug.replace("_", "-"),
            events=[reader.event(one) for one in part(row, "events", list, document)],
            threads=[reader.thread(one) for one in row.get("threads", ())],
            form=reader.name(row["form"], {}) if "form" in row else None,
        )


class _Reader:
    """Reads the parts of one layer, which share sources and changing parts of names."""

    def __init__(
        self, loader: Loader, layer: Document, document: str, kinds: Mapping[str, Kind]
    ) -> None:
        self.loader = loader
        self.layer = layer
        self.document = document
        self.kinds = kinds

    def name(self, template: str, fields: Row) -> NameForm:
        """A name; its parts are described next to it, or for the whole layer."""
        known = {
            name: self.loader.fact(Field, row, self.document, name=name)
            for name, row in {**self.layer.get("fields", {}), **fields}.items()
        }
        return NameForm.made(template, known)

    def event(self, row: Document) -> model.EventKind:
        place = f"{self.document}: {row['event']}"
        fields = row.get("fields", {})
        source = (row if "source" in row else self.layer)["source"]
        named = any("documented_as" in one for one in (row, *row.get("args", ())))
        facts = {
            **without(row, "event", "fields", "shows"),
            "source": self.citations(source, named),
            "families": [one for one in row.get("families", ()) if one in self.layer["families"]],
        }
        shows = row.get("shows", {})
        return self.loader.fact(
            model.EventKind,
            facts,
            place,
            kind=row["event"],
            layer=self.layer["layer"],
            name=self.name(row["name"], fields),
            id=self.name(row["id"], fields) if "id" in row else None,
            args=[self.arg(one, fields, source, place) for one in row.get("args", ())],
            shows=event_shows(shows),
            rows=row_tests(shows.get("rows", {})),
            fixed=shows.get("fixed", {}),
        )

    def citations(self, source: list[str], named: bool) -> list[str]:
        """What a part of the layer is taken from: documents only where they name it."""
        others = [one for one in source if self.loader.grade([one], self.document) != "documented"]
        return source if named else others

    def arg(self, row: Document, fields: Row, source: list[str], event: str) -> model.Arg:
        place = f"{event}: {row['arg']}"
        kind = typed(self.kinds, row, place)
        facts = {
            "source": self.citations(source, "documented_as" in row),
            **without(type_facts(kind), "summary"),
            **without(row, "arg", "fields"),
        }
        name = self.name(row["arg"], {**fields, **row.get("fields", {})})
        return self.loader.fact(model.Arg, facts, place, name=name, shows=shown(row, place))

    def thread(self, row: Document) -> model.Thread:
        name = row["name"]
        return self.loader.fact(
            model.Thread,
            without(row, "fields"),
            f"{self.document}: {row['thread']}",
            name=None if name is None else self.name(name, row.get("fields", {})),
        )
