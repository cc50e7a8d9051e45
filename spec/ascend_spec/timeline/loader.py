"""From the YAML documents of this folder to the objects of :mod:`ascend_spec.timeline.model`.

The packaged documents are validated by the test suite, not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ascend_spec.loader import best_grade, load_sources, load_value_types, read_document
from ascend_spec.loader import read_documents as _read_documents
from ascend_spec.model import Grade, Source, ValueType
from ascend_spec.products import product_catalog

from . import files, model
from .names import Field, NameForm

Document = Mapping[str, Any]

FOLDER = "timeline"


class Kind(NamedTuple):
    """A value type of args: JSON types, and unit and range where they are certain."""

    id: str
    json: tuple[model.JsonType, ...]
    summary: str
    unit: str | None
    minimum: int | float | None
    maximum: int | float | None
    pattern: str | None


def read(name: str) -> Any:
    """One document of this folder."""
    return read_document(f"{FOLDER}/{name}.yaml")


def load_kinds() -> dict[str, Kind]:
    """The value types of args, by name; what they are like is filled in."""
    general = load_value_types()
    return {name: _kind(name, row, general) for name, row in read("value_types").items()}


def _kind(name: str, row: Document, general: Mapping[str, ValueType]) -> Kind:
    like = general.get(row.get("like", ""))
    return Kind(
        id=name,
        json=tuple(row["json"]),
        summary=row["summary"],
        unit=row.get("unit", like.unit if like else None),
        minimum=row.get("minimum", like.minimum if like else None),
        maximum=row.get("maximum", like.maximum if like else None),
        pattern=row.get("pattern"),
    )


def load_layers() -> dict[str, model.Layer]:
    """Every layer by its newest name, those of the framework first, then by file name."""
    sources, kinds = load_sources(), load_kinds()
    layers = [
        _layer(
            name.rpartition("/")[2].removesuffix(".yaml"),
            product_catalog().in_full(row),
            sources,
            kinds,
        )
        for name, row in _read_documents(f"{FOLDER}/layers")
    ]
    layers.sort(key=lambda layer: (layer.part != "framework", layer.slug))
    return {layer.name: layer for layer in layers}


def load_flows() -> dict[str, model.FlowKind]:
    """Every kind of arrow by its id."""
    sources = load_sources()
    return {row["flow"]: _flow(row, sources) for row in read("flows")}


def load_forms() -> dict[str, model.WriterForm]:
    """How each writer writes, by its id."""
    sources = load_sources()
    return {row["writer"]: _form(row, sources) for row in read("forms")}


def load_pids() -> dict[str, model.PidRule]:
    """The rules of the pid by their ids."""
    sources = load_sources()
    return {
        row["rule"]: model.PidRule(
            rule=row["rule"],
            summary=row["summary"],
            join=row["join"],
            parts=tuple(model.PidPart(**part) for part in row["parts"]),
            grade=best_grade(tuple(row["source"]), sources),
            source=tuple(row["source"]),
            bits=row.get("bits"),
            host_device=row.get("host_device"),
            errata=tuple(row.get("errata", ())),
        )
        for row in read("pids")
    }


def load_files() -> dict[str, files.TimelineFile]:
    """The files that hold a timeline, by their ids."""
    sources = load_sources()
    return {
        row["file"]: files.TimelineFile(
            file=row["file"],
            summary=row["summary"],
            output=row["output"],
            name=_file_name(row["name"]),
            writers=tuple(row["writers"]),
            grade=best_grade(tuple(row["source"]), sources),
            source=tuple(row["source"]),
            sliced=_file_name(row["sliced"]) if "sliced" in row else None,
            errata=tuple(row.get("errata", ())),
        )
        for row in read("files")
    }


def load_keys() -> dict[str, files.EventKey]:
    """The keys of an event, in no order of theirs; what viewers compute is keyed by nothing."""
    return {
        row["key"]: files.EventKey(
            key=row["key"],
            summary=row["summary"],
            unit=row.get("unit"),
            shown_as=tuple(row.get("shown_as", ())),
            required=tuple(row.get("required", ())),
            optional=tuple(row.get("optional", ())),
            errata=tuple(row.get("errata", ())),
        )
        for row in read("keys")
    }


def load_metadata() -> dict[str, files.MetadataEvent]:
    """The events of phase M by name."""
    return {
        row["name"]: files.MetadataEvent(**{**row, "json": tuple(row["json"])})
        for row in read("metadata")
    }


def _file_name(template: str) -> NameForm:
    fields = {
        "timestamp": Field("timestamp", "integer", digits=14),
        "slice": Field("slice", "integer", digits=1),
    }
    return NameForm(
        template, {name: one for name, one in fields.items() if f"{{{name}}}" in template}
    )


def _layer(
    slug: str, row: Document, sources: Mapping[str, Source], kinds: Mapping[str, Kind]
) -> model.Layer:
    source = tuple(row["source"])
    reader = _Reader(row["layer"], source, row.get("fields", {}), sources, kinds, row["families"])
    return model.Layer(
        name=row["layer"],
        slug=slug.replace("_", "-"),
        summary=row["summary"],
        part=row["part"],
        side=row["side"],
        grade=best_grade(source, sources),
        source=source,
        files=tuple(row["files"]),
        writers=tuple(row["writers"]),
        sort_index=row["sort_index"],
        events=tuple(reader.event(one) for one in row["events"]),
        threads=tuple(reader.thread(one) for one in row.get("threads", ())),
        form=reader.name(row["form"], {}) if "form" in row else None,
        names=tuple(
            model.OtherName(one["name"], tuple(one["writers"]), one.get("erratum"))
            for one in row.get("names", ())
        ),
        pids=row.get("pids", {}),
        metadata={writer: tuple(names) for writer, names in row.get("metadata", {}).items()},
        families=tuple(row.get("families", ())),
        levels=tuple(row.get("levels", (0, 1, 2))),
        data=tuple(row["data"]),
        switches=tuple(row.get("switches", ())),
        tables=tuple(row.get("tables", ())),
        shown_in=row.get("shown_in"),
        note=row.get("note"),
        errata=tuple(row.get("errata", ())),
    )


class _Reader:
    """Reads the parts of one layer, which share sources and changing parts of names."""

    def __init__(
        self,
        layer: str,
        source: tuple[str, ...],
        fields: Document,
        sources: Mapping[str, Source],
        kinds: Mapping[str, Kind],
        families: Sequence[str],
    ) -> None:
        self.layer = layer
        self.families = families
        self.source = source
        self.fields = fields
        self.sources = sources
        self.kinds = kinds

    def grade(self, source: tuple[str, ...]) -> Grade:
        return best_grade(source, self.sources)

    def name(self, template: str, fields: Document) -> NameForm:
        """A name; its parts are described beside it, or for the whole layer."""
        known = {**self.fields, **fields}
        return NameForm(
            template,
            {part: _field(part, known.get(part, {})) for part in NameForm.parts_of(template)},
        )

    def event(self, row: Document) -> model.EventKind:
        source = tuple(row.get("source", self.source))
        fields = row.get("fields", {})
        return model.EventKind(
            kind=row["event"],
            layer=self.layer,
            phase=row["phase"],
            name=self.name(row["name"], fields),
            summary=row["summary"],
            grade=self.grade(source),
            source=source,
            cat=row.get("cat"),
            id=self.name(row["id"], fields) if "id" in row else None,
            args=tuple(self.arg(one, fields, source) for one in row.get("args", ())),
            thread=row.get("thread"),
            keys={writer: tuple(keys) for writer, keys in row.get("keys", {}).items()},
            unordered=tuple(row.get("unordered", ())),
            bare_ts=tuple(row.get("bare_ts", ())),
            yields_to=tuple(row.get("yields_to", ())),
            tables=tuple(row.get("tables", ())),
            families=tuple(one for one in row.get("families", ()) if one in self.families),
            levels=tuple(row.get("levels", (0, 1, 2))),
            writers=tuple(row.get("writers", ())),
            documented_as=tuple(row.get("documented_as", ())),
            when=row.get("when"),
            errata=tuple(row.get("errata", ())),
        )

    def arg(self, row: Document, fields: Document, source: tuple[str, ...]) -> model.Arg:
        kind = self.kinds[row["type"]]
        own = tuple(row.get("source", source))
        return model.Arg(
            name=self.name(row["arg"], {**fields, **row.get("fields", {})}),
            type=kind.id,
            json=kind.json,
            summary=row["summary"],
            grade=self.grade(own),
            source=own,
            unit=kind.unit,
            minimum=kind.minimum,
            maximum=kind.maximum,
            pattern=kind.pattern,
            values=tuple(row.get("values", ())),
            none=tuple(row.get("none", ())),
            required=row.get("required", True),
            many=row.get("many", False),
            writers=tuple(row.get("writers", ())),
            documented_as=tuple(row.get("documented_as", ())),
            tells=row.get("tells"),
            errata=tuple(row.get("errata", ())),
        )

    def thread(self, row: Document) -> model.Thread:
        index = row.get("sort_index")
        name = row["name"]
        return model.Thread(
            thread=row["thread"],
            name=None if name is None else self.name(name, row.get("fields", {})),
            tid=tuple(row["tid"]),
            summary=row["summary"],
            sort_index=None if index is None else tuple(index),
            writers=tuple(row.get("writers", ())),
            files=tuple(row.get("files", ())),
            documented_as=tuple(row.get("documented_as", ())),
            errata=tuple(row.get("errata", ())),
        )


def _field(name: str, row: Document) -> Field:
    return Field(
        name=name,
        kind=row.get("kind", "text"),
        values=tuple(row.get("values", ())),
        digits=row.get("digits"),
        summary=row.get("summary", ""),
    )


def _flow(row: Document, sources: Mapping[str, Source]) -> model.FlowKind:
    source = tuple(row["source"])
    fields = {"id": Field("id", "integer", summary="The id of the flow.")}
    return model.FlowKind(
        flow=row["flow"],
        part=row["part"],
        cat=row["cat"],
        name=NameForm(row["name"], fields if "{id}" in row["name"] else {}),
        summary=row["summary"],
        start=_flow_end(row["start"]),
        end=_flow_end(row["end"]),
        ids=tuple(_flow_ids(row["ids"])),
        grade=best_grade(source, sources),
        source=source,
        many_ends=row.get("many_ends", False),
        errata=tuple(row.get("errata", ())),
    )


def _flow_end(row: Document) -> model.FlowEnd:
    return model.FlowEnd(
        at={layer: tuple(kinds) for layer, kinds in row["at"].items()},
        when=row["when"],
        on_slice=row.get("on_slice", True),
        bp=tuple(row.get("bp", ())),
        keys={writer: tuple(keys) for writer, keys in row.get("keys", {}).items()},
    )


def _flow_ids(rows: Iterable[Document]) -> Iterator[model.FlowId]:
    for row in rows:
        yield model.FlowId(
            writers=tuple(row["writers"]),
            json=row["json"],
            parts=tuple(
                model.FlowIdPart(part["of"], part.get("shift", 0)) for part in row["parts"]
            ),
            missing=row.get("missing", {}),
            erratum=row.get("erratum"),
        )


def _form(row: Document, sources: Mapping[str, Source]) -> model.WriterForm:
    source = tuple(row["source"])
    device = {"deviceId": Field("deviceId", "integer")}
    return model.WriterForm(
        writer=row["writer"],
        summary=row["summary"],
        engines=tuple(row["engines"]),
        item_separator=row["item_separator"],
        key_separator=row["key_separator"],
        escapes_unicode=row["escapes_unicode"],
        pid=row["pid"],
        labels={
            side: NameForm(label, device if "{deviceId}" in label else {})
            for side, label in row["labels"].items()
        },
        types={key: tuple(types) for key, types in row["types"].items()},
        parts={
            part: model.PartForm(
                keys={phase: tuple(keys) for phase, keys in how["keys"].items()},
                empty_args=how["empty_args"],
            )
            for part, how in row["parts"].items()
        },
        grade=best_grade(source, sources),
        source=source,
        first_free=row.get("first_free"),
        pruned=tuple(row.get("pruned", ())),
        errata=tuple(row.get("errata", ())),
    )
