"""The contracts of readers obey their meta-schemas, and name what the spec has."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from test_vocabulary import errors

from ascend_conformance.consumers.contracts import CONDITIONS
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
    of: dict[str, set[str]] = {}
    for one in consumer_catalog().behaviours.values():
        of.setdefault(one.of, set()).add(one.id)
    assert of == {"timeline": set(BEHAVIOURS), "database": set(CONDITIONS)}


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
        for name, sets in (
            *((name, (columns,)) for name, columns in read.tables.items()),
            *((name, sets) for name, sets in read.either.items() if name in read.tables),
        )
        for column in {column for columns in sets for column in columns}
        if column not in tables.get(name, set())
    ]
    strange += [
        f"{where}: {name}: {header}"
        for where, read in reads()
        for name, headers in read.csv.items()
        for header in (*headers, *(one for of in read.either.get(name, ()) for one in of))
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
    """They run on tables that have nothing but the columns that the part reads."""
    for _, part in parts():
        columns: dict[str, set[str]] = {}
        for read in part.reads:
            for table, names in read.tables.items():
                columns.setdefault(table, set()).update(names)
        database = sqlite3.connect(":memory:")
        for table, found in columns.items():
            listed = ", ".join(f'"{column}"' for column in sorted(found))
            database.execute(f'CREATE TABLE "{table}" ({listed})')
        for rows in (rows for read in part.reads for rows in (read.rows, read.unless) if rows):
            if rows.of in columns:
                database.execute(f'SELECT 1 FROM "{rows.of}" WHERE {rows.where or 1}')
            for join in rows.joins:
                table, column = join.to.split(".")
                assert join.column in columns[rows.of], part.name
                assert column in {one.name for one in catalog().tables[table].columns.values()}


def test_versions_are_in_order() -> None:
    for reader in consumer_catalog().readers.values():
        days = [one.since for one in reader.versions if one.since]
        assert days == sorted(days), reader.name
