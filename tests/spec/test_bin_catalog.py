"""The catalogue of visualize_data.bin: look-ups, and facts that follow from others."""

from __future__ import annotations

from typing import Any

import pytest

from ascend_spec import bin_catalog
from ascend_spec.core import Erratum
from ascend_spec.core.dialect import walk

CHIPS = [member.value for member in bin_catalog().enums["chips"].members]
EPOCHS = [epoch.id for epoch in bin_catalog().epochs]


def kinds() -> list[tuple[str, str]]:
    """Each kind of operator with each chip that runs it."""
    return [
        (str(chip), str(member.value))
        for member in bin_catalog().enums["op_types"].members
        if member.alias_of is None
        for chip in member.chips
    ]


def test_errata_are_of_the_common_kind_and_named_by_their_block_types() -> None:
    assert all(isinstance(erratum, Erratum) for erratum in bin_catalog().errata.values())
    assert "B12" in bin_catalog().blocks[0x08].errata
    assert "B12" not in bin_catalog().blocks[0x09].errata


def test_only_sources_and_timelines_may_come_several_times() -> None:
    assert [code for code, block in bin_catalog().blocks.items() if block.many] == [0x01, 0x02]


def test_grades_follow_the_sources() -> None:
    grades = {code: block.grade for code, block in bin_catalog().blocks.items()}
    assert {code for code, grade in grades.items() if grade == "observed"} == {0x0E, 0x0F}
    assert [code for code, block in bin_catalog().blocks.items() if block.experimental] == [
        0x0A,
        0x0B,
    ]


@pytest.mark.parametrize(("chip", "op_type"), kinds())
def test_every_kind_of_operator_has_paths_and_tables(chip: str, op_type: str) -> None:
    memory = bin_catalog().memory
    paths = memory.path_set(chip, op_type, "E3")
    tables = memory.tables(chip, op_type, "E3")
    assert paths is not None
    assert tables
    assert list(tables) == sorted(tables)
    every = (*paths.paths, *(path for extra in paths.extra.values() for path in extra))
    assert len(set(every)) == len(every)
    assert sorted(paths.paths) == list(paths.paths)
    known = {member.value for member in bin_catalog().enums["memory_paths"].members}
    assert set(every) <= known
    assert set(paths.rows) | set(paths.apart_with_detail) <= set(paths.paths)
    for path in every:
        assert memory.request_bytes(chip, path, "E3") is not None, path
    for table, row in paths.rows.values():
        assert row < len(tables[table].rows), table


@pytest.mark.parametrize("epoch", EPOCHS)
@pytest.mark.parametrize(("chip", "op_type"), kinds())
def test_a_row_that_a_path_repeats_exists_at_every_epoch(
    chip: str, op_type: str, epoch: str
) -> None:
    memory = bin_catalog().memory
    paths = memory.path_set(chip, op_type, epoch)
    tables = memory.tables(chip, op_type, epoch)
    assert (paths is None) == (tables == {})
    if paths:
        assert {table for table, _ in paths.rows.values()} <= set(tables)


def test_rows_of_the_second_vector_core_follow_those_of_the_first() -> None:
    enums = {member.name: member.value for member in bin_catalog().enums["memory_paths"].members}
    for chip in ("910B", "950"):
        paths = bin_catalog().memory.path_set(chip, "mix", "E3")
        assert paths is not None
        for name, number in enums.items():
            twin = enums.get(f"{name}_2")
            if number in paths.rows and twin in paths.rows:
                table, row = paths.rows[int(number)]
                assert paths.rows[int(twin)] == (table.replace("Core0", "Core1"), row), name


def test_a_table_stands_once_for_a_kind_of_operator() -> None:
    memory = bin_catalog().memory
    for chip, op_type in kinds():
        for epoch in EPOCHS:
            rows = [
                name
                for row in memory._standing(memory._tables["tables"], epoch, chip)
                if op_type in row["op_types"]
                for name in row["tables"]
            ]
            assert len(rows) == len(set(rows)), (chip, op_type, epoch)


def test_bytes_of_a_request_are_given_once() -> None:
    for chip in CHIPS:
        for epoch in EPOCHS:
            rows = bin_catalog().memory._standing(
                bin_catalog().memory.content["request_bytes"], epoch, str(chip)
            )
            paths = [path for row in rows for path in row["paths"]]
            assert len(paths) == len(set(paths)), (chip, epoch)


def test_path_1_moves_more_since_the_published_exporter() -> None:
    memory = bin_catalog().memory
    assert [memory.request_bytes("910B", 1, epoch) for epoch in ("E2", "E3")] == [128, 512]
    assert memory.request_bytes("910B", 99, "E3") is None


