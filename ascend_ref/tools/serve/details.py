"""The commands ``source/details/*`` about load, memory and rooflines, and the stall reasons.

In compare mode an element of the file stands with the one of the baseline that has its name; of
several elements of one name in a list the last counts.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from typing import Any

from ascend_spec import bin_catalog, per_spec

from .answer import Answer, Body, Question, failure
from .blocks import Blocks
from .schemas import body, elements_of, empty_element
from .values import INT64, NUMBER, UINT64, integer, is_integer, items, member, text

BASE_INFO_TYPE = 0x05
LOAD_TYPES = {"chartData": 0x06, "tableData": 0x07}
GRAPH_TYPE, GRAPH = 0x08, "memoryGraphBody"
TABLE_TYPE, TABLE = 0x09, "memoryTableBody"
ROOFLINE_TYPE = 0x0D
STALLS_TYPE = 0x0F

UNITS = ("l2Cache", "vector", "vector1", "cube")
"""Members of a memory graph whose figures are compared one by one."""

NO_VALUE = "-"
NOTHING = {"value": NO_VALUE, "originValue": NO_VALUE}
"""Of a figure of the load without a baseline."""


_UNSIGNED = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]{1,4000})")

DIGITS = 3
"""Significant digits behind the leading zeros of a fraction."""

MAX_EXPONENT = 300
"""Numbers beyond a double's range do not occur; such a text counts as 0, as no number does."""


def base_info(asked: Question) -> Answer:
    """The answer to ``source/details/baseInfo``, block 0x05; empty values without the block.

    A payload that is no JSON object fails; one of the baseline only leaves its half empty.
    """
    compare = _base_info(asked.blocks)
    former = _base_info(asked.baseline) if asked.baseline else None
    nothing = body("baseInfo")
    answer = {"compare": compare or nothing, "baseline": former or nothing}
    if compare is None:
        return Answer(answer, result=False, error=failure("unspecified", "block 0x05 is not JSON"))
    return Answer(answer)


def _base_info(blocks: Blocks) -> Body | None:
    """The advice of the file is not passed on. A list instead of a table shows no rows."""
    if blocks.is_empty(BASE_INFO_TYPE):
        return body("baseInfo")
    document = blocks.details(BASE_INFO_TYPE)
    if not isinstance(document, dict):
        return None
    is_mix = text(document.get("op_type")) == "mix" and "mix_block_detail" in document
    table = document.get("mix_block_detail" if is_mix else "block_detail")
    return body("baseInfo", {**document, "block_detail": table})


def roofline(asked: Question) -> Body:
    """The body of ``source/details/roofline``; empty without a readable 0x0D and 0x05."""
    document = asked.blocks.details(ROOFLINE_TYPE)
    base = asked.blocks.native(BASE_INFO_TYPE)
    if not isinstance(member(document, "multiple_rooflines"), list) or not isinstance(base, dict):
        return body("rooflineBody")
    answer = body("rooflineBody", document)
    for line in (line for chart in answer["data"] for line in chart["rooflines"]):
        line["point"] = line["point"] if len(line["point"]) == 2 else []
    return {**answer, "soc": text(base.get("soc"))}


def stall_reasons(asked: Question) -> Body:
    """The body of ``source/queryTopWarpStallReason``, block 0x0F; no data without the block.

    Without a baseline the difference is the number itself. Reasons that only the baseline has
    follow with 0 of the file. The viewer's order is that of a hash table; ours is the file's.
    """
    compare = _reasons(asked.blocks)
    former = _reasons(asked.baseline) if asked.baseline and compare else {}
    data = []
    for name in dict.fromkeys((*compare, *former)):
        values = {"compare": compare.get(name, 0), "baseline": former.get(name, 0)}
        exact = values["compare"] - values["baseline"]
        values["diff"] = min(max(exact, INT64.start), INT64.stop - 1)
        data.append({half: {"name": name, "value": value} for half, value in values.items()})
    return {"unit": "count", "data": data}


