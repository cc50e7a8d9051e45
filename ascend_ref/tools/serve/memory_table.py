"""The memory tables of a block: ``source/details/memoryTable``, block 0x09."""

from __future__ import annotations

from .answer import Answer, Body
from .compute_load import NO_VALUE
from .differences import difference
from .payloads import elements_of, empty_element
from .question import Question
from .values import items, member

TABLE_TYPE = 0x09
BODY = "memoryTableBody"


def memory_table(asked: Question) -> Answer:
    """The answer to ``source/details/memoryTable``: no elements where none has that ``block_id``.

    A payload without ``table_per_block`` fails, without an error. In compare mode rows without a
    baseline show -, tables that both have say their size as columns and rows (A13), and a block
    that only the baseline has shows no tables.
    """
    block_id, baseline = asked.params["blockId"], asked.baseline
    elements = elements_of(asked.blocks, TABLE_TYPE, BODY, block_id, _with_rows)
    if elements is None:
        return Answer({"memoryTable": []}, result=False)
    beside = elements_of(baseline, TABLE_TYPE, BODY, block_id, _with_rows) if baseline else []
    if asked.params["isCompared"] and beside is not None:
        elements = _merged(elements, beside)
    return Answer({"memoryTable": elements})


def _with_rows(element: Body) -> Body:
    """An element of the payload without the tables that have no rows."""
    tables = items(element.get("table_detail"))
    return {
        **element,
        "table_detail": [one for one in tables if isinstance(member(one, "row"), list)],
    }


def _merged(elements: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {element["blockId"]: element for element in elements}
    for element in merged.values():
        for table in element["tableDetail"]:
            for row in table["row"]:
                for half in ("baseline", "diff"):
                    row[half] = {
                        "name": row["compare"]["name"],
                        "value": [NO_VALUE] * len(row["compare"]["value"]),
                    }
    for other in baseline:
        alone = {
            **empty_element(BODY),
            "blockId": other["blockId"],
            "tableOpType": other["tableOpType"],
        }
        element = merged.setdefault(other["blockId"], alone)
        element["tableDetail"] = _merged_tables(element["tableDetail"], other["tableDetail"])
    return list(merged.values())


def _merged_tables(tables: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {table["tableName"]: table for table in tables}
    for other in baseline:
        table = merged.get(other["tableName"])
        if table:
            table["row"] = _merged_rows(table["row"], other["row"])
            table["size"] = [str(len(table["headerName"])), str(len(table["row"]))]
    return list(merged.values())


def _merged_rows(rows: list[Body], baseline: list[Body]) -> list[Body]:
    merged = {row["compare"]["name"]: row for row in rows}
    for other in baseline:
        beside = other["compare"]
        row = merged.get(beside["name"])
        if row:
            cells = list(zip(row["compare"]["value"], beside["value"], strict=False))
            changed = [difference(compare, cell) for compare, cell in cells]
            row["diff"]["value"] = changed + row["diff"]["value"][len(changed) :]
            row["baseline"] = beside
    return list(merged.values())
