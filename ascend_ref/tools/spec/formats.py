"""The formats that the spec is exported in, by the name that the command gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ascend_spec import Schema

from .c_header import export_c_header
from .ddl import export_ddl
from .json_schema import export_json_schema
from .markdown import export_markdown


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the function that writes it and the ending of its file names."""

    write: Callable[[Schema], str]
    ending: str


FORMATS: Mapping[str, Format] = {
    "json-schema": Format(export_json_schema, ".schema.json"),
    "ddl": Format(export_ddl, ".sql"),
    "c-header": Format(export_c_header, ".h"),
    "markdown": Format(export_markdown, ".md"),
}


def file_name(schema: Schema, chosen: Format) -> str:
    """``ascend-msprof-1.2.0-2026-07.h``; the documented reading is named too."""
    reading = "" if schema.reading == "observed" else f"-{schema.reading}"
    return f"ascend-{schema.carrier}-{schema.revision.id}{reading}{chosen.ending}"