def _reasons(blocks: Blocks) -> dict[str, int]:
    """Samples by reason; what is no integer of 64 bits is left out, and 2^63 and more wraps."""
    table = member(blocks.native(STALLS_TYPE), "top_stall_reason_table")
    if not isinstance(table, dict):
        return {}
    return {
        name: number if number in INT64 else number - UINT64.stop
        for name, number in table.items()
        if is_integer(number, INT64) or is_integer(number, UINT64)
    }


def compute_load(asked: Question) -> Answer:
    """The answer to ``source/details/computeworkload``, blocks 0x06 and 0x07.

    Without both blocks it fails, without an error. In compare mode only figures of the file itself
    are shown, each once, and no advice. The viewer's order of blocks, and of figures in compare
    mode, is that of a hash table; ours is the file's.
    """
    blocks, baseline = asked.blocks, asked.baseline
    if all(map(blocks.is_empty, LOAD_TYPES.values())):
        return Answer(body("computeWorkloadBody"), result=False)
    parts = {name: _load(blocks, code) for name, code in LOAD_TYPES.items()}
    ids = [one["compare"]["blockId"] for part in parts.values() for one in part["detailDataList"]]
    if baseline is not None and not all(map(baseline.is_empty, LOAD_TYPES.values())):
        for name, code in LOAD_TYPES.items():
            former = _load(baseline, code)["detailDataList"]
            listed = _compared_figures(parts[name]["detailDataList"], former)
            parts[name] = {"detailDataList": listed, "advice": []}
    return Answer({"blockIdList": list(dict.fromkeys(ids)), **parts})


def _load(blocks: Blocks, code: int) -> Body:
    document = blocks.details(code)
    figures = member(document, "subblock_detail")
    if not isinstance(figures, list):
        return body("workload")
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


def _compared_figures(figures: list[Body], baseline: list[Body]) -> list[Body]:
    others = {_figure_key(one): one["compare"] for one in baseline}
    merged = {}
    for key, one in ((_figure_key(one), one) for one in figures):
        figure = one["compare"]
        other = others.get(key, figure | NOTHING)
        changed = {
            name: difference(figure[name], other[name]) if key in others else NO_VALUE
            for name in NOTHING
        }
        merged[key] = {"compare": figure, "baseline": other, "diff": other | changed}
    return list(merged.values())


def _figure_key(compared: Body) -> tuple[Any, ...]:
    return tuple(compared["compare"][name] for name in ("blockId", "blockType", "name"))


def memory_graph(asked: Question) -> Answer:
    """The answer to ``source/details/memoryGraph``: no elements where none has that ``core_no``.

    A payload of block 0x08 without ``core_memory_map`` fails, without an error. In compare mode
    advice is gone and what only the baseline has is kept, its compare half empty. Of a path without
    a baseline the viewer's ``display`` is left to chance; ours is false.
    """
    block_id, baseline = asked.params["blockId"], asked.baseline
    elements = elements_of(asked.blocks, GRAPH_TYPE, GRAPH, block_id)
    if elements is None:
        return Answer({"coreMemory": []}, result=False)
    former = elements_of(baseline, GRAPH_TYPE, GRAPH, block_id) if baseline else None
    if former is not None:
        elements = _compared_graphs(elements, former)
    return Answer({"coreMemory": elements})


