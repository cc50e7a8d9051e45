"""Load of the compute units: ``source/details/computeworkload``, blocks 0x06 and 0x07."""

from __future__ import annotations

from ascend_spec import bin_catalog, per_spec

from .answer import Answer, Body
from .blocks import Blocks
from .differences import difference
from .payloads import body
from .question import Question
from .values import integer, member

PARTS = {"chartData": 0x06, "tableData": 0x07}

NO_VALUE = "-"
NOTHING = {"value": NO_VALUE, "originValue": NO_VALUE}
"""Of a figure without a baseline."""

Figure = dict[str, str]
Compared = dict[str, Figure]


def compute_load(asked: Question) -> Answer:
    """The answer to ``source/details/computeworkload``.

    Without both blocks it fails, without an error. In compare mode only figures of the file itself
    are shown, each once, and no advice. The viewer's order of blocks, and of figures in compare
    mode, is that of a hash table; ours is the file's.
    """
    blocks, baseline = asked.blocks, asked.baseline
    if all(map(blocks.is_empty, PARTS.values())):
        return Answer(body("computeWorkloadBody", None), result=False)
    parts = {name: _part(blocks, code) for name, code in PARTS.items()}
    ids = [one["compare"]["blockId"] for part in parts.values() for one in part["detailDataList"]]
    if baseline is not None and not all(map(baseline.is_empty, PARTS.values())):
        for name, code in PARTS.items():
            beside = _part(baseline, code)["detailDataList"]
            parts[name] = {
                "detailDataList": _merged(parts[name]["detailDataList"], beside),
                "advice": [],
            }
    return Answer({"blockIdList": list(dict.fromkeys(ids)), **parts})


def _part(blocks: Blocks, code: int) -> Body:
    document = blocks.details(code)
    figures = member(document, "subblock_detail")
    if not isinstance(figures, list):
        return body("workload", None)
    labelled = [
        {
            **(figure if isinstance(figure, dict) else {}),
            "unit": _unit_labels().get(integer(member(figure, "unit")), ""),
        }
        for figure in figures
    ]
    part = body("workload", {**document, "subblock_detail": labelled})
    for compared in part["detailDataList"]:
        compared["baseline"] |= NOTHING
        compared["diff"] |= NOTHING
    return part


@per_spec
def _unit_labels() -> dict[int | str, str]:
    """What the viewer shows for the unit codes."""
    return {unit.value: unit.label or "" for unit in bin_catalog().enums["units"].members}


def _merged(figures: list[Compared], baseline: list[Compared]) -> list[Compared]:
    merged: dict[tuple[str, str, str], Compared] = {}
    for compared in figures:
        figure = compared["compare"]
        nothing = figure | NOTHING
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
