"""The operator and its blocks: ``source/details/baseInfo``, block 0x05."""

from __future__ import annotations

from typing import Any

from .answer import Answer, Body, failure
from .blocks import Blocks
from .values import items, member, text, texts

BASE_INFO_TYPE = 0x05

FIGURES = {
    "name": "name",
    "soc": "soc",
    "opType": "op_type",
    "blockDim": "block_dim",
    "mixBlockDim": "mix_block_dim",
    "duration": "duration",
    "deviceId": "device_id",
    "pid": "pid",
}


def base_info(blocks: Blocks, baseline: Blocks | None) -> Answer:
    """The answer to ``source/details/baseInfo``; empty values without the block.

    A payload that is no JSON object fails; one of the baseline only leaves its half empty.
    """
    compare = _base_info(blocks)
    beside = _base_info(baseline) if baseline else None
    body = {"compare": compare or _figures({}), "baseline": beside or _figures({})}
    if compare is None:
        return Answer(body, result=False, error=failure("unspecified", "block 0x05 is not JSON"))
    return Answer(body)


def _base_info(blocks: Blocks) -> Body | None:
    if blocks.is_empty(BASE_INFO_TYPE):
        return _figures({})
    document = blocks.details(BASE_INFO_TYPE)
    return _figures(document) if isinstance(document, dict) else None


def _figures(document: Body) -> Body:
    """The advice of the file is not passed on. A list instead of a table shows no rows."""
    is_mix = text(document.get("op_type")) == "mix" and "mix_block_detail" in document
    table = document.get("mix_block_detail" if is_mix else "block_detail")
    return {
        **{shown: text(document.get(key)) for shown, key in FIGURES.items()},
        "blockDetail": _table(table),
        "advice": [],
    }


def _table(table: Any) -> Body:
    return {
        "headerName": texts(member(table, "head_name")),
        "size": texts(member(table, "size")),
        "row": [{"value": texts(member(row, "value"))} for row in items(member(table, "row"))],
    }
