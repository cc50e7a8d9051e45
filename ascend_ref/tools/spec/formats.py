"""The formats that the spec is exported in, by the name that the command gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascend_spec import Schema


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the module of this folder that writes it, and the ending of its file names."""

    module: str
    ending: str

    def write(self, schema: Schema) -> str:
        """The text of a schema, by the function ``export_MODULE``."""
        module = import_module(f".{self.module}", __package__)
        text: str = getattr(module, f"export_{self.module}")(schema)
        return text


FORMATS: Mapping[str, Format] = {
    "json-schema": Format("json_schema", ".schema.json"),
    "ddl": Format("ddl", ".sql"),
    "c-header": Format("c_header", ".h"),
    "markdown": Format("markdown", ".md"),
}
JSON_SCHEMA = next(iter(FORMATS))


def file_name(schema: Schema, chosen: Format) -> str:
    """``ascend-msprof-1.2.0-2026-07.h``; the documented reading is named too."""
    reading = "" if schema.reading == "observed" else f"-{schema.reading}"
    return f"ascend-{schema.carrier}-{schema.revision.id}{reading}{chosen.ending}"
