"""The documents of raw files obey their meta-schemas and hang together."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from string import Formatter
from typing import Any, get_args

import pytest
import yaml
from test_vocabulary import _repeated_keys, errors, schemas

from ascend_spec import (
    catalog,
    packaged,
    raw_catalog,
    recording_catalog,
    text_catalog,
    timeline_catalog,
)
from ascend_spec.core.packed import FieldFacts
from ascend_spec.core.shows import Show
from ascend_spec.raw import records
from ascend_spec.raw.model import Export, Form, Side, TaskSource

DOCUMENTS = {
    "chips": "raw_chips",
    "errata": "raw_errata",
    "files": "raw_files",
    "parts": "layout_parts",
    "text": "raw_text",
    "vocabularies": "raw_vocabularies",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_obeys_its_meta_schema(name: str) -> None:
    assert errors(DOCUMENTS[name], packaged().folder.read(f"raw/{name}.yaml")) == []


def test_no_document_is_left_out() -> None:
    folder = files("ascend_spec") / "raw"
    held = {entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml")}
    assert held == {f"{name}.yaml" for name in DOCUMENTS}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_key_comes_twice(name: str) -> None:
    text = (files("ascend_spec") / f"raw/{name}.yaml").read_text("utf-8")
    assert list(_repeated_keys(yaml.compose(text, yaml.SafeLoader))) == []


def test_the_closed_sets_are_those_of_the_model() -> None:
    file = schemas()["raw_files.schema.yaml"]["items"]["properties"]
    assert file["side"]["enum"] == list(get_args(Side))
    assert ["records", *file["form"]["enum"]] == list(get_args(Form))
    chip = schemas()["raw_chips.schema.yaml"]
    assert chip["items"]["properties"]["tasks"]["enum"] == list(get_args(TaskSource))
    assert chip["$defs"]["exports"]["items"]["enum"] == list(get_args(Export))


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        ({"form": "text"}, "is valid under each of"),
        ({"chips": [1], "not_on": [9]}, "should not be valid under"),
        ({"feeds": ["rule/X"]}, "does not match"),
        ({"read": True}, "False was expected"),
        ({"errata": ["E1"]}, "'E1' does not match"),
        ({"colour": "red"}, "Additional properties are not allowed"),
        ({"select": "type"}, "'members' is a dependency of 'select'"),
    ],
)
def test_a_fault_in_a_file_is_noticed(change: dict[str, Any], noticed: str) -> None:
    rows = packaged().folder.read("raw/files.yaml")
    row = next(one for one in rows if one["file"] == "memcpy_info")
    assert any(noticed in error for error in errors("raw_files", [{**row, **change}]))


# --- what the documents refer to -----------------------------------------------------------------


def test_each_part_of_a_name_is_described() -> None:
    raw = raw_catalog()
    parts = {
        part
        for file in raw.files.values()
        for form in file.forms
        for _, part, _, _ in Formatter().parse(form.template)
        if part is not None
    }
    assert parts - raw.parts.keys() == set()
    own = packaged().folder.read("raw/parts.yaml")
    assert own.keys() - parts == set()


def test_each_record_is_declared_and_each_declaration_is_of_a_file() -> None:
    raw = raw_catalog()
    named = {one.record for file in raw.files.values() for one in file.members}
    for name in named:
        raw.record(name)
    with pytest.raises(KeyError, match="unknown record 'HEAD_SIZE'"):
        raw.record("HEAD_SIZE")


def test_each_file_has_content_of_one_kind() -> None:
    raw = raw_catalog()
    for file in raw.files.values():
        assert bool(file.members) == (file.form == "records"), file.file
        assert (file.document is not None) == (file.form == "json"), file.file
        assert file.grammar is None or file.form == "text", file.file
    grammars = {file.grammar for file in raw.files.values()}
    assert raw.grammars.keys() - grammars == {"done"}
    assert grammars - {None} - raw.grammars.keys() == set()
    documents = {file.document for file in raw.files.values() if file.document}
    for document in documents:
        assert raw.document_schema(document)["type"] == "object"


def test_each_table_csv_file_and_layer_that_is_fed_exists() -> None:
    known = {
        *(f"table/{name}" for name in catalog().tables),
        *(f"csv/{name}" for name in text_catalog().csv),
        *(f"layer/{name}" for name in timeline_catalog().layers),
    }
    fed = {one for file in raw_catalog().files.values() for one in file.feeds}
    assert fed - known == set()


def test_each_chip_and_each_key_of_a_side_file_exists() -> None:
    raw = raw_catalog()
    for file in raw.files.values():
        assert set(file.chips) <= raw.chips.keys(), file.file
        assert list(file.chips) == sorted(file.chips), file.file
        for one in file.members:
            assert set(one.chips) <= set(file.chips), (file.file, one.record)
            for key in one.when:
                document, _, name = key.partition("/")
                schema = raw.document_schema(document.removesuffix(".json"))
                assert name in schema["properties"], key


def test_the_selecting_field_is_one_of_each_member_with_values() -> None:
    raw = raw_catalog()
    for file in raw.files.values():
        for one in file.members:
            if one.values:
                names = {name for name, _ in fields(raw.record(one.record))}
                other = {"EVENT": "eventFlag"}.get(one.record, file.select)
                assert other in names, (file.file, one.record)


def test_members_that_differ_by_the_same_values_differ_by_chip_or_setting() -> None:
    for file in raw_catalog().files.values():
        seen = [
            (value, chip, setting)
            for one in file.members
            for value in one.values or (None,)
            for chip in one.chips
            for setting in (one.when or {"": ""}).items()
        ]
        assert len(seen) == len(set(seen)), file.file


def test_the_switches_are_those_of_what_is_collected_together() -> None:
    raw = raw_catalog()
    assert raw.files["task_track"].switches == ("task-time",)
    assert raw.files["hbm"].switches == ("sys-hardware-mem",)
    assert raw.files["hash_dic"].switches == ()
    assert {one for file in raw.files.values() for one in file.switches} <= set(
        catalog().documents.switches
    )


def test_cited_sources_exist() -> None:
    raw = raw_catalog()
    facts = (*raw.files.values(), *raw.chips.values(), *raw.vocabularies.values())
    cited = {one.split(" ")[0] for fact in (*facts, *raw.grammars.values()) for one in fact.source}
    cited |= {
        one.split(" ")[0]
        for file in raw.files.values()
        for member in file.members
        for _, known in fields(raw.record(member.record))
        if known is not None
        for one in known.source
    }
    assert cited - set(catalog().documents.sources) == set()


# --- errata --------------------------------------------------------------------------------------


def test_errata_are_numbered_without_gaps() -> None:
    errata = list(raw_catalog().errata)
    assert errata == [f"U{number}" for number in range(1, len(errata) + 1)]


def test_errata_name_files_that_name_them() -> None:
    raw = raw_catalog()
    named = {place for erratum in raw.errata.values() for place in erratum.at}
    assert named - raw.files.keys() == {"exporter", "real-captures"}
    for file in raw.files.values():
        about = {erratum.id for erratum in raw.errata.values() if file.file in erratum.at}
        assert set(file.errata) == about, file.file
    of_fields = {
        erratum
        for file in raw.files.values()
        for member in file.members
        for _, known in fields(raw.record(member.record))
        if known is not None
        for erratum in known.errata
    }
    assert of_fields - raw.errata.keys() == set()


def test_who_states_something_about_an_erratum_is_a_source() -> None:
    says = {who for erratum in raw_catalog().errata.values() for who, _ in erratum.says}
    assert says - set(catalog().documents.sources) == set()


# --- records -------------------------------------------------------------------------------------


def fields(form: Any) -> Iterator[tuple[str, FieldFacts | None]]:
    """Name and facts of every field of a record, those inside of others too."""
    for one in getattr(form, "subcons", ()):
        if one.name:
            yield one.name, getattr(one, "facts", None)
        yield from fields(one)
    inner = getattr(form, "subcon", None)
    if inner is not None:
        yield from fields(inner)


def shows_of_raw() -> Iterator[tuple[str, Show]]:
    """What each field and each part of a line shows."""
    raw = raw_catalog()
    for name in dict.fromkeys(one.record for file in raw.files.values() for one in file.members):
        for field, known in fields(raw.record(name)):
            if known is not None and known.shows is not None:
                yield f"{name}.{field}", known.shows
    for record in records.FRAMEWORK_RECORDS.values():
        for text in record.texts.values():
            if text.field.facts.shows is not None:
                yield text.field.name, text.field.facts.shows
    for grammar in raw.grammars.values():
        for part in grammar.parts.values():
            yield f"{grammar.grammar}.{part.name}", part.shows


def test_what_fields_show_are_values_of_the_recording() -> None:
    known = {
        f"{entity.name}.{column}"
        for entity in recording_catalog().entities.values()
        for column in entity.columns
    }
    lost = {
        f"{place}: {one}" for place, show in shows_of_raw() for one in show.of if one not in known
    }
    assert lost == set()


def test_what_names_the_numbers_of_a_field_exists() -> None:
    raw = raw_catalog()
    known = {*raw.vocabularies, *catalog().enums, *raw.files}
    named = {
        facts.values
        for file in raw.files.values()
        for one in file.members
        for _, facts in fields(raw.record(one.record))
        if facts is not None and facts.values is not None
    }
    assert named - known == set()


def test_the_members_of_a_vocabulary_are_named_once() -> None:
    for one in raw_catalog().vocabularies.values():
        values = [member.value for member in one.members]
        assert len(values) == len(set(values)), one.name


@pytest.mark.parametrize(
    ("vocabulary", "kinds", "undescribed"),
    [
        ("stars_kinds", ["stars_soc", "stars_block"], set()),
        ("profile_kinds", ["ffts_profile"], set()),
        ("soc_kinds", ["stars_soc_profile"], set()),
        ("track_kinds", ["ts_track"], {13}),
    ],
)
def test_the_kinds_of_a_vocabulary_are_those_of_its_files(
    vocabulary: str, kinds: list[str], undescribed: set[int]
) -> None:
    raw = raw_catalog()
    named = {one.value for one in raw.vocabularies[vocabulary].members}
    held = {value for kind in kinds for one in raw.files[kind].members for value in one.values}
    assert named - held == undescribed
    assert held <= named
