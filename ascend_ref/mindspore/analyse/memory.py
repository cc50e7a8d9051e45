"""Analysers of memory: of one device what its graphs took, of all ranks the most that each took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_spec.mindspore import Analyser

from .cells import ObjectColumn
from .condition import Condition, WrongCondition
from .files import Folder
from .query import Rows
from .ranks import absent, mapping, number, rank_of
from .steps import TABLE as STEPS

SUMMARY, DETAILS = "memory_usage_summary", "memory_usage_details"
PARTS = "breakdowns"


def answer_memory(folder: Folder, condition: Condition) -> dict[str, Any]:
    """The summary, the graphs without their parts, or the parts of one graph at one node.

    Raises :class:`WrongCondition` for a graph or a node that is not there.
    """
    match condition.switch("show"):
        case "summary":
            return {"summary": folder.object(SUMMARY)}
        case "graphics":
            return _graphs(folder)
        case "ranks":
            return {
                f"device{one.device}": {"summary": one.object(SUMMARY), "details": _of_rank(one)}
                for one in folder.of_ranks(SUMMARY)
            }
    wanted, node = condition.switch("graph_id"), condition.switch("node_id")
    graphs = map(mapping, folder.object(DETAILS).values())
    found = [one for one in graphs if str(one.get("graph_id")) == str(wanted)]
    if not found:
        raise WrongCondition(f"graph_id: there is no graph {wanted}", "parameter-value")
    parts = found[0].get(PARTS)
    if not isinstance(parts, list) or node >= len(parts):
        most = len(parts) - 1 if isinstance(parts, list) and parts else None
        text = "none has parts" if most is None else f"the number must be in [0, {most}]"
        raise WrongCondition(f"node_id: {text}, got {node}", "parameter-value")
    return {PARTS: parts[node]}


def _of_rank(folder: Folder) -> dict[str, Any]:
    if folder.find(DETAILS) is None:
        absent(folder, DETAILS)
    return _graphs(folder)


def _graphs(folder: Folder) -> dict[str, Any]:
    return {
        name: {key: value for key, value in one.items() if key != PARTS}
        if isinstance(one, Mapping)
        else one
        for name, one in folder.object(DETAILS).items()
    }


def load_peaks(folder: Folder, analyser: Analyser, day: str) -> Rows:
    """What each rank has and the most it took."""
    rows = []
    for one in folder.of_ranks(STEPS):
        path = one.find(SUMMARY)
        if path is None:
            absent(one, SUMMARY)
            continue
        document = one.object_in(path, SUMMARY)
        if document is None:
            continue
        values = [document.get(name) for name in ("capacity", "peak_mem")]
        if any(isinstance(value, str) or number(value) is None for value in values):
            absent(one, SUMMARY, "no numbers capacity and peak_mem")
            continue
        rows.append([rank_of(one), *values])
    shown = analyser.columns_on(day)
    columns = {
        one.name: ObjectColumn([row[place] for row in rows]) for place, one in enumerate(shown)
    }
    return Rows(analyser, day, shown, columns)
