"""The recording: every cell of every medium shows one of its values, or says why it shows none."""

from __future__ import annotations

from dataclasses import fields

from test_vocabulary import errors

from ascend_ref import derive
from ascend_ref.capture.model import Capture
from ascend_ref.capture.records import RECORDS
from ascend_spec import catalog, packaged, recording_catalog, text_catalog
from ascend_spec.recording import REASONS, Shower

OTHERWISE_STORED = {
    "PYTORCH_API.startNs",
    "PYTORCH_API.endNs",
    "HOST_INFO.hostUid",
    "MSTX_EVENTS.category",
}


def test_entities_obey_their_schema() -> None:
    for name, row in packaged().folder.documents("recording"):
        assert errors("recording_entity", row) == [], name


def test_every_cell_shows_a_value_or_says_why_not() -> None:
    for shower in recording_catalog().showers:
        for cell, show in shower.cells.items():
            place = f"{shower.name} {cell}"
            assert bool(show.of) == (show.reason is None), place
            assert show.reason is None or show.reason in REASONS, place
            for value in (*show.of, *shower.fixed):
                entity, _, column = value.partition(".")
                assert column in recording_catalog().entities[entity].columns, (
                    f"{place} shows {value}"
                )
            if show.pattern is not None:
                named = [value.partition(".")[2] for value in show.of]
                assert all(f"{{{name}}}" in show.pattern for name in named), place


def test_every_table_file_and_kind_of_event_is_there() -> None:
    names = {(one.medium, one.name) for one in recording_catalog().showers}
    assert {name for medium, name in names if medium == "database"} == set(catalog().tables)
    assert {name for medium, name in names if medium == "csv"} == set(text_catalog().csv)
    assert len(names) == len(recording_catalog().showers)


def test_row_conditions_name_a_cell_and_an_entity_of_their_shower() -> None:
    for shower in recording_catalog().showers:
        for entity, test in shower.rows.items():
            assert entity in shower.entities, shower.name
            assert test.cell in shower.cells, shower.name


def test_every_value_but_those_of_records_is_shown() -> None:
    """What no table, file or event shows could neither be written nor judged."""
    for entity in recording_catalog().entities.values():
        shown = {
            column
            for one in recording_catalog().showers_of(entity.name)
            for column in one.columns(entity.name)
        }
        if entity.interval and len(shown & set(entity.interval)) > 1:
            shown |= set(entity.interval)
        if entity.name != "group":  # a part of META_DATA's parallel_group_info
            assert set(entity.columns) - shown == set(), entity.name


def test_texts_are_shown_by_texts_and_numbers_by_numbers() -> None:
    """But for texts by id, words and patterns, and times that PYTORCH_API holds as text."""
    for table in catalog().tables.values():
        for column in table.columns.values():
            place = f"{table.name}.{column.name}"
            if column.shows.form != "plain" or place in OTHERWISE_STORED:
                continue
            entity, _, name = column.shows.of[0].partition(".")
            by_id = any(".id" in one and one[:4] in ("STRI", "ENUM") for one in column.references)
            is_text = by_id or "text" in column.storage
            assert recording_catalog().entities[entity].columns[name].is_text == is_text, place


def test_captures_derivations_and_enums_exist() -> None:
    attributes = {one.name for one in fields(Capture)}
    for entity in recording_catalog().entities.values():
        assert set(entity.key) | set(entity.identity) <= set(entity.columns), entity.name
        for column in entity.columns.values():
            assert column.enum is None or column.enum in catalog().enums, column.name
        if entity.capture:
            attribute, _, inside = entity.capture.partition(".")
            assert attribute in attributes, entity.name
            assert attribute != "records" or inside in RECORDS, entity.name
            assert attribute != "samples" or inside in catalog().tables, entity.name
    assert derive.__doc__


def _shower(medium: str, name: str) -> Shower:
    return next(
        one for one in recording_catalog().showers if (one.medium, one.name) == (medium, name)
    )


def test_a_copy_shows_what_its_original_shows_under_its_own_names() -> None:
    details = _shower("csv", "kernel_details")
    assert details.cells["Name"].of == ("kernel.name", "collective.name")
    assert details.rows["collective"].cell == "Accelerator Core"
    assert details.columns("collective") == ("name", "kind", "start", "length")
