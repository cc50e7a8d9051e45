"""The memory tables of a block: ``source/details/memoryTable``, block 0x09."""

from __future__ import annotations

from typing import Any

from .answer import Answer, Body
from .blocks import Blocks
from .compute_load import NO_VALUE
from .differences import difference
from .values import items, member, text, texts

TABLE_TYPE = 0x09


def memory_table(
    blocks: Blocks, block_id: str, baseline: Blocks | None, *, compared: bool
) -> Answer:
    """The answer to ``source/details/memoryTable``: no elements where none has that ``block_id``.

    A payload without ``table_per_block`` fails, without an error. In compare mode rows without a
    baseline show -, tables that both have say their size as columns and rows (A13), and a block
    that only the baseline has shows no tables.
    """
    elements = _elements(blocks, block_id)
    if elements is None:
        return Answer({"memoryTable": []}, result=False)
    beside = _elements(baseline, block_id) if baseline else []
    if compared and beside is not None:
        elements = _merged(elements, beside)
    return Answer({"memoryTable": elements})


def _elements(blocks: Blocks, block_id: str) -> list[Body] | None:
    if blocks.is_empty(TABLE_TYPE):
        return []
    listed = member(blocks.details(TABLE_TYPE), "table_per_block")
    if not isinstance(listed, list):
        return None
    return [_element(item) for item in listed if text(member(item, "block_id")) == block_id]


def _element(element: Any) -> Body:
    return {
        "advice": list(dict.fromkeys(texts(member(element, "advice")))),
        "blockId": text(member(element, "block_id")),
        "tableOpType": text(member(element, "table_op_type")),
        "tableDetail": [
            _table(table)
            for table in items(member(element, "table_detail"))
            if isinstance(member(table, "row"), list)
        ],
    }


def _table(table: Any) -> Body:
    return {
        "headerName": texts(member(table, "header_name")),
        "tableName": text(member(table, "table_name")),
        "size": texts(member(table, "size")),
        "row": [
            {
                "compare": {
                    "name": text(member(row, "name")),
                    "value": texts(member(row, "value")),
                },
                "baseline": {"name": "", "value": []},
                "diff": {"name": "", "value": []},
            }
            for row in member(table, "row")
        ],
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
        alone = {**_element({}), "blockId": other["blockId"], "tableOpType": other["tableOpType"]}
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
