"""Documents in JSON that the graph engine's profiling takes, or that stand for its graphs."""

from __future__ import annotations

from typing import Any

from ascend_spec.core import Loader
from ascend_spec.core.dialect import DIALECT, compile_schema

GE_SCHEMAS = ("profiling_options", "graph", "tasks")
"""``ge.exec.profilingOptions``, what goes into the insertion, and what comes out of it."""


def ge_schema(documents: Loader, name: str) -> dict[str, Any]:
    """JSON Schema 2020-12 of one of :data:`GE_SCHEMAS`; nodes keep ``unit`` and ``maxBytes``.

    Raises ``KeyError`` for another name.
    """
    if name not in GE_SCHEMAS:
        raise KeyError(f"unknown document {name!r}; known: {', '.join(GE_SCHEMAS)}")
    source = documents.folder.read(f"ge/{name}.schema.yaml")
    schema = compile_schema(source, source.get("$defs", {}), lambda _: True)
    return {"$schema": DIALECT, "$id": f"urn:ascend-ref:ge:{name}", **schema}
