"""Analysers of communication of all ranks: its times, and the links it went over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ascend_spec.mindspore import Analyser

from ..sheet import Cells, Indexes
from .cells import Column, NumberColumn, ObjectColumn
from .condition import Condition, WrongCondition
from .files import Folder
from .query import Rows, answer_rows
from .ranks import RANK, absent, mapping, number, rank_of
from .steps import NUMBER
from .steps import TABLE as STEPS

TABLE = "hccl_raw"
AVERAGE = "-"
COSTS = ("communication_cost", "wait_cost")
DOCUMENTS = ("link_info", "communication_operator_cost")
LINK = re.compile(r"[0-9]{1,9}-[0-9]{1,9}")
ANY = ("", ".", ".*")
"""How the viewer asks for every rank, or every kind of link."""

NUMBERS_OF_LINK = 3
"""Cost, size and bandwidth; what follows is not shown."""


def answer_communication(
    folder: Folder, analyser: Analyser, day: str, condition: Condition
) -> dict[str, Any]:
    """What each rank communicated in one step, or in all.

    Raises :class:`WrongCondition` for a step that no rank has.
    """
    if condition.switch("show") == "data":
        return {
            f"device{one.device}": [_row(one, cells, row) for row in range(len(cells.lines))]
            for one, cells in _files(folder)
        }
    found, total = _of_step(folder, condition.switch("step_id"))
    ranks = np.array(list(found), np.int64)
    rows = list(found.values())
    shown = tuple(one for one in analyser.columns_on(day))
    columns: dict[str, Column] = {
        one.name: ObjectColumn([row.get(one.name) for row in rows]) for one in shown
    }
    columns[RANK] = NumberColumn(ranks)
    answer = answer_rows(Rows(analyser, day, shown, columns), condition)
    names = answer["col_name"]
    taken = [names.index(one) for one in (*COSTS, *DOCUMENTS)]
    info = [
        {"communication_info": [row[one] for one in taken], RANK: row[names.index(RANK)]}
        for row in answer["object"]
    ]
    return {"total_step_num": total, "communication": info, "size": answer["size"]}


def load_links(folder: Folder, analyser: Analyser, day: str, condition: Condition) -> Rows:
    """The links of one step, of all ranks. Raises :class:`WrongCondition` for a step of none."""
    listed = list(_links(folder, condition.switch("step_id")))
    shown = analyser.columns_on(day)
    columns: dict[str, Column] = {
        one.name: ObjectColumn([row[place] for row in listed]) for place, one in enumerate(shown)
    }
    return Rows(analyser, day, shown, columns)


def wanted_links(rows: Rows, found: Indexes, condition: Condition) -> Indexes:
    """The links of ``found`` between ranks, or of a kind, that are asked for."""
    wanted = [condition.switch(name) for name in ("src_rank", "dst_rank", "link_type")]
    wanted = [None if one in ANY else one for one in wanted]
    names, kinds = rows.columns["src_dst"].at(found), rows.columns["link_type"].at(found)
    kept = [
        all(one is None or one == held for one, held in zip(wanted, cells, strict=True))
        for cells in ((*name.split("-"), kind) for name, kind in zip(names, kinds, strict=True))
    ]
    return found[np.array(kept, np.bool_)]


def _links(folder: Folder, step: int) -> Iterator[list[Any]]:
    for rank, row in _of_step(folder, step)[0].items():
        for link, kinds in mapping(row.get(DOCUMENTS[0])).items():
            for kind, numbers in mapping(kinds).items():
                values = numbers[:NUMBERS_OF_LINK] if isinstance(numbers, list) else []
                sound = [number(one) for one in values if not isinstance(one, str)]
                if LINK.fullmatch(link) is None or len(sound) < NUMBERS_OF_LINK or None in sound:
                    of_rank = folder.of_rank(str(rank))
                    absent(of_rank, TABLE, f"link {link!r:.60} is not two ranks with three numbers")
                    continue
                yield [link, kind, *values]


def _of_step(folder: Folder, step: int) -> tuple[dict[int, Mapping[str, Any]], int]:
    """By rank its row of a step, 0 for the average, and the number of steps of the lowest rank."""
    wanted = str(step) if step else AVERAGE
    found: dict[int, Mapping[str, Any]] = {}
    total, lacking, holding = None, [], 0
    for one, cells in _files(folder):
        if total is None:
            total = max(len(cells.lines) - 1, 0)
        steps = cells.columns[NUMBER].to_pylist()
        if wanted not in steps:
            lacking.append(one)
            continue
        holding += 1
        row = _row(one, cells, steps.index(wanted))
        if None not in row.values():
            found[rank_of(one)] = row
    if step and lacking and not holding:
        raise WrongCondition(f"step_id: no rank has communication in step {step}", "step")
    for one in lacking:
        absent(one, TABLE, f"no step {wanted}")
    return found, total or 0


def _files(folder: Folder) -> Iterator[tuple[Folder, Cells]]:
    """The files of the ranks that have steps; a rank without one is damage."""
    for one in folder.of_ranks(STEPS):
        cells = one.cells(TABLE)
        if cells is None:
            absent(one, TABLE)
            continue
        lost = {NUMBER, *COSTS, DOCUMENTS[0]} - cells.columns.keys()
        if lost:
            absent(one, TABLE, f"line 1: no column {' and '.join(sorted(lost))}")
            continue
        yield one, cells


def _row(folder: Folder, cells: Cells, place: int) -> dict[str, Any]:
    """A row with its numbers and documents; ``None`` for one that cannot be read."""
    row: dict[str, Any] = {NUMBER: cells.columns[NUMBER][place].as_py()}
    for name in (*COSTS, *DOCUMENTS):
        if name not in cells.columns:
            row[name] = {}
            continue
        text = cells.columns[name][place].as_py()
        row[name] = number(text) if name in COSTS else _document(text)
        if row[name] is None:
            what = "no number" if name in COSTS else "no object of JSON"
            folder.state(cells, np.array([place]), name, what)
    return row


def _document(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, Mapping) else None
