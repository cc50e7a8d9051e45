"""Load of the compute units: ``source/details/computeworkload``, blocks 0x06 and 0x07."""

from __future__ import annotations

from typing import Any

from ascend_spec import bin_catalog, per_spec

from .answer import Answer, Body
from .blocks import Blocks
from .differences import difference
from .values import integer, member, text, texts

CHART_TYPE, TABLE_TYPE = 0x06, 0x07

NO_VALUE = "-"

Figure = dict[str, str]
Compared = dict[str, Figure]


def compute_load(blocks: Blocks, baseline: Blocks | None) -> Answer:
    """The answer to ``source/details/computeworkload``.

    Without both blocks it fails, without an error. In compare mode only figures of the file itself
    are shown, each once, and no advice. The viewer's order of blocks, and of figures in compare
    mode, is that of a hash table; ours is the file's.
    """
    if blocks.is_empty(CHART_TYPE) and blocks.is_empty(TABLE_TYPE):
        empty: Body = {"detailDataList": [], "advice": []}
        body = {"blockIdList": [], "chartData": empty, "tableData": empty}
        return Answer(body, result=False)
    parts = {"chartData": _part(blocks, CHART_TYPE), "tableData": _part(blocks, TABLE_TYPE)}
    ids = [figure["compare"]["blockId"] for part in parts.values() for figure in part[0]]
    has_baseline = baseline is not None and not (
        baseline.is_empty(CHART_TYPE) and baseline.is_empty(TABLE_TYPE)
    )
    if has_baseline and baseline is not None:
        parts = {
            "chartData": (_merged(parts["chartData"][0], _part(baseline, CHART_TYPE)[0]), []),
            "tableData": (_merged(parts["tableData"][0], _part(baseline, TABLE_TYPE)[0]), []),
        }
    shown = {
        name: {"detailDataList": figures, "advice": advice}
        for name, (figures, advice) in parts.items()
    }
    return Answer({"blockIdList": list(dict.fromkeys(ids)), **shown})


def _part(blocks: Blocks, code: int) -> tuple[list[Compared], list[str]]:
    document = blocks.details(code)
    if not isinstance(member(document, "subblock_detail"), list):
        return [], []
    figures = [_figure(entry) for entry in document["subblock_detail"]]
    nothing = {"blockId": "", "blockType": "", "name": "", "unit": "", **_values(NO_VALUE)}
    compared = [
        {"compare": figure, "baseline": dict(nothing), "diff": dict(nothing)} for figure in figures
    ]
    return compared, texts(member(document, "advice"))


@per_spec
def _unit_labels() -> dict[int | str, str]:
    """What the viewer shows for the unit codes."""
    return {unit.value: unit.label or "" for unit in bin_catalog().enums["units"].members}


def _figure(entry: Any) -> Figure:
    return {
        "blockId": text(member(entry, "block_id")),
        "blockType": text(member(entry, "block_type")),
        "name": text(member(entry, "name")),
        "unit": _unit_labels().get(integer(member(entry, "unit")), ""),
        "value": text(member(entry, "value")),
        "originValue": text(member(entry, "origin_value")),
    }


def _values(value: str) -> Figure:
    return {"value": value, "originValue": value}


def _merged(figures: list[Compared], baseline: list[Compared]) -> list[Compared]:
    merged: dict[tuple[str, str, str], Compared] = {}
    for compared in figures:
        figure = compared["compare"]
        nothing = {**figure, **_values(NO_VALUE)}
        merged[_key(figure)] = {"compare": figure, "baseline": nothing, "diff": dict(nothing)}
    for compared in baseline:
        other = compared["compare"]
        found = merged.get(_key(other))
        if found:
            found["baseline"] = other
            found["diff"] = {
                **other,
                "value": difference(found["compare"]["value"], other["value"]),
                "originValue": difference(found["compare"]["originValue"], other["originValue"]),
            }
    return list(merged.values())


def _key(figure: Figure) -> tuple[str, str, str]:
    return figure["blockId"], figure["blockType"], figure["name"]
