"""The spec's documents obey their meta-schemas and hang together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from importlib.resources import files
from itertools import combinations, product
from typing import Any, get_args

import jsonschema_rs
import pytest
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from ascend_spec import catalog, packaged, text_catalog, timeline_catalog
from ascend_spec.core import DAYS, Grade, StorageClass
from ascend_spec.db.model import CARRIERS, Carrier, Column, Enum, Presence, Reading, Table

LISTS = {
    **dict.fromkeys(("errata", "foreign", "revisions"), "db"),
    **dict.fromkeys(("sources", "switches", "value_types", "words"), "core"),
}
READINGS = get_args(Reading)
FAR_PAST, FAR_FUTURE = "0000-00-00", "9999-99-99"


@cache
def schemas() -> Mapping[str, Any]:
    return {
        name.split("/")[1]: content for name, content in packaged().folder.documents("vocabulary")
    }


def errors(kind: str, document: object) -> list[str]:
    """What the meta-schema of a kind of document finds wrong with one, as ``pointer: message``."""
    registry: Registry[Any] = Registry().with_resources(
        (name, DRAFT202012.create_resource(schema)) for name, schema in schemas().items()
    )
    validator = Draft202012Validator(schemas()[f"{kind}.schema.yaml"], registry=registry)
    found: Iterator[ValidationError] = validator.iter_errors(document)
    return [f"{error.json_path}: {error.message}" for error in found]


def tables() -> list[Table]:
    return list(catalog().tables.values())


def columns() -> list[tuple[str, Column]]:
    return [
        (f"{table.name}.{column.name}", column)
        for table in tables()
        for column in table.columns.values()
    ]


def places() -> set[str]:
    """Every table and column of the spec, whatever its dates."""
    return {table.name for table in tables()} | {place for place, _ in columns()}


def members() -> list[tuple[Enum, Any]]:
    return [(enum, member) for enum in catalog().enums.values() for member in enum.members]


# --- the documents, one by one ------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(schemas()))
def test_a_meta_schema_is_a_schema(name: str) -> None:
    jsonschema_rs.meta.validate(schemas()[name])


@pytest.mark.parametrize("name", LISTS)
def test_a_list_obeys_its_meta_schema(name: str) -> None:
    assert errors(name, packaged().folder.read(f"{LISTS[name]}/{name}.yaml")) == []


@pytest.mark.parametrize("name", [name for name, _ in packaged().folder.documents("db/tables")])
def test_a_table_obeys_its_meta_schema(name: str) -> None:
    assert errors("table", packaged().folder.read(name)) == []


@pytest.mark.parametrize("name", [name for name, _ in packaged().folder.documents("db/enums")])
def test_an_enum_obeys_its_meta_schema(name: str) -> None:
    assert errors("enum", packaged().folder.read(name)) == []


def test_every_key_of_a_document_is_described() -> None:
    bare = [
        f"{name} {key}"
        for name, schema in schemas().items()
        for key, fact in _properties(schema)
        if "description" not in fact and "$ref" not in fact
    ]
    assert bare == []


def test_the_shared_words_are_described() -> None:
    words = schemas()["common.schema.yaml"]["$defs"]
    assert [word for word, fact in words.items() if "description" not in fact] == []


def test_every_object_of_a_meta_schema_is_closed() -> None:
    open_objects = [
        name
        for name, schema in schemas().items()
        for part in _parts(schema)
        if part.get("type") == "object" and "additionalProperties" not in part
    ]
    assert open_objects == []


def test_the_closed_sets_are_those_of_the_model() -> None:
    words = schemas()["common.schema.yaml"]["$defs"]
    table = schemas()["table.schema.yaml"]["properties"]
    assert words["carrier"]["enum"] == list(get_args(Carrier)) == list(CARRIERS)
    assert words["grade"]["enum"] == list(get_args(Grade))
    assert words["storageClass"]["enum"] == list(get_args(StorageClass))
    assert table["carriers"]["additionalProperties"]["enum"] == list(get_args(Presence))


def _properties(schema: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for part in _parts(schema):
        yield from part.get("properties", {}).items()


def _parts(schema: object) -> Iterator[dict[str, Any]]:
    """Every mapping inside a schema, the properties' own mapping left out."""
    if isinstance(schema, list):
        for item in schema:
            yield from _parts(item)
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            for inner in value.values() if key in ("properties", "$defs") else [value]:
                yield from _parts(inner)


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        ({"colour": "red"}, "$: Additional properties are not allowed"),
        ({"carriers": {"msprof": "sometimes"}}, "$.carriers.msprof: 'sometimes' is not one of"),
        ({"carriers": {"mindspore": "always"}}, "$.carriers: 'mindspore' is not one of"),
        ({"since": "2026-1-28"}, "$.since: '2026-1-28' does not match"),
        ({"levels": [3]}, "$.levels[0]: 3 is not one of"),
        ({"writer": "somebody"}, "$.writer: 'somebody' is not one of"),
        ({"summary": "No period"}, "$.summary: 'No period' does not match"),
        ({"columns": {"a b": {"type": "flag"}}}, "$.columns: 'a b' does not match"),
        ({"columns": {"a": {"type": "flag", "null": True}}}, "$.columns.a: Additional properties"),
        ({"columns": {"a": {"summary": "A."}}}, "$.columns.a: 'type' is a required property"),
        ({"columns": {"a@2026-01-28": {"type": "flag"}}}, "'name' is a required property"),
        ({"columns": {"a": {"type": "flag", "unit": "mile"}}}, "'mile' is not one of"),
        ({"columns": {"a": {"type": "flag", "storage": ["text", "word"]}}}, "'word' is not one of"),
    ],
)
def test_a_fault_in_a_table_is_noticed(change: Mapping[str, Any], noticed: str) -> None:
    document = {**deepcopy(packaged().folder.read("db/tables/msprof/task.yaml")), **change}
    assert any(noticed in error for error in errors("table", document))


