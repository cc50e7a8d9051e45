"""Where the documents of a spec hold the things that have addresses."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Default = Literal["source", "since"]


@dataclass(frozen=True, slots=True)
class Thing:
    """Where things of a kind stand: one in each document of a folder, or in rows of a document.

    ``key`` names a thing in its own document or row; without it rows are a mapping by name, which
    lies under ``within`` where it is not the whole document. ``also``: further documents of such
    rows. ``new``: the folder of a document of a new thing, with the value of a key in braces.
    ``defaults``: what a draft states for a new one that does not state it itself.
    """

    where: str
    key: str | None = None
    within: str | None = None
    also: tuple[str, ...] = ()
    new: str | None = None
    defaults: tuple[Default, ...] = ()

    @property
    def has_documents(self) -> bool:
        """Whether each thing has a document of its own."""
        return not self.where.endswith(".yaml")


@dataclass(frozen=True, slots=True)
class Part:
    """Where parts of a thing stand: in a mapping, or a list, under a key of their owner.

    ``key`` names a part in its row of the list. ``separator`` stands between the names of the
    owner and of the part.
    """

    owner: str
    under: str
    key: str | None
    separator: str = "/"
    defaults: tuple[Default, ...] = ("source",)


SOURCED: tuple[Default, ...] = ("source",)
DATED: tuple[Default, ...] = ("source", "since")

THINGS: Mapping[str, Thing] = {
    "source": Thing("core/sources.yaml", "id"),
    "switch": Thing("core/switches.yaml", "id"),
    "vocabulary": Thing("core/words.yaml", "id", defaults=SOURCED),
    "value-type": Thing(
        "core/value_types.yaml", also=("text/value_types.yaml", "timeline/value_types.yaml")
    ),
    "product": Thing("products/families", "product"),
    "data": Thing("products/matrix.yaml", within="data"),
    "capability": Thing("products/capabilities.yaml", "id"),
    "revision": Thing("db/revisions.yaml", "id"),
    "table": Thing("db/tables", "table", new="db/tables/{writer}", defaults=DATED),
    "enum": Thing("db/enums", "enum", new="db/enums", defaults=SOURCED),
    "cluster-table": Thing("cluster/database.yaml", within="tables"),
    "writer": Thing("text/writers.yaml", "id", defaults=SOURCED),
    "csv": Thing("text/csv", "file", new="text/csv", defaults=SOURCED),
    "timeline": Thing("timeline/files.yaml", "file", defaults=SOURCED),
    "layer": Thing("timeline/layers", "layer", new="timeline/layers", defaults=SOURCED),
    "flow": Thing("timeline/flows.yaml", "flow", defaults=SOURCED),
    "trace-key": Thing("timeline/keys.yaml", "key"),
    "pid-rule": Thing("timeline/pids.yaml", "rule", defaults=SOURCED),
    "entity": Thing("recording", "entity", new="recording"),
    "layout": Thing("layout", "producer"),
    "block": Thing("bin/blocks.yaml", "code"),
    "epoch": Thing("bin/epochs.yaml", "id"),
    "raw": Thing("raw/files.yaml", "file"),
    "chip": Thing("raw/chips.yaml", "id"),
    "mindspore": Thing("mindspore/files.yaml", "file"),
    "mindspore-generation": Thing("mindspore/generations.yaml", "id"),
    "ge-option": Thing("ge/options.yaml", "option"),
    "command": Thing("api/commands.yaml", "command"),
    "event": Thing("api/events.yaml", "event"),
    "error": Thing("api/errors.yaml", "code"),
    "generation": Thing("api/generations.yaml", "id"),
    "erratum": Thing(
        "db/errata.yaml",
        "id",
        also=tuple(
            f"{family}/errata.yaml"
            for family in ("text", "products", "bin", "raw", "mindspore", "ge", "api")
        ),
    ),
    "metric": Thing("text/pmu.yaml", within="metrics"),
    "counter-group": Thing("text/pmu.yaml", within="groups"),
    "trace-form": Thing("timeline/forms.yaml", "writer"),
    "values": Thing("bin/enums.yaml"),
    "raw-values": Thing("raw/vocabularies.yaml"),
    "intermediate": Thing("mindspore/tables", "table"),
    "mindspore-values": Thing("mindspore/vocabularies.yaml"),
    "analyser": Thing("mindspore/analysers.yaml", "analyser"),
    "refusal": Thing("mindspore/refusals.yaml", "refusal"),
    "ge-variable": Thing("ge/environment.yaml", "variable"),
    "ge-call": Thing("ge/functions.yaml", "function"),
    "ge-code": Thing("ge/codes.yaml", "name"),
    "ge-state": Thing("ge/states.yaml", "state"),
    "ge-component": Thing("ge/components.yaml", "component"),
    "ge-layer": Thing("ge/layers.yaml", "title"),
    "data-type": Thing("ge/data_types.yaml", "name"),
    "profiling-type": Thing("ge/profiling_types.yaml", "name"),
    "switch-bit": Thing("ge/switch_bits.yaml", "bit"),
    "aic-metric": Thing("ge/metrics.yaml", "metric"),
    "executor": Thing("ge/executors.yaml", "executor"),
    "insertion": Thing("ge/insertion.yaml", "step"),
    "dump-message": Thing("ge/messages.yaml", "message"),
    "ge-dump": Thing("ge/dumps.yaml", "dump"),
}
"""Kinds whose things stand on their own."""

PARTS: Mapping[str, Part] = {
    "column": Part("table", "columns", None, ".", DATED),
    "member": Part("enum", "members", "id", "/", DATED),
    "header": Part("csv", "columns", "name"),
    "trace-event": Part("layer", "events", "event"),
    "argument": Part("trace-event", "args", "arg"),
}
"""Kinds of parts; an owner stands before its parts."""

KINDS = (*THINGS, *PARTS)

FOLDERS_OF_WRITERS: Mapping[str, str] = {"torch_npu": "pytorch"}
"""Folders of tables that are not called like their writer."""

ENUM_TABLES = "db/tables/msprof/enum_tables.yaml"
"""What the tables of enums are like that have no document of their own."""

_BY_NAME = ("core", "db")
_PREFIXES: Mapping[str, str] = {"timeline": "text_timeline", "products": "product"}
_WHOLE: Mapping[str, str] = {
    "db/tables": "table",
    "db/enums": "enum",
    "text/csv": "text_csv",
    "timeline/layers": "text_timeline_layer",
    "recording": "recording_entity",
    "layout": "layout",
    "products/families": "product_family",
    "bin/payloads": "dialect",
    "documents": "dialect",
    "raw/side": "dialect",
}


def vocabularies_of(document: str) -> tuple[str, ...]:
    """The schemas of ``vocabulary/`` that may say what a document contains, the best one first."""
    folder, _, name = document.rpartition("/")
    stem = name.removesuffix(".yaml")
    own = stem if folder in _BY_NAME else f"{_PREFIXES.get(folder, folder)}_{stem}"
    whole = [one for place, one in _WHOLE.items() if folder.startswith(place)]
    named = (own, *whole, *(["dialect"] if stem.endswith(".schema") else ()))
    shared = tuple(f"vocabulary/{one}.schema.yaml" for one in named)
    return (f"api/vocabulary/{stem}.schema.yaml", *shared) if folder == "api" else shared


def similar(name: str, known: Iterable[str]) -> str:
    """``; did you mean …`` for a name that does not exist; empty where none is like it."""
    by_name = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name.casefold(), by_name, 1)
    return f"; did you mean {by_name[close[0]]}?" if close else ""
