"""The memory heat map of a block: ``source/details/memoryGraph``, block 0x08."""

from __future__ import annotations

from typing import Any

from .answer import Answer, Body
from .blocks import Blocks
from .differences import difference, whole_difference
from .values import integer, items, member, text, texts

GRAPH_TYPE = 0x08

CACHE = {
    "hitRatio": "hit_ratio",
    "hit": "hit",
    "totalRequest": "total_request",
    "miss": "miss",
}
RATE = {"cycle": "cycle", "totalCycles": "total_cycles", "ratio": "ratio"}
PATH = {
    "request": "request",
    "requestSuffix": "request_suffix",
    "peakRatio": "peak_ratio",
    "bandwidth": "bandwidth",
    "bandwidthSuffix": "bandwidth_suffix",
    "memoryPath": "memory_path",
}
UNITS = {"vector": "Vector", "vector1": "Vector1", "cube": "Cube"}


def memory_graph(blocks: Blocks, block_id: str, baseline: Blocks | None) -> Answer:
    """The answer to ``source/details/memoryGraph``: no elements where none has that ``core_no``.

    A payload without ``core_memory_map`` fails, without an error. In compare mode advice is gone
    and what only the baseline has is kept, its compare half empty. Of a path without a baseline
    the viewer's ``display`` is left to chance; ours is false.
    """
    elements = _elements(blocks, block_id)
    if elements is None:
        return Answer({"coreMemory": []}, result=False)
    beside = _elements(baseline, block_id) if baseline else None
    if beside is not None:
        elements = _merged(elements, beside)
    return Answer({"coreMemory": elements})


def _elements(blocks: Blocks, block_id: str) -> list[Body] | None:
    if blocks.is_empty(GRAPH_TYPE):
        return []
    listed = member(blocks.details(GRAPH_TYPE), "core_memory_map")
    if not isinstance(listed, list):
        return None
    return [_element(item) for item in listed if text(member(item, "core_no")) == block_id]


def _element(element: Any) -> Body:
    return {
        "advice": list(dict.fromkeys(texts(member(element, "advice")))),
        "blockId": text(member(element, "core_no")),
        "l2Cache": _alone(_figures(member(element, "L2cache"), CACHE)),
        "blockType": text(member(element, "op_type")),
        "chipType": text(member(element, "soc")),
        "memoryUnit": [_path(path) for path in items(member(element, "memory_unit"))],
        **{shown: _alone(_figures(member(element, key), RATE)) for shown, key in UNITS.items()},
    }


def _figures(value: Any, keys: dict[str, str]) -> Body:
    return {shown: text(member(value, key)) for shown, key in keys.items()}


def _alone(figures: Body) -> Body:
    nothing = {key: False if isinstance(value, bool) else "" for key, value in figures.items()}
    return {"compare": figures, "baseline": nothing, "diff": dict(nothing)}


def _path(path: Any) -> Body:
    """``display`` is true for the integer 1 and texts that begin with it, not for ``true``."""
    shown = _figures(path, PATH)
    return _alone({**shown, "display": integer(member(path, "display")) == 1})


def _merged(elements: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {element["blockId"]: element for element in elements}
    for other in baseline:
        block_id = other["blockId"]
        element = merged.setdefault(
            block_id,
            {
                **_element({}),
                "blockId": block_id,
                "blockType": other["blockType"],
                "chipType": other["chipType"],
            },
        )
        element["advice"] = []
        for key in ("l2Cache", *UNITS):
            compare, beside = element[key]["compare"], other[key]["compare"]
            diff = {name: difference(compare[name], beside[name]) for name in compare}
            element[key] = {"compare": compare, "baseline": beside, "diff": diff}
        element["memoryUnit"] = _merged_paths(element["memoryUnit"], other["memoryUnit"])
    return list(merged.values())


def _merged_paths(paths: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {path["compare"]["memoryPath"]: path for path in paths}
    for other in baseline:
        beside = other["compare"]
        path = merged.get(beside["memoryPath"])
        if path is None:
            path = merged[beside["memoryPath"]] = _path({})
        else:
            compare = path["compare"]
            path["diff"] = {
                **compare,
                "request": whole_difference(compare["request"], beside["request"]),
                "peakRatio": difference(compare["peakRatio"], beside["peakRatio"]),
                "bandwidth": difference(compare["bandwidth"], beside["bandwidth"]),
            }
        path["baseline"] = beside
    return list(merged.values())
