"""The JSON of a block type of ``visualize_data.bin`` as JSON Schema."""

from __future__ import annotations

import json
from typing import Any

from ascend_spec.bin import BinCatalog, BlockType, Epoch

ANNOTATIONS = frozenset({"unit", "erratum", "advisory", "references", "maxBytes", "source"})


def export_payload_schema(bins: BinCatalog, block: BlockType, epoch: Epoch) -> str:
    """JSON Schema 2020-12 of the payload of a block type at an epoch.

    Units, errata and references stand in ``x-`` annotations, which validators ignore. Objects may
    hold further keys. Raises ``KeyError`` for a block type without JSON.
    """
    schema = annotated(bins.payload_schema(block.code, epoch.id))
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def payload_file_name(block: BlockType, epoch: Epoch) -> str:
    """``ascend-bin-08-memory-heat-map-E3.schema.json``."""
    return f"ascend-bin-{block.code:02X}-{block.slug}-{epoch.id}.schema.json"


def annotated(node: Any) -> Any:
    """A schema with our annotations spelled as the other exports spell theirs."""
    if isinstance(node, list):
        return [annotated(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        f"x-{key}" if key in ANNOTATIONS else key: (
            {name: annotated(one) for name, one in value.items()}
            if key in ("properties", "$defs")
            else annotated(value)
        )
        for key, value in node.items()
    }
