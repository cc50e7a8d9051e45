"""Whatever the reference encoder writes, the checker finds nothing in it, and reads it back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_database import read_database
from slices import some

from ascend_conformance.check import check
from ascend_conformance.media.db.selftest import file_name
from ascend_ref.db.writer import write_database
from ascend_simulator.specimen import Shape, build, write_msprof_folder, write_rank_folder
from ascend_spec import catalog
from ascend_spec.db.model import CARRIERS

REVISIONS = [revision.id for revision in catalog().revisions]

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30
)
flags = st.booleans()
shapes = st.integers(1, 4).flatmap(
    lambda ranks: st.builds(
        Shape,
        seed=st.integers(0, 2**32),
        steps=st.integers(1, 3),
        devices=st.integers(1, 3),
        ranks=st.just(ranks),
        rank=st.integers(0, ranks - 1),
        operators=st.integers(1, 12),
        level=st.sampled_from([0, 1, 2]),
        with_stack=flags,
        with_memory=flags,
        with_communication=flags,
        with_mstx=flags,
        with_samples=flags,
        with_host=flags,
        with_pmu=flags,
        with_gc=flags,
        names=st.lists(texts, max_size=4, unique=True).map(tuple),
    )
)
generous = settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@pytest.mark.parametrize("carrier", some(CARRIERS, every=3))
@pytest.mark.parametrize("revision", some(REVISIONS, every=3))
@generous
@given(shape=shapes)
def test_what_is_written_is_read_back_and_conforms(carrier, revision, shape):
    schema = catalog().at(revision, carrier)
    tables = build(revision, carrier, shape)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / file_name(carrier, shape.rank)
        write_database(path, schema, tables)
        read = read_database(path, schema)
        for table, columns in tables.items():
            if any(len(values) for values in columns.values()):
                assert rows(read[table]) == rows(columns), table
        report = check([path])
    assert [file.unreadable for file in report.files] == [None]
    assert [
        f"{finding.rule} {finding.place}: {finding.message}" for finding in report.findings
    ] == []


def rows(columns) -> list[tuple]:
    """Rows in any order: a table with a key is stored in the order of the key."""
    values = [list(column) for column in columns.values()]
    return sorted((tuple(map(plain, row)) for row in zip(*values, strict=True)), key=repr)


def plain(value):
    """NUMERIC columns store 3.0 as 3."""
    value = value.item() if hasattr(value, "item") else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.mark.parametrize("revision", some(REVISIONS, every=9))
@generous
@given(shape=shapes)
def test_whole_folders_conform(revision, shape):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rank_folder(folder / "ranks", revision, shape)
        write_msprof_folder(folder / "host", revision, shape)
        report = check([folder])
    assert len(report.files) >= 2
    assert [
        f"{finding.rule} {finding.place}: {finding.message}" for finding in report.findings
    ] == []