def _compared_graphs(elements: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {element["blockId"]: element for element in elements}
    for other in baseline:
        named = {name: other[name] for name in ("blockId", "blockType", "chipType")}
        element = merged.setdefault(other["blockId"], {**empty_element(GRAPH), **named})
        element["advice"] = []
        for key in UNITS:
            compare, former = element[key]["compare"], other[key]["compare"]
            diff = {name: difference(compare[name], former[name]) for name in compare}
            element[key] = {"compare": compare, "baseline": former, "diff": diff}
        element["memoryUnit"] = _compared_paths(element["memoryUnit"], other["memoryUnit"])
    return list(merged.values())


def _compared_paths(paths: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {path["compare"]["memoryPath"]: path for path in paths}
    for former in (other["compare"] for other in baseline):
        path = merged.get(former["memoryPath"])
        if path is None:
            nothing = body("memoryUnit")
            path = merged[former["memoryPath"]] = {"compare": nothing, "diff": nothing}
        else:
            compare = path["compare"]
            path["diff"] = {
                **compare,
                "request": whole_difference(compare["request"], former["request"]),
                "peakRatio": difference(compare["peakRatio"], former["peakRatio"]),
                "bandwidth": difference(compare["bandwidth"], former["bandwidth"]),
            }
        path["baseline"] = former
    return list(merged.values())


def memory_table(asked: Question) -> Answer:
    """The answer to ``source/details/memoryTable``: no elements where none has that ``block_id``.

    A payload of block 0x09 without ``table_per_block`` fails, without an error. In compare mode
    rows without a baseline show -, tables that both have say their size as columns and rows (A13),
    and a block that only the baseline has shows no tables.
    """
    block_id, baseline = asked.params["blockId"], asked.baseline
    elements = elements_of(asked.blocks, TABLE_TYPE, TABLE, block_id, _with_rows)
    if elements is None:
        return Answer({"memoryTable": []}, result=False)
    former = elements_of(baseline, TABLE_TYPE, TABLE, block_id, _with_rows) if baseline else []
    if asked.params["isCompared"] and former is not None:
        elements = _compared_tables(elements, former)
    return Answer({"memoryTable": elements})


def _with_rows(element: Body) -> Body:
    """An element of the payload without the tables that have no rows."""
    tables = items(element.get("table_detail"))
    return {
        **element,
        "table_detail": [one for one in tables if isinstance(member(one, "row"), list)],
    }


def _compared_tables(elements: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {element["blockId"]: element for element in elements}
    for row in (
        row for one in merged.values() for table in one["tableDetail"] for row in table["row"]
    ):
        values = [NO_VALUE] * len(row["compare"]["value"])
        for half in ("baseline", "diff"):
            row[half] = {"name": row["compare"]["name"], "value": list(values)}
    for other in baseline:
        named = {name: other[name] for name in ("blockId", "tableOpType")}
        element = merged.setdefault(other["blockId"], {**empty_element(TABLE), **named})
        tables = {table["tableName"]: table for table in element["tableDetail"]}
        for theirs in other["tableDetail"]:
            table = tables.get(theirs["tableName"])
            if table:
                table["row"] = _compared_rows(table["row"], theirs["row"])
                table["size"] = [str(len(table["headerName"])), str(len(table["row"]))]
        element["tableDetail"] = list(tables.values())
    return list(merged.values())


def _compared_rows(rows: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {row["compare"]["name"]: row for row in rows}
    for former in (other["compare"] for other in baseline):
        row = merged.get(former["name"])
        if row:
            cells = zip(row["compare"]["value"], former["value"], strict=False)
            changed = [difference(compare, cell) for compare, cell in cells]
            row["diff"]["value"] = changed + row["diff"]["value"][len(changed) :]
            row["baseline"] = former
    return list(merged.values())


def difference(compare: str, baseline: str) -> str:
    """compare minus baseline; empty where one is empty. A text without a number counts as 0.

    Three digits remain behind the leading zeros of the fraction, trailing zeros do not.
    """
    if not compare or not baseline:
        return ""
    with localcontext(Context(prec=2 * MAX_EXPONENT + 20, rounding=ROUND_HALF_EVEN)):
        exact = _number(compare) - _number(baseline)
        fraction = abs(exact - int(exact))
        zeros = -fraction.adjusted() - 1 if fraction else 0
        rounded = f"{exact:.{DIGITS + zeros}f}"
    shortened = rounded.rstrip("0").rstrip(".")
    return "0" if shortened in ("", "-", "-0") else shortened


def _number(value: str) -> Decimal:
    found = NUMBER.match(value)
    if not found or len(found[1]) > MAX_EXPONENT:
        return Decimal(0)
    number = Decimal(found[1])
    return number if abs(number.adjusted()) < MAX_EXPONENT else Decimal(0)


def whole_difference(compare: str, baseline: str) -> str:
    """compare minus baseline of whole numbers, within 64 bits; a text without one counts as 0."""
    exact = _unsigned(compare) - _unsigned(baseline)
    return str(min(max(exact, INT64.start), INT64.stop - 1))


def _unsigned(value: str) -> int:
    found = _UNSIGNED.match(value)
    number = int(found[1]) if found else 0
    return number if number in UINT64 else 0
