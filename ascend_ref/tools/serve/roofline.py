"""The rooflines: ``source/details/roofline``, block 0x0D."""

from __future__ import annotations

from typing import Any

from .answer import Body
from .base_info import BASE_INFO_TYPE
from .blocks import Blocks
from .values import items, member, text, texts

ROOFLINE_TYPE = 0x0D

FIGURES = {
    "bw": "bw",
    "bwName": "bw_name",
    "computility": "computility",
    "computilityName": "computility_name",
    "ratio": "ratio",
}


def roofline(blocks: Blocks) -> Body:
    """The body of ``source/details/roofline``; empty without a readable 0x0D and 0x05."""
    document = blocks.details(ROOFLINE_TYPE)
    charts = member(document, "multiple_rooflines")
    base_info = blocks.native(BASE_INFO_TYPE)
    if not isinstance(charts, list) or not isinstance(base_info, dict):
        return {"soc": "", "advice": "", "data": []}
    return {
        "soc": text(base_info.get("soc")),
        "advice": text(document.get("advice")),
        "data": [
            {
                "title": text(member(chart, "title")),
                "rooflines": [_line(line) for line in items(member(chart, "rooflines"))],
            }
            for chart in charts
        ],
    }


def _line(line: Any) -> Body:
    point = texts(member(line, "point"))
    figures = {shown: text(member(line, key)) for shown, key in FIGURES.items()}
    return {**figures, "point": point if len(point) == 2 else []}
