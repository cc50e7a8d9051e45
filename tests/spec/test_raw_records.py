"""Every declaration of a raw record against the documents and against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import construct
import numpy as np
import pytest
from raw_device_offsets import DEVICE
from raw_host_offsets import HOST, VARIABLE
from test_packed import same

from ascend_spec import catalog, packaged, raw_catalog, recording_catalog
from ascend_spec.core.packed import Field, dtype_of
from ascend_spec.raw import records

DOCUMENTED = {**HOST, **DEVICE}

DECLARED: dict[str, construct.Struct] = {
    name: value for name, value in vars(records).items() if isinstance(value, construct.Struct)
}


def test_every_declaration_is_held_against_a_document() -> None:
    assert DECLARED.keys() - VARIABLE == DOCUMENTED.keys()


@pytest.mark.parametrize("name", DOCUMENTED)
def test_sizes_and_offsets_are_those_of_the_document(name: str) -> None:
    size, offsets = DOCUMENTED[name]
    dtype = dtype_of(DECLARED[name])
    assert (DECLARED[name].sizeof(), dtype.itemsize) == (size, size)
    assert dtype.fields is not None
    found = {member: (at, one.itemsize) for member, (one, at, *_) in dtype.fields.items()}
    assert found == offsets


@pytest.mark.parametrize("name", DOCUMENTED)
def test_numpy_reads_what_construct_reads(name: str) -> None:
    record = DECLARED[name]
    rows = np.random.default_rng(5).integers(0, 256, (20, record.sizeof()), np.uint8)
    fast = rows.view(dtype_of(record))[:, 0]
    for row, one in zip(rows, fast, strict=True):
        assert same(record, record.parse(row.tobytes()), one)


# --- facts ----------------------------------------------------------------------------------------


def fields(form: construct.Construct) -> Iterator[tuple[Field, bool]]:
    """The fields of a form, each with whether it holds others."""
    inner = getattr(form, "subcons", None) or [
        one for one in [getattr(form, "subcon", None)] if one
    ]
    below = [found for one in inner for found in fields(one)]
    if isinstance(form, Field):
        yield form, bool(below)
    yield from below


def all_fields() -> list[tuple[str, Field, bool]]:
    texts = [one for row in records.FRAMEWORK_RECORDS.values() for one in row.texts.values()]
    return [
        *((name, *one) for name, record in DECLARED.items() for one in fields(record)),
        *(("texts", one.field, False) for one in texts),
    ]


def test_every_field_shows_something_or_says_why_not() -> None:
    silent = {
        (name, one.name) for name, one, holds in all_fields() if not holds and not one.facts.shows
    }
    assert silent == set()


def test_what_fields_show_is_in_the_recording() -> None:
    entities = recording_catalog().entities
    shown = {of for _, one, _ in all_fields() if one.facts.shows for of in one.facts.shows.of}
    assert len(shown) > 100
    unknown = {
        of for of in shown if of.partition(".")[2] not in entities[of.partition(".")[0]].columns
    }
    assert unknown == set()


def test_what_fields_cite_is_a_source() -> None:
    known = packaged().loader.sources
    cited = {source.partition(" ")[0] for _, one, _ in all_fields() for source in one.facts.source}
    assert cited <= known.keys()


def test_what_names_a_number_is_known() -> None:
    named = {one.facts.values for _, one, _ in all_fields()} - {None}
    raw = raw_catalog()
    known = {*raw.vocabularies, *raw.grammars, *catalog().enums}
    assert named <= known
