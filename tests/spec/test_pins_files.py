"""Pins that cite real files say what a reader of these files finds."""

from __future__ import annotations

from typing import Any

import pytest
from pin_files import (
    ADAPTER,
    DATA,
    FORMS,
    LATER,
    key_orders,
    number_formats,
    sort_indices,
    switches,
    tables_of,
    tabs,
)
from spec_pins import places, read

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no real files in ../shared/data")

TABLES = [
    "api_statistic",
    "memory_record",
    "npu_module_mem",
    "op_statistic",
    "operator_details",
    "operator_memory",
    "step_trace_time",
]
# Step times are sums in binary fractions: some columns happen to need few digits.
FEW_DIGITS = {"rounded-3": {"rounded-3", "shortest"}}


OF_MINDSPORE = {
    "memory_record": [f"csv/memory_record/columns/{number}" for number in range(12, 18)],
    "operator_memory": [f"csv/operator_memory/columns/{number}" for number in range(22, 45)],
}
"""Columns that come again at the end of a file, as MindSpore has them."""


def columns(table: str) -> dict[str, dict[str, Any]]:
    """The facts of a table's columns by header, without MindSpore's own."""
    prefix = f"csv/{table}/columns/"
    return {
        own.get("name", place.removeprefix(prefix)): own
        for place, own in places().items()
        if place.startswith(prefix)
        and "/" not in place.removeprefix(prefix)
        and place not in OF_MINDSPORE.get(table, ())
    }


def spelled_out(form: str) -> str:
    """The format that a named one stands for in files of the adapter and the Python engine."""
    named = places().get(f"text/formats/{form}", {})
    return str(named.get("*", form))


def test_events_have_their_keys_in_the_order_of_the_files() -> None:
    found = list(key_orders())
    assert len(found) == 11
    for place, phase, keys in found:
        order = places()[place][phase]
        assert [key for key in order if key in keys] == keys, (place, phase)


def test_layers_have_the_sort_index_of_the_files() -> None:
    found = {(place, writer): index for place, writer, index in sort_indices()}
    assert len(found) == 16
    assert {at: places()[at[0]][at[1]] for at in found} == found


@pytest.mark.parametrize("table", TABLES)
def test_numbers_are_printed_as_in_the_files(table: str) -> None:
    known = columns(table)
    for header, form in number_formats(table).items():
        if "format" in known[header]:
            allowed = FEW_DIGITS.get(form, {form})
            assert spelled_out(known[header]["format"]) in allowed, (table, header)


@pytest.mark.parametrize("table", TABLES)
def test_tabs_end_the_columns_that_they_end_in_the_files(table: str) -> None:
    known = columns(table)
    found = {header for header, is_tabbed in tabs(table).items() if is_tabbed}
    assert {header for header in tabs(table) if known[header].get("tab")} == found


def test_switches_of_a_configuration_are_those_that_files_show_as_true_or_false() -> None:
    pinned = {
        pin.place.rsplit("/", maxsplit=1)[-1]
        for pin in read()
        if pin.document == "files"
        and pin.facts in ({"type": "boolean"}, {"type": ["boolean", "null"]})
    }
    assert pinned - {"syscnt_enable"} == switches()


@pytest.mark.parametrize(
    ("folder", "writer"), [(ADAPTER, "adapter-2025-01"), (LATER, "adapter-2025-12")]
)
def test_each_file_of_a_folder_is_one_that_its_writer_writes(folder: Any, writer: str) -> None:
    assert writer in FORMS or writer == "adapter-2025-12"
    for table in tables_of(folder):
        assert writer in places()[f"csv/{table}"]["writers"], table
    own = {
        "kernel_details",
        "memory_record",
        "operator_memory",
        "step_trace_time",
        "npu_module_mem",
    }
    assert own <= tables_of(folder)