@pytest.mark.parametrize("change", [{"emitted": "no"}, {"id": "7"}, {"until": 2026}, {"color": 1}])
def test_a_fault_in_an_enum_is_noticed(change: Mapping[str, Any]) -> None:
    document = deepcopy(packaged().folder.read("db/enums/hccl_link_type.yaml"))
    document["members"][0].update(change)
    assert errors("enum", document) != []


@pytest.mark.parametrize(
    "change",
    [
        {"documented": {"TASK.startNs": {"colour": "red"}}},
        {"documented": {"TASK": {"name": "x"}}},
        {"at": ["Two words"]},
        {"says": []},
        {"id": "e1"},
    ],
)
def test_a_fault_in_an_erratum_is_noticed(change: Mapping[str, Any]) -> None:
    document = [{**packaged().folder.read("db/errata.yaml")[0], **change}]
    assert errors("errata", document) != []


def test_no_key_comes_twice() -> None:
    root = files("ascend_spec")
    names = [f"{folder}/{name}.yaml" for name, folder in LISTS.items()] + [
        name
        for folder in ("db/tables", "db/enums", "vocabulary")
        for name, _ in packaged().folder.documents(folder)
    ]
    repeated = {
        f"{name} {key}"
        for name in names
        for key in _repeated_keys(yaml.compose((root / name).read_text("utf-8"), yaml.SafeLoader))
    }
    assert repeated == set()


