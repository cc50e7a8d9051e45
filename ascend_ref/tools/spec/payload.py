"""The JSON of a block type of ``visualize_data.bin`` as JSON Schema."""

from __future__ import annotations

import json

from ascend_spec.bin import BinCatalog, BlockType, Epoch
from ascend_spec.core.dialect import exported


def export_payload_schema(bins: BinCatalog, block: BlockType, epoch: Epoch) -> str:
    """JSON Schema 2020-12 of the payload of a block type at an epoch.

    Units, errata and references stand in ``x-`` annotations, which validators ignore. Objects may
    hold further keys. Raises ``KeyError`` for a block type without JSON.
    """
    schema = exported(bins.payload_schema(block.code, epoch.id))
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def payload_file_name(block: BlockType, epoch: Epoch) -> str:
    """``ascend-bin-08-memory-heat-map-E3.schema.json``."""
    return f"ascend-bin-{block.code:02X}-{block.slug}-{epoch.id}.schema.json"
