"""What ascend-ref exchanges with programs under test: messages and files, as JSON Schema."""

from __future__ import annotations

from typing import Any

from ascend_spec.core.dialect import DIALECT, compile_schema
from ascend_spec.spec import current

from .calls import call_forms

CALLS = "life-cycle-protocol"
EXCHANGED = ("exporter-protocol", "expected-failures", CALLS)


def exchange_schema(name: str) -> dict[str, Any]:
    """JSON Schema 2020-12 of one of :data:`EXCHANGED`. Raises ``KeyError`` for another name."""
    if name not in EXCHANGED:
        raise KeyError(f"unknown exchange {name!r}; known: {', '.join(EXCHANGED)}")
    source = current().folder.read(f"exchange/{name}.schema.yaml")
    if name == CALLS:
        forms = call_forms(current().ge.functions.values())
        refs = [{"$ref": f"#/$defs/{one}"} for one in forms]
        source = {
            **source,
            "anyOf": [*refs, *source["anyOf"]],
            "$defs": {**forms, **source["$defs"]},
        }
    schema = compile_schema(source, source.get("$defs", {}), lambda _: True)
    return {"$schema": DIALECT, "$id": f"urn:ascend-ref:exchange:{name}", **schema}
