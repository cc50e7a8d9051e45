"""The documents of visualize_data.bin obey their meta-schemas and hang together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, get_args

import jsonschema_rs
import pytest
import yaml
from test_vocabulary import _repeated_keys, errors, schemas

from ascend_spec import bin_catalog, packaged
from ascend_spec.bin.model import Payload, Read, Writer
from ascend_spec.core.dialect import walk

DOCUMENTS = [
    "blocks",
    "columns",
    "compute_load",
    "enums",
    "epochs",
    "errata",
    "memory_paths",
    "memory_tables",
    "rooflines",
]
PAYLOADS = [name for name, _ in packaged().folder.documents("bin/payloads")]
SHARED = "bin/payloads/common.schema.yaml"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_obeys_its_meta_schema(name: str) -> None:
    assert errors(f"bin_{name}", packaged().folder.read(f"bin/{name}.yaml")) == []


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_obeys_its_meta_schema(name: str) -> None:
    assert errors("dialect", packaged().folder.read(name)) == []


def test_no_document_is_left_out() -> None:
    folder = files("ascend_spec") / "bin"
    held = {entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml")}
    assert held == {f"{name}.yaml" for name in DOCUMENTS}
    slugs = [b.slug for code, b in bin_catalog().blocks.items() if bin_catalog().has_schema(code)]
    assert {f"bin/payloads/{slug}.schema.yaml" for slug in slugs} == set(PAYLOADS) - {SHARED}


@pytest.mark.parametrize("name", [*(f"bin/{name}.yaml" for name in DOCUMENTS), *PAYLOADS])
def test_no_key_comes_twice(name: str) -> None:
    text = (files("ascend_spec") / name).read_text("utf-8")
    assert list(_repeated_keys(yaml.compose(text, yaml.SafeLoader))) == []


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        ({"values_off": "op_types"}, "Additional properties are not allowed"),
        ({"since": "2024"}, "'2024' does not match"),
        ({"unit": "mile"}, "'mile' is not one of"),
        ({"advisory": True}, "'erratum' is a dependency of 'advisory'"),
        ({"erratum": "E1"}, "'E1' does not match"),
        ({"description": "no period"}, "'no period' does not match"),
        ({"anyOf": [{}]}, "[{}] is too short"),
        ({"oneOf": [{}, {}]}, "Additional properties are not allowed"),
        ({"$ref": "other.yaml#/$defs/x"}, "does not match"),
    ],
)
def test_a_fault_in_a_payload_is_noticed(change: Mapping[str, Any], noticed: str) -> None:
    document = {**packaged().folder.read("bin/payloads/basic-info.schema.yaml"), **change}
    assert any(noticed in error for error in errors("dialect", document))


def test_the_closed_sets_are_those_of_the_model_and_the_enums() -> None:
    block = schemas()["bin_blocks.schema.yaml"]["items"]["properties"]
    assert block["payload"]["enum"] == list(get_args(Payload))
    assert block["read"]["enum"] == list(get_args(Read))
    assert block["written"]["propertyNames"]["enum"] == list(get_args(Writer))
    words = schemas()["bin_common.schema.yaml"]["$defs"]
    enums = bin_catalog().enums
    chips = [member.value for member in enums["chips"].members]
    assert words["chip"]["enum"] == words["chips"]["items"]["enum"] == chips
    proper = [one.value for one in enums["op_types"].members if one.alias_of is None]
    assert words["opType"]["enum"] == proper


# --- errata --------------------------------------------------------------------------------------


def values_under(value: Any, *keys: str) -> Iterator[Any]:
    """Whatever a document says under one of the keys, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in keys and isinstance(inner, str | list):
                yield from inner if isinstance(inner, list) else [inner]
            yield from values_under(inner, *keys)
    elif isinstance(value, list):
        for inner in value:
            yield from values_under(inner, *keys)


def cited_errata() -> set[str]:
    names = [*(f"bin/{name}.yaml" for name in DOCUMENTS if name != "errata"), *PAYLOADS]
    keys = ("erratum", "errata", "bandwidth_erratum")
    cited = {one for name in names for one in values_under(packaged().folder.read(name), *keys)}
    return cited | set(packaged().folder.read("bin/memory_tables.yaml")["old_headers"].values())


def test_errata_are_numbered_without_gaps() -> None:
    assert list(bin_catalog().errata) == [f"B{n}" for n in range(1, len(bin_catalog().errata) + 1)]


def test_cited_errata_exist() -> None:
    assert cited_errata() - set(bin_catalog().errata) == set()


def test_an_erratum_about_a_place_is_cited_or_about_a_block_type() -> None:
    silent = {
        erratum.id
        for erratum in bin_catalog().errata.values()
        if any("/" in place for place in erratum.at) and erratum.id not in cited_errata()
    }
    assert silent == set()


