"""The contracts of readers obey their meta-schemas, and name what the spec has."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from test_vocabulary import errors

from ascend_conformance.consumers.timelines import BEHAVIOURS
from ascend_spec import (
    catalog,
    consumer_catalog,
    packaged,
    text_catalog,
    timeline_catalog,
)
from ascend_spec.consumers import Part, Read, Reader
from ascend_spec.documents.catalog import DOCUMENTS


def parts() -> Iterator[tuple[Reader, Part]]:
    for reader in consumer_catalog().readers.values():
        yield from ((reader, part) for part in reader.parts.values())


def reads() -> Iterator[tuple[str, Read]]:
    for reader, part in parts():
        yield from ((f"{reader.name} {part.name}", read) for read in part.reads)


@pytest.mark.parametrize(
    "name", [name for name, _ in packaged().folder.documents("consumers/readers")]
)
def test_a_reader_obeys_its_meta_schema(name: str) -> None:
    assert errors("consumer_reader", packaged().folder.read(name)) == []


def test_the_behaviours_obey_their_meta_schema() -> None:
    behaviours = packaged().folder.read("consumers/behaviours.yaml")
    assert errors("consumer_behaviours", behaviours) == []


def test_every_behaviour_is_that_of_a_reader_and_is_counted() -> None:
    had = {trait.behaviour for _, part in parts() for trait in part.does}
    assert had == set(consumer_catalog().behaviours)
    of_timelines = {
        one.id for one in consumer_catalog().behaviours.values() if one.of == "timeline"
    }
    assert of_timelines == BEHAVIOURS


def test_a_state_has_one_way_with_overlapping_slices() -> None:
    for reader, part in parts():
        for state in reader.states():
            ways = [one for one in state.traits(part) if "overlapping" in one.behaviour]
            assert len(ways) <= 1, state.name


def test_what_readers_read_is_in_the_spec() -> None:
    tables = {
        name: {c.name for c in one.columns.values()} for name, one in catalog().tables.items()
    }
    strange = [
        f"{where}: {name}.{column}"
        for where, read in reads()
        for name, sets in ({n: (c,) for n, c in read.tables.items()} | dict(read.either)).items()
        for column in {column for columns in sets for column in columns}
        if column not in tables.get(name, set())
    ]
    strange += [
        f"{where}: {name}: {header}"
        for where, read in reads()
        for name, headers in read.csv.items()
        for header in headers
        if name not in text_catalog().csv or text_catalog().csv[name].column(header) is None
    ]
    strange += [
        f"{where}: {name}"
        for where, read in reads()
        for name in read.documents
        if name not in DOCUMENTS
    ]
    strange += [
        f"{where}: {key}"
        for where, read in reads()
        for key in read.timelines
        if key not in timeline_catalog().keys
    ]
    assert strange == []


def test_parts_consist_of_parts() -> None:
    for reader, part in parts():
        assert set(part.made_of) <= set(reader.parts), part.name


def test_conditions_and_joins_are_about_what_is_read() -> None:
    """They run on tables that have nothing but the columns that are read."""
    for where, read in reads():
        if read.rows is None:
            continue
        columns = read.tables[read.rows.of]
        database = sqlite3.connect(":memory:")
        listed = ", ".join(f'"{column}"' for column in columns)
        database.execute(f'CREATE TABLE "{read.rows.of}" ({listed})')
        database.execute(f'SELECT 1 FROM "{read.rows.of}" WHERE {read.rows.where or 1}')
        for join in read.rows.joins:
            table, column = join.to.split(".")
            assert join.column in columns, where
            assert table in catalog().tables, where
            assert column in {one.name for one in catalog().tables[table].columns.values()}, where


def test_versions_are_in_order() -> None:
    for reader in consumer_catalog().readers.values():
        days = [one.since for one in reader.versions if one.since]
        assert days == sorted(days), reader.name
