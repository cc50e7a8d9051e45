"""Specimens hold every invariant that the documents and the real files state."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
import recompute
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import ALL_TASKS_BOUND, MASTERS_BOUND, MSPROF, PYTORCH, RANKS
from oracle import broken, load, structural

from ascend_simulator.specimen import Shape, build
from ascend_spec import catalog

REVISIONS = [revision.id for revision in catalog().revisions]
CARRIERS = ["msprof", "pytorch", "analysis"]

SWITCHES = [field for field in Shape.__dataclass_fields__ if field.startswith("with_")]


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    ranks = draw(st.integers(1, 8))
    return Shape(
        seed=draw(st.integers(0, 2**64)),
        steps=draw(st.integers(1, 3)),
        devices=draw(st.integers(1, 3)),
        ranks=ranks,
        rank=draw(st.integers(0, ranks - 1)),
        operators=draw(st.integers(1, 9)),
        level=draw(st.integers(0, 2)),
        names=tuple(draw(st.lists(st.text(max_size=12), max_size=3))),
        **{switch: draw(st.booleans()) for switch in SWITCHES},
    )


def faults(revision: str, shape: Shape) -> Iterator[str]:
    """Everything that the oracle has against the three databases of one shape."""
    masters = catalog().revision(revision).date >= "2025-12-25"
    common = MSPROF | (MASTERS_BOUND if masters else ALL_TASKS_BOUND)
    profiles: dict[str, sqlite3.Connection] = {}
    for carrier in CARRIERS:
        schema = catalog().at(revision, carrier)
        tables = build(revision, carrier, shape)
        profile = profiles[carrier] = load(tables, schema)
        yield from structural(tables, schema)
        if carrier != "analysis":
            is_ranked = masters or carrier == "pytorch"
            yield from broken(profile, common | RANKS if is_ranked else common)
            yield from recompute.counter_faults(profile)
        if "OVERLAP_ANALYSIS" in schema.tables:
            yield from recompute.overlap_faults(profile)
    yield from broken(profiles["pytorch"], PYTORCH)
    yield from recompute.memory_faults(profiles["pytorch"])
    yield from recompute.step_faults(profiles["pytorch"], profiles["analysis"])
    if shape.level:
        yield from recompute.analyzer_faults(profiles["pytorch"], profiles["analysis"])
    for profile in profiles.values():
        profile.close()


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_default_specimen_holds_every_invariant(revision: str) -> None:
    assert list(faults(revision, Shape())) == []


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_every_table_of_the_schema_has_rows(revision: str, carrier: str) -> None:
    schema = catalog().at(revision, carrier)
    tables = build(revision, carrier)
    assert {name: list(columns) for name, columns in tables.items()} == {
        name: list(table.columns) for name, table in schema.tables.items()
    }


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("carrier", ["msprof", "pytorch"])
def test_the_documented_reading_has_every_table_too(revision: str, carrier: str) -> None:
    schema = catalog().at(revision, carrier, "documented")
    tables = build(revision, carrier, reading="documented")
    assert {name: len(columns) for name, columns in tables.items()} == {
        name: len(table.columns) for name, table in schema.tables.items()
    }


@settings(max_examples=15, deadline=None)
@given(revision=st.sampled_from(REVISIONS), shape=shapes())
def test_any_shape_holds_every_invariant(revision: str, shape: Shape) -> None:
    assert list(faults(revision, shape)) == []


@settings(max_examples=10, deadline=None)
@given(revision=st.sampled_from(REVISIONS), carrier=st.sampled_from(CARRIERS), shape=shapes())
def test_a_shape_always_gives_the_same_columns(revision: str, carrier: str, shape: Shape) -> None:
    assert build(revision, carrier, shape) == build(revision, carrier, shape)


@pytest.mark.parametrize(
    ("table", "column", "value", "fault"),
    [
        ("TASK", "endNs", 0, "I03"),
        ("TASK", "taskType", 10**6, "TASK.taskType"),
        ("TASK", "connectionId", 7, "profiling tasks"),
        ("COMMUNICATION_OP", "endNs", 10**18, "I14"),
        ("STRING_IDS", "value", "MsTx", "I35"),
        ("TASK_PMU_INFO", "value", 1e9, "cycles"),
        ("OVERLAP_ANALYSIS", "endNs", 10**18, "type 0"),
        ("MEMORY_RECORD", "totalReserved", 1, "I33"),
        ("MEMORY_RECORD", "totalAllocated", 1, "PTA+GE"),
        ("STEP_TIME", "startNs", 10**18, "STEP_TIME differs"),
        ("PYTORCH_CALLCHAINS", "stackDepth", 5, "I25"),
    ],
)
def test_the_oracle_notices(table: str, column: str, value: object, fault: str) -> None:
    schema = catalog().at("1.2.0-2026-07", "pytorch")
    tables = build("1.2.0-2026-07", "pytorch")
    tables[table][column][0] = value
    profile = load(tables, schema)
    found = [
        *structural(tables, schema),
        *broken(profile, MSPROF | RANKS | MASTERS_BOUND | PYTORCH),
        *recompute.counter_faults(profile),
        *recompute.overlap_faults(profile),
        *recompute.memory_faults(profile),
    ]
    assert any(fault in sentence for sentence in found), found
    profile.close()
