"""The facts about MindSpore's files fit each other."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS

FIRST, LAST = "2020-06-08", "2023-07-02"
CATALOG = mindspore_catalog()


def days() -> list[str]:
    """Every day on which something changes, while raw files are parsed."""
    found = {FIRST, LAST}
    for method in CATALOG.methods.values():
        found |= {day for way in method.ways for day in (way.since, way.until) if day}
    for table in CATALOG.tables.values():
        found |= {day for one in table.columns for day in (one.since, one.until) if day}
    return sorted(day for day in found if FIRST <= day <= LAST)


def test_m49_each_file_that_a_parser_reads_is_what_a_table_is_made_of() -> None:
    made = {one for table in CATALOG.tables.values() for one in table.made_of}
    assert made <= CATALOG.files.keys() | CATALOG.tables.keys()
    read = {name for name, file in CATALOG.files.items() if file.parser is not None}
    assert read - made == set()


@pytest.mark.parametrize("method", list(CATALOG.methods))
def test_m51_of_the_ways_of_a_method_one_holds_on_each_day(method: str) -> None:
    ways = CATALOG.methods[method].ways
    for day in days():
        assert sum(DAYS.in_force(way, day) for way in ways) == 1, day
    for one, two in pairwise(ways):
        assert one.until == two.since
        assert one.way != two.way


@pytest.mark.parametrize("table", list(CATALOG.tables))
def test_m50_m51_columns_of_a_day_have_names_of_their_own(table: str) -> None:
    for day in days():
        names = [one.name for one in CATALOG.tables[table].columns_on(day)]
        assert len(names) == len(set(names))


def test_m50_reductions_have_three_columns_on_each_day() -> None:
    table = CATALOG.tables["step_trace_raw"]
    for day in days():
        forms = [one.form.template for one in table.columns_on(day) if one.each == "reduction"]
        ends = [one.endswith(end) for end in ("_start_point", "_end_point") for one in forms]
        assert (len(forms), sum(ends)) == (3, 2)


def test_m35_m36_errata_are_of_facts_that_are_there() -> None:
    named = [*CATALOG.files.values(), *CATALOG.tables.values()]
    for one in named:
        assert set(one.errata) <= CATALOG.errata.keys()