def _repeated_keys(node: yaml.Node | None) -> Iterator[str]:
    """Keys that a mapping holds twice; the YAML reader would drop the first without a word."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated_keys(item)
    if isinstance(node, yaml.MappingNode):
        yield from (key for key, n in Counter(k.value for k, _ in node.value).items() if n > 1)
        for _, value in node.value:
            yield from _repeated_keys(value)


def test_a_key_that_comes_twice_is_noticed() -> None:
    text = "columns: {startNs: {type: timestampNs}, endNs: {}, startNs: {}}"
    assert list(_repeated_keys(yaml.compose(text, yaml.SafeLoader))) == ["startNs"]


# --- the documents together ----------------------------------------------------------------------


def test_names_are_given_once() -> None:
    for name, folder in LISTS.items():
        rows = packaged().folder.read(f"{folder}/{name}.yaml")
        if isinstance(rows, list) and name != "foreign":
            repeated = [key for key, n in Counter(row["id"] for row in rows).items() if n > 1]
            assert repeated == [], name
    named = [
        name
        for _, row in packaged().folder.documents("db/tables")
        for name in _listed(row["table"])
    ]
    assert [name for name, n in Counter(named).items() if n > 1] == []
    assert len(named) == len(catalog().tables)


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]


def test_cited_sources_exist() -> None:
    cited = {
        citation.split(" ")[0]
        for fact in (*tables(), *(c for _, c in columns()), *(m for _, m in members()))
        for citation in fact.source
    } | {source for erratum in catalog().errata.values() for source, _ in erratum.says}
    assert cited - set(catalog().documents.sources) == set()


def test_every_fact_has_a_source() -> None:
    assert [place for place, column in columns() if not column.source] == []
    assert [(enum.name, member.id) for enum, member in members() if not member.source] == []


def test_cited_errata_exist_and_name_the_place_that_cites_them() -> None:
    at = {erratum.id: set(erratum.at) for erratum in catalog().errata.values()}
    cited = [
        *((table.name, erratum) for table in tables() for erratum in table.errata),
        *((place, erratum) for place, column in columns() for erratum in column.errata),
        *((enum.name, erratum) for enum, member in members() for erratum in member.errata),
    ]
    strangers = [
        f"{place} {erratum}"
        for place, erratum in cited
        if not {place, place.split(".")[0]} & at.get(erratum, set())
    ]
    assert sorted(set(strangers)) == []


def test_errata_with_a_place_are_cited_there() -> None:
    cited = {
        *((table.name, erratum) for table in tables() for erratum in table.errata),
        *((place, erratum) for place, column in columns() for erratum in column.errata),
        *((enum.name, erratum) for enum, member in members() for erratum in member.errata),
    }
    silent = [
        f"{place} {erratum.id}"
        for erratum in catalog().errata.values()
        for place in erratum.at
        if place in places() and (place, erratum.id) not in cited
    ]
    assert silent == []


def test_errata_name_places_that_exist() -> None:
    topics = {"viewer-unit-tests", "viewer-fixture-full-db"}
    named = {place for erratum in catalog().errata.values() for place in erratum.at}
    assert named - places() == topics
    patched = {place for erratum in catalog().errata.values() for place in erratum.documented}
    assert patched - named == set()


def test_errata_are_numbered_without_gaps() -> None:
    assert list(catalog().errata) == [f"E{n}" for n in range(1, len(catalog().errata) + 1)]


def test_a_documented_patch_changes_something() -> None:
    idle = [
        f"{place} {key}"
        for erratum in catalog().errata.values()
        for place, patch in erratum.documented.items()
        for key, value in patch.items()
        for found, column in columns()
        if found == place and column.grade == "documented"
        if getattr(column, key) == (tuple(value) if isinstance(value, list) else value)
    ]
    assert idle == []


def test_referenced_columns_exist() -> None:
    targets = {target for _, column in columns() for target in column.references} | {
        target for kind in catalog().documents.value_types.values() for target in kind.references
    }
    assert targets - places() == set()


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_reference_has_a_target_wherever_it_stands(carrier: Carrier) -> None:
    dangling = {
        f"{revision.id} {table.name}.{column.name}"
        for revision in catalog().revisions
        for schema in [catalog().at(revision.id, carrier)]
        for table in schema.tables.values()
        for column in table.columns.values()
        if column.references and not any(schema.column(target) for target in column.references)
    }
    assert sorted(dangling) == []


def test_cited_switches_and_products_exist_and_are_used() -> None:
    layers = timeline_catalog().layers.values()
    switched = (*tables(), *text_catalog().csv.values(), *layers)
    switches = {switch for fact in switched for switch in fact.switches}
    products = {product for table in tables() for product in table.products}
    assert switches == set(catalog().documents.switches)
    assert products - set(catalog().products) == set()


def test_cited_value_types_exist_and_are_used() -> None:
    patched = {
        str(patch["type"])
        for erratum in catalog().errata.values()
        for patch in erratum.documented.values()
        if "type" in patch
    }
    used = {column.type for _, column in columns()}
    assert used | patched == set(catalog().documents.value_types)


def test_a_table_that_is_switched_names_its_switches() -> None:
    unnamed = [
        table.name
        for table in tables()
        if "by-switch" in table.carriers.values() and not table.switches
    ]
    assert unnamed == []


def test_roles_name_columns_of_their_table() -> None:
    for table in tables():
        names = {column.name for column in table.columns.values()}
        roles = {*(table.interval or ()), table.sample, table.device} - {None}
        roles |= {name for over in table.indexes.values() for name in over}
        assert roles - names == set(), table.name


def test_every_enum_table_has_its_members_and_every_enum_its_table() -> None:
    assert {name for name in catalog().tables if name.startswith("ENUM_")} == set(catalog().enums)


def test_foreign_objects_are_not_in_the_spec_or_only_at_other_dates() -> None:
    always = [
        f"{item.table}.{item.column}" if item.column else item.table
        for item in catalog().foreign_objects
        if item.table in catalog().tables
        and all(
            item.column is None or item.column in schema.tables[item.table].columns
            for revision in catalog().revisions
            for carrier in CARRIERS
            for schema in [catalog().at(revision.id, carrier)]
            if item.table in schema.tables
        )
        and DAYS.in_force(catalog().tables[item.table], catalog().revisions[0].date)
    ]
    # The viewer's stand-ins in files older than our oldest revision.
    assert sorted(always) == ["COMMUNICATION_OP.opType", "PYTORCH_API.type"]


def test_summaries_stand_everywhere() -> None:
    assert [
        place for place, column in columns() if not re.search(r"\S[.!?]$", column.summary)
    ] == []
    assert [table.name for table in tables() if not table.summary] == []


# --- dates ---------------------------------------------------------------------------------------


def bounds(fact: Any) -> tuple[str, str]:
    return fact.since or FAR_PAST, fact.until or FAR_FUTURE


def test_a_fact_begins_before_it_ends_and_holds_at_some_revision() -> None:
    dates = [revision.date for revision in catalog().revisions]
    facts = [
        *((table.name, table) for table in tables()),
        *columns(),
        *((f"{enum.name} {member.id}", member) for enum, member in members()),
    ]
    unseen = [name for name, fact in facts if not any(DAYS.in_force(fact, date) for date in dates)]
    assert unseen == []


def test_a_column_lives_within_its_table() -> None:
    outside = [
        f"{table.name}.{column.name}"
        for table in tables()
        for column in table.columns.values()
        if (bounds(column)[0] < (table.since or FAR_PAST) and column.since)
        or (bounds(column)[1] > (table.until or FAR_FUTURE) and column.until)
    ]
    assert outside == []


def test_a_name_means_one_thing_at_a_time() -> None:
    overlaps = [
        f"{table.name}.{one.name}"
        for table in tables()
        for one, other in combinations(table.columns.values(), 2)
        if one.name.lower() == other.name.lower() and _overlap(one, other)
    ]
    assert overlaps == []


def test_an_enum_id_and_an_enum_name_stand_for_each_other() -> None:
    clashes = [
        f"{enum.name} {one.id} {one.name}, {other.id} {other.name}"
        for enum in catalog().enums.values()
        for one, other in combinations(enum.members, 2)
        if (one.id == other.id or one.name == other.name) and _overlap(one, other)
    ]
    assert clashes == []


def test_a_renamed_column_takes_over_on_the_day_the_old_one_ends() -> None:
    for table in tables():
        for column in table.columns.values():
            if column.renamed_from:
                ends = [c.until for c in table.columns.values() if c.name == column.renamed_from]
                assert column.since in ends, f"{table.name}.{column.name}"


def _overlap(one: Any, other: Any) -> bool:
    (start, end), (other_start, other_end) = bounds(one), bounds(other)
    return start < other_end and other_start < end


@pytest.mark.parametrize(
    ("revision", "carrier", "reading"),
    list(product([r.id for r in catalog().revisions], CARRIERS, READINGS)),
)
def test_every_state_of_the_spec_loads(revision: str, carrier: Carrier, reading: Reading) -> None:
    schema = catalog().at(revision, carrier, reading)
    # Both documents are about the msprof and the pytorch database only.
    assert bool(schema.tables) != (carrier == "analysis" and reading == "documented")
    assert [table.name for table in schema.tables.values() if not table.columns] == []
    assert set(schema.enums) == {name for name in schema.tables if name.startswith("ENUM_")}
    assert [name for name, rows in schema.enums.items() if not rows] == []
    for name, rows in schema.enums.items():
        for identifier, member in rows.items():
            assert member in schema.accepted[name][identifier]
