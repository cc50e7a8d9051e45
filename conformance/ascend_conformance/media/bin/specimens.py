"""Clean files of every kind, as the simulator writes them: the subjects of the self-test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ascend_ref.bin import Block, canonical, parse, to_bytes
from ascend_ref.bin.records import cache_payload, read_cache_records
from ascend_simulator.operator import simulate_kernel
from ascend_simulator.operator.scenario import override, preset

PRESETS: Mapping[str, str] = {
    "vector": "vector-add",
    "cube": "matmul",
    "mix": "matmul-leakyrelu",
    "310P": "310p-matmul",
    "950": "950-mix",
    "every-block": "museum",
    "simulator": "simulated-add",
}
"""By the name of the subject, the preset of ``ascend-ref kernel`` that it is a small run of."""

BLOCK_DIM = 2
CACHE_LINES = 32
"""Cache lines that are kept: a cache has thousands, all alike to the rules."""


def clean_file(subject: str) -> bytes:
    """A small file without any finding. Raises ``KeyError`` for an unknown subject."""
    scenario = override(preset(PRESETS[subject]), block_dim=BLOCK_DIM)
    return to_bytes(map(_shortened, simulate_kernel(scenario).blocks()))


def _shortened(block: Block) -> Block:
    if block.type == 0x0B:
        records = read_cache_records(block.payload)[:CACHE_LINES]
        return replace(block, payload=bytes(cache_payload(records)))
    if block.type == 0x0E:
        payload: dict[str, Any] = parse(block.payload)
        kept = {key: lines[:CACHE_LINES] for key, lines in payload.items()}
        return replace(block, payload=canonical(kept))
    return block
