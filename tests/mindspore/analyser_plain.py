"""What a query must answer, row by row in plain Python, and files for analysers by a seed."""

from __future__ import annotations

import csv
import functools
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

NAMES = ("Cast", "MatMul", "Add", "ReLU", "cast", "É", "Conv2D")


def plain_answer(
    names: Sequence[str], rows: Iterable[Sequence[Any]], condition: Mapping[str, Any]
) -> dict[str, Any]:
    """Filter, size, sort, page."""
    found = [list(row) for row in rows]
    for name, wanted in condition.get("filter_condition", {}).items():
        if name in names:
            place = names.index(name)
            found = [
                row
                for row in found
                if all(passes(row[place], operator, ones) for operator, ones in wanted.items())
            ]
    size = len(found)
    if sort := condition.get("sort_condition"):
        place = names.index(sort["name"])
        key = functools.cmp_to_key(lambda one, other: compared(one[place], other[place]))
        found.sort(key=key, reverse=sort.get("type", "descending") == "descending")
    if page := condition.get("group_condition"):
        limit, offset = page.get("limit", 10), page.get("offset", 0)
        found = found[limit * offset : limit * (offset + 1)]
    return {"col_name": list(names), "object": found, "size": size}


def passes(cell: Any, operator: str, values: Sequence[Any]) -> bool:
    if operator == "in":
        return cell in values
    if operator == "not_in":
        return cell not in values
    if operator == "partial_match_str_in":
        return any(one.lower() in cell.lower() for one in values)
    return False


def compared(one: Any, other: Any) -> int:
    if one is None or other is None:
        return (one is not None) - (other is not None)
    try:
        return (one > other) - (one < other)
    except TypeError:
        mine, its = type(one).__name__, type(other).__name__
        return (mine > its) - (mine < its)


def shown(number: float) -> float:
    """Below 1 to 6 decimals, else to 3."""
    return round(number, 6 if number < 1 else 3)


def drawn_condition(
    draw: random.Random,
    names: Sequence[str],
    texts: Sequence[str],
    pool: Sequence[Any],
    sortable: Sequence[str],
) -> dict[str, Any]:
    """texts: columns of which a part can be asked for; pool: values to compare with."""
    condition: dict[str, Any] = {}
    filters: dict[str, dict[str, list[Any]]] = {}
    for _ in range(draw.randrange(3)):
        name = draw.choice([*names, "no_column"])
        operator = draw.choice(["in", "not_in", "partial_match_str_in", "like"])
        values: list[Any] = draw.sample(list(pool), draw.randrange(min(5, len(pool)) + 1))
        if operator == "partial_match_str_in":
            name = draw.choice(texts)
            values = draw.sample(["CAST", "op1", "é", "", "mat", "zzz"], draw.randrange(3))
        filters.setdefault(name, {})[operator] = values
    if filters:
        condition["filter_condition"] = filters
    if draw.random() < 0.7:
        kind = draw.choice([{}, {"type": "ascending"}, {"type": "descending"}])
        condition["sort_condition"] = {"name": draw.choice(sortable), **kind}
    page: dict[str, int] = {}
    if draw.random() < 0.5:
        page["limit"] = draw.randint(1, 100)
    if draw.random() < 0.5:
        page["offset"] = draw.choice([0, 1, 2, 1_000_000])
    if page:
        condition["group_condition"] = page
    return condition


def drawn_number(draw: random.Random) -> str:
    """Also ties of the third and of the sixth decimal, and numbers that come often."""
    return draw.choice(
        [
            repr(draw.uniform(0, 3)),
            repr(draw.uniform(0, 1e-4)),
            str(draw.randrange(4)),
            f"{draw.randrange(4000) / 2000 + 0.0005:.7f}",
            f"{draw.randrange(2000) * 1e-9 + 5e-10:.10f}",
        ]
    )


def drawn_name(draw: random.Random) -> str:
    return f"{draw.choice(NAMES)}-op{draw.randrange(30)}"


def write_csv(path: Path, header: str, rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])
