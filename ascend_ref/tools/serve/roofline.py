"""The rooflines: ``source/details/roofline``, block 0x0D."""

from __future__ import annotations

from .answer import Body
from .base_info import BASE_INFO_TYPE
from .payloads import body
from .question import Question
from .values import member, text

ROOFLINE_TYPE = 0x0D


def roofline(asked: Question) -> Body:
    """The body of ``source/details/roofline``; empty without a readable 0x0D and 0x05."""
    document = asked.blocks.details(ROOFLINE_TYPE)
    charts = member(document, "multiple_rooflines")
    base_info = asked.blocks.native(BASE_INFO_TYPE)
    if not isinstance(charts, list) or not isinstance(base_info, dict):
        return body("rooflineBody", None)
    answer = body("rooflineBody", document)
    for line in (line for chart in answer["data"] for line in chart["rooflines"]):
        line["point"] = line["point"] if len(line["point"]) == 2 else []
    return {**answer, "soc": text(base_info.get("soc"))}