def places_of(code: int) -> set[str]:
    return {
        f"0x{code:02X}{place}"
        for epoch in bin_catalog().epochs
        for place, _ in walk(bin_catalog().payload_schema(code, epoch.id))
    }


def test_errata_name_places_that_exist() -> None:
    known = {f"0x{code:02X}" for code in bin_catalog().blocks}
    for code in bin_catalog().blocks:
        known |= places_of(code) if bin_catalog().has_schema(code) else set()
    named = {place for erratum in bin_catalog().errata.values() for place in erratum.at}
    # Misspelled by the document, so that no schema has it.
    assert {place for place in named if place.startswith("0x")} - known == {
        "0x09/table_per_block/*/tables_detail"
    }
    assert {place for place in named if not place.startswith("0x")} == {
        "header",
        "framing",
        "canonical-json",
        "viewer-messages",
        "documented-examples",
    }


def test_an_erratum_in_a_schema_is_about_the_place_where_it_stands() -> None:
    """The place itself, one above or below it, or the block type."""
    strangers = set()
    for code in filter(bin_catalog().has_schema, bin_catalog().blocks):
        for epoch in bin_catalog().epochs:
            for place, node in walk(bin_catalog().payload_schema(code, epoch.id)):
                at = bin_catalog().errata[node["erratum"]].at if "erratum" in node else ()
                here = f"0x{code:02X}{place}"
                related = any(
                    one == f"0x{code:02X}"
                    or f"{one}/".startswith(f"{here}/")
                    or f"{here}/".startswith(f"{one}/")
                    for one in at
                )
                if at and not related:
                    strangers.add(f"{here} {node['erratum']}")
    assert strangers == set()


# --- everything else -----------------------------------------------------------------------------


def test_cited_sources_exist() -> None:
    names = [*(f"bin/{name}.yaml" for name in DOCUMENTS), *PAYLOADS]
    cited = {
        citation.split(" ")[0]
        for name in names
        for citation in values_under(packaged().folder.read(name), "source")
    }
    assert cited - set(bin_catalog().documents.sources) == set()


def test_block_types_are_named_once_and_in_order() -> None:
    blocks = list(bin_catalog().blocks.values())
    assert [block.code for block in blocks] == list(range(16))
    for attribute in ("name", "slug"):
        assert Counter(getattr(block, attribute) for block in blocks).most_common(1)[0][1] == 1
    assert [block.slug for block in blocks] == [block.name.replace(" ", "-") for block in blocks]


def test_each_kind_of_run_writes_its_types_one_after_the_other() -> None:
    for writer in get_args(Writer):
        written = [
            b.written[writer].place for b in bin_catalog().blocks.values() if writer in b.written
        ]
        assert sorted(written) == list(range(len(written))), writer


def test_required_block_types_exist_and_are_others() -> None:
    for block in bin_catalog().blocks.values():
        assert all(
            one.block in bin_catalog().blocks and one.block != block.code for one in block.requires
        )


def test_epochs_follow_each_other_and_all_but_the_last_have_signs() -> None:
    epochs = bin_catalog().epochs
    assert [epoch.id for epoch in epochs] == [f"E{n}" for n in range(len(epochs))]
    assert sorted(epoch.date for epoch in epochs) == [epoch.date for epoch in epochs]
    assert [bool(epoch.signs) for epoch in epochs] == [True, True, True, False]


def test_a_sign_is_of_a_block_type_that_the_epoch_has() -> None:
    facts = bin_catalog()
    for epoch in facts.epochs:
        for code, form in epoch.signs.items():
            jsonschema_rs.meta.validate(form)
            assert facts.axis.in_force(facts.blocks[code], epoch.id)


def test_referenced_places_exist() -> None:
    for code in filter(bin_catalog().has_schema, bin_catalog().blocks):
        for _, node in walk(bin_catalog().payload_schema(code, "E3")):
            for target in node.get("references", ()):
                other = int(target[:4], 16)
                assert target in (places_of(other) if "/" in target else {f"0x{other:02X}"})


def test_an_alias_stands_for_a_value_of_its_enum() -> None:
    for enum in bin_catalog().enums.values():
        values = {member.value for member in enum.members}
        assert len(values) == len(enum.members), enum.name
        assert {one.alias_of for one in enum.members} - {None} <= values, enum.name


def test_values_that_went_out_of_use_have_an_erratum() -> None:
    silent = [
        (enum.name, member.value)
        for enum in bin_catalog().enums.values()
        for member in enum.members
        if member.until and not member.erratum
    ]
    assert silent == []
