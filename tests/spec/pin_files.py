"""What real files show of the facts that ``pins/read`` takes from them, read without the spec.

Each function answers for the places of one kind. A place is answered only where a file decides it.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

from pin_facts import Facts
from seed_tables import SHARED

DATA = SHARED / "data"
ADAPTER = DATA / "text" / "pytorch_level1_rank0" / "ASCEND_PROFILER_OUTPUT"
LATER = DATA / "generations" / "text_llm_2025_level2_rank0" / "ASCEND_PROFILER_OUTPUT"
LEGACY = DATA / "text" / "mindspore_legacy"
# The writers of the spec by the file that shows what each writes, and whose events the file holds.
TIMELINES = {
    "adapter-2025-01": ADAPTER / "trace_view.json",
    "python-2023": LEGACY / "msprof_0_2_1.json",
}
FORMS = {"adapter-2025-01": "forms/3", "python-2023": "forms/2"}
FRAMEWORK = ("Python", "Python GC")
MANY = 3


@cache
def events(writer: str) -> list[dict[str, Any]]:
    """The events of a real timeline; none where it is absent."""
    path = TIMELINES[writer]
    found: list[dict[str, Any]] = json.loads(path.read_bytes()) if path.is_file() else []
    return found


def key_orders() -> Iterator[tuple[str, str, list[str]]]:
    """Place, phase and keys in order: the longest of the events of a part of a file.

    The adapter begins its own events with ``ph``, msprof with ``name``. Events with another order
    of their own, those of step traces, are no matter of a form.
    """
    for writer, form in FORMS.items():
        longest: dict[tuple[str, str], list[str]] = {}
        for event in events(writer):
            keys = list(event)
            part = "framework" if keys[0] == "ph" else "msprof"
            if keys[:2] == ["name", "cat"]:
                continue
            if len(keys) > len(longest.get((part, event["ph"]), [])):
                longest[part, event["ph"]] = keys
        for (part, phase), keys in longest.items():
            yield f"timeline/{form}/parts/{part}/keys", phase, keys


def sort_indices() -> Iterator[tuple[str, str, int]]:
    """Layer, writer and the sort index that its file gives the layer."""
    for writer in TIMELINES:
        names = {
            event["pid"]: event["args"]["name"]
            for event in events(writer)
            if event["ph"] == "M" and event["name"] == "process_name"
        }
        for event in events(writer):
            if event["ph"] == "M" and event["name"] == "process_sort_index":
                layer = names[event["pid"]].replace("HCCL", "Communication")
                yield f"layer/{layer}/sort_index", writer, event["args"]["sort_index"]


def number_formats(table: str) -> dict[str, str]:
    """How the numbers of a column are printed, by header: fixed-3, rounded-3 or shortest.

    Both files of the adapter count: digits beyond the third show that nothing is rounded, three in
    each number that zeros are kept. Too few numbers say nothing, and neither do those of which
    some end with a tab: operators of the graph engine are printed in another way than the others.
    """
    digits: dict[str, list[int]] = defaultdict(list)
    ends: dict[str, set[bool]] = defaultdict(set)
    for folder in (ADAPTER, LATER):
        for header, text in _cells(folder / f"{table}.csv"):
            places = _decimals(text)
            if places is not None:
                digits[header].append(places)
                ends[header].add(text.endswith("\t"))
    return {
        header: _format(found)
        for header, found in digits.items()
        if len(found) >= MANY and len(ends[header]) == 1
    }


def tabs(table: str) -> dict[str, bool]:
    """Whether each number of a column ends with a tab, by header."""
    ends: dict[str, set[bool]] = defaultdict(set)
    for header, text in _cells(ADAPTER / f"{table}.csv"):
        if _decimals(text) is not None:
            ends[header].add(text.endswith("\t"))
    return {header: found.pop() for header, found in ends.items() if len(found) == 1}


def _cells(path: Path) -> Iterator[tuple[str, str]]:
    """Header and text of each cell of a CSV file; none where it is absent."""
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield from row.items()


def _decimals(text: str) -> int | None:
    try:
        number = Decimal(text.rstrip("\t"))
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else None


def _format(digits: list[int]) -> str:
    if max(digits) > MANY:
        return "shortest"
    return "fixed-3" if set(digits) == {MANY} else "rounded-3"


@cache
def configurations() -> tuple[Facts, ...]:
    """The configuration of each real profiler_info, both parts of it in one."""
    found = []
    for path in sorted(DATA.rglob("profiler_info_*.json")):
        config = json.loads(path.read_bytes())["config"]
        found.append({**config["common_config"], **config["experimental_config"]})
    return tuple(found)


def switches() -> set[str]:
    """The keys of the configuration that are true or false in every real file that has them."""
    seen: dict[str, set[type]] = defaultdict(set)
    for config in configurations():
        for key, value in config.items():
            seen[key].add(type(value))
    return {key for key, kinds in seen.items() if kinds == {bool}}


def tables_of(folder: Path) -> set[str]:
    """The CSV files of a folder of the adapter, without suffix."""
    return {path.stem for path in folder.glob("*.csv")}
