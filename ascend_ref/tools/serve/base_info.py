"""The operator and its blocks: ``source/details/baseInfo``, block 0x05."""

from __future__ import annotations

from .answer import Answer, Body, failure
from .blocks import Blocks
from .payloads import body
from .question import Question
from .values import text

BASE_INFO_TYPE = 0x05


def base_info(asked: Question) -> Answer:
    """The answer to ``source/details/baseInfo``; empty values without the block.

    A payload that is no JSON object fails; one of the baseline only leaves its half empty.
    """
    compare = _base_info(asked.blocks)
    beside = _base_info(asked.baseline) if asked.baseline else None
    nothing = body("baseInfo", None)
    answer = {"compare": compare or nothing, "baseline": beside or nothing}
    if compare is None:
        return Answer(answer, result=False, error=failure("unspecified", "block 0x05 is not JSON"))
    return Answer(answer)


def _base_info(blocks: Blocks) -> Body | None:
    """The advice of the file is not passed on. A list instead of a table shows no rows."""
    if blocks.is_empty(BASE_INFO_TYPE):
        return body("baseInfo", None)
    document = blocks.details(BASE_INFO_TYPE)
    if not isinstance(document, dict):
        return None
    is_mix = text(document.get("op_type")) == "mix" and "mix_block_detail" in document
    table = document.get("mix_block_detail" if is_mix else "block_detail")
    return body("baseInfo", {**document, "block_detail": table})
