"""Analysers of operations: of one device their sums and by scope, of all ranks their sums."""

from __future__ import annotations

from typing import Any

from ascend_spec.mindspore import Analyser

from .cells import ObjectColumn
from .condition import Condition
from .files import Folder
from .query import Rows
from .ranks import RANK, absent, number, rank_of
from .steps import TABLE as STEPS

SUMMARY, SCOPES, DETAILS = "flops_summary", "flops_scope", "flops"
NORM = "FLOPs_norm"
ALL, CUBES, VECTORS = "FLOPs", "cube_FLOPs", "vec_FLOPs"
PER_SECOND = ("FLOPS", "cube_FLOPS", "vec_FLOPS")


def answer_flops(folder: Folder, condition: Condition) -> dict[str, Any]:
    """The sums, the scopes, or the sums and operators of all ranks."""
    match condition.switch("show"):
        case "summary":
            return folder.object(SUMMARY)
        case "scope":
            return folder.object(SCOPES)
    return {f"device{one.device}": _of_rank(one) for one in folder.of_ranks(SUMMARY)}


def _of_rank(folder: Folder) -> dict[str, Any]:
    found: dict[str, Any] = {"summary": folder.object(SUMMARY)}
    cells = folder.cells(DETAILS)
    if cells is not None:
        lists = {name: texts.to_pylist() for name, texts in cells.columns.items()}
        found["details"] = [
            {name: _cell(cells[place]) for name, cells in lists.items()}
            for place in range(len(cells.lines))
        ]
    return found


def _cell(text: str) -> Any:
    value = number(text)
    return text if value is None else value


def load_sums(folder: Folder, analyser: Analyser, day: str) -> Rows:
    """The sums of each rank that has some, and its part of those of the rank with most."""
    rows = []
    for one in folder.of_ranks(STEPS):
        path = one.find(SUMMARY)
        held = None if path is None else one.object_in(path, SUMMARY)
        if held is None:
            continue
        values = {name: held[name] for name in _names(analyser) if name in held}
        bad = [name for name, value in values.items() if isinstance(value, str) or not _is(value)]
        if bad or not (ALL in values or {CUBES, VECTORS} <= values.keys()):
            what = " and ".join(bad) or f"{ALL}, or {CUBES} and {VECTORS}"
            absent(one, SUMMARY, f"no number {what}")
            continue
        if not values.get(ALL) and {CUBES, VECTORS} <= values.keys():
            values[ALL] = values[CUBES] + values[VECTORS]
        rows.append({RANK: rank_of(one), **values})
    most = max((row[ALL] for row in rows), default=0)
    for row in rows:
        row[NORM] = row[ALL] / most if most else None
    shown = analyser.columns_on(day)
    columns = {one.name: ObjectColumn([row.get(one.name) for row in rows]) for one in shown}
    return Rows(analyser, day, shown, columns)


def per_second(row: dict[str, Any]) -> float | None:
    """Operations in a second, of a row; ``None`` where it has none."""
    whole, cubes, vectors = (row.get(name) for name in PER_SECOND)
    if whole:
        return float(whole)
    if cubes is not None and vectors is not None:
        return float(cubes + vectors)
    return None if whole is None else float(whole)


def _names(analyser: Analyser) -> list[str]:
    return [name for one in analyser.columns for name in one.takes]


def _is(value: Any) -> bool:
    return number(value) is not None