def test_names_are_told_by_epoch() -> None:
    tables = {
        epoch: set(bin_catalog().memory.tables("910B", "mix", epoch)) for epoch in ("E2", "E3")
    }
    assert tables["E2"] - tables["E3"] == {"HBM Cube", "HBM Vector Core0", "HBM Vector Core1"}
    enums = bin_catalog().enums["table_names"]
    went = {member.value: member.erratum for member in enums.members if member.until}
    assert went["HBM Cube"] == "B43"
    assert "Pipe Cube" not in went
    assert not enums.closed


def test_loads_of_a_mix_block_are_numbered() -> None:
    loads = bin_catalog().loads
    assert [one.name for one in loads.entries(0x06, "910B", "vector", "E3", 1)] == [
        "Vector All Active1"
    ]
    assert [one.name for one in loads.entries(0x06, "910B", "vector", "E3")] == [
        "Vector All Active"
    ]
    assert [one.unit for one in loads.entries(0x07, "910B", "vector", "E3")] == [1] * 13 + [0]
    optional = [one.name for one in loads.entries(0x07, "950", "vector", "E3") if one.optional]
    assert (len(optional), optional[0], optional[-1]) == (33, "Vector F16", "Vector ZX32")


def test_every_chart_has_lines_and_every_core_names_for_its_operations() -> None:
    for chip, op_type in kinds():
        charts = bin_catalog().rooflines.charts(chip, op_type, "E3")
        assert charts, (chip, op_type)
        for chart in charts:
            assert len(chart.bandwidths) == len(set(chart.bandwidths))
        assert bin_catalog().rooflines.computilities(chip, "cube", "E3")
        assert bin_catalog().rooflines.computilities(chip, "vector", "E3")
    vector = [chart.title for chart in bin_catalog().rooflines.charts("910B", "vector", "E3")]
    assert vector == ["Memory Unit(Vector)", "Pipeline(Vector)", "Memory Transfer(Vector)", "GM/L2"]


def test_columns_are_those_of_the_schemas() -> None:
    for code, place in ((0x03, "/Files/*/Lines/*"), (0x04, "/Instructions/*")):
        columns = bin_catalog().columns[code]
        assert set(columns) == bin_catalog().known_keys(code, "E3")[place]
        dtypes = {member.value for member in bin_catalog().enums["dtypes"].members}
        assert {column.dtype for column in columns.values()} <= dtypes
        nodes: dict[str, Any] = {}
        for at, node in walk(bin_catalog().payload_schema(code, "E3")):
            if at.startswith(f"{place}/"):
                nodes.setdefault(at.removeprefix(f"{place}/"), node)
        for name, column in columns.items():
            kinds_ = nodes[name]["type"]
            per_core = "per-core" in column.shape.values()
            assert not per_core or "array" in kinds_, name
            if column.unit:
                assert nodes[name].get("unit") == column.unit, name


def test_the_simulator_declares_all_that_it_writes() -> None:
    """bin-blocks.md 3.3: what it declares of a line, and what a device declares only at times."""
    columns = bin_catalog().columns[0x03].values()
    declared = {one.name for one in columns if {"simulator"} <= set(one.shape) - set(one.declared)}
    assert declared == {
        "Address Range",
        "Cycles",
        "Instructions Executed",
        "Line",
        "GPR Count",
        "Process Bytes",
    }
    assert {one.name for one in columns if "device" in one.declared} == {
        "GPR Count",
        "Process Bytes",
        "Stall Sampling(All Samples)",
        "Stall Sampling(Not Issue)",
    }


def test_the_arguments_of_events_are_named() -> None:
    places = {place for place, _ in walk(bin_catalog().payload_schema(0x02, "E3"))}
    named = ("code", "detail", "pc_addr", "process_bytes", "trace_start", "throughput(MB~1s)")
    assert {f"/traceEvents/*/args/{name}" for name in named} <= places


def test_a_hit_ratio_was_a_fraction_before_it_was_a_percentage() -> None:
    units = {
        epoch: node.get("unit")
        for epoch in EPOCHS
        for place, node in walk(bin_catalog().payload_schema(0x08, epoch))
        if place == "/core_memory_map/*/L2cache/hit_ratio"
    }
    assert units == {"E0": None, "E1": None, "E2": "%", "E3": "%"}


def test_lanes_are_ordered_and_coloured_once() -> None:
    lanes = bin_catalog().enums["lanes"].members
    assert [lane.order for lane in lanes] == [*range(1, 24), 100]
    assert all(lane.colour for lane in lanes)


def test_unit_labels_are_those_of_the_viewer() -> None:
    labels = {member.value: member.label for member in bin_catalog().enums["units"].members}
    assert labels == {0: "Duration(μs)", 1: "Instructions", 2: "Data Volume(byte)", 3: "PRE"}
