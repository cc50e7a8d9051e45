"""The memory heat map of a block: ``source/details/memoryGraph``, block 0x08."""

from __future__ import annotations

from .answer import Answer, Body
from .differences import difference, whole_difference
from .payloads import body, elements_of, empty_element
from .question import Question

GRAPH_TYPE = 0x08

BODY = "memoryGraphBody"
UNITS = ("l2Cache", "vector", "vector1", "cube")
"""Members whose figures are compared one by one."""


def memory_graph(asked: Question) -> Answer:
    """The answer to ``source/details/memoryGraph``: no elements where none has that ``core_no``.

    A payload without ``core_memory_map`` fails, without an error. In compare mode advice is gone
    and what only the baseline has is kept, its compare half empty. Of a path without a baseline
    the viewer's ``display`` is left to chance; ours is false.
    """
    block_id, baseline = asked.params["blockId"], asked.baseline
    elements = elements_of(asked.blocks, GRAPH_TYPE, BODY, block_id)
    if elements is None:
        return Answer({"coreMemory": []}, result=False)
    beside = elements_of(baseline, GRAPH_TYPE, BODY, block_id) if baseline else None
    if beside is not None:
        elements = _merged(elements, beside)
    return Answer({"coreMemory": elements})


def _merged(elements: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {element["blockId"]: element for element in elements}
    for other in baseline:
        block_id = other["blockId"]
        element = merged.setdefault(
            block_id,
            {
                **empty_element(BODY),
                "blockId": block_id,
                "blockType": other["blockType"],
                "chipType": other["chipType"],
            },
        )
        element["advice"] = []
        for key in UNITS:
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
            nothing = body("memoryUnit", None)
            path = {"compare": nothing, "diff": nothing}
            merged[beside["memoryPath"]] = path
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
