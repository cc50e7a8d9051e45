"""The documents of the text deliverables obey their meta-schemas and hang together."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from importlib import import_module
from importlib.resources import files
from inspect import getmembers, isfunction
from itertools import combinations
from pkgutil import iter_modules
from typing import Any, get_args

import pytest
import yaml
from test_vocabulary import _repeated_keys, errors, schemas

from ascend_ref import derive
from ascend_spec import catalog, packaged, recording_catalog, text_catalog, timeline_catalog
from ascend_spec.text import CsvColumn, CsvFile
from ascend_spec.text import model as text_model
from ascend_spec.text import pmu as text_pmu
from ascend_spec.text.catalog import FOLDER

LISTS = ["errata", "formats", "pmu", "writers"]
CSV = [name for name, _ in packaged().folder.documents(f"{FOLDER}/csv")]
TOPICS = {"flow-ids", "pid-packing", "pmu-coefficients", "pmu-layout", "screenshots"}
FAR_PAST, FAR_FUTURE = "0000-00-00", "9999-99-99"


def columns() -> list[tuple[CsvFile, CsvColumn]]:
    return [(file, column) for file in text_catalog().csv.values() for column in file.columns]


def csv_places() -> set[str]:
    return set(text_catalog().csv) | {f"{file.name}/{column.name}" for file, column in columns()}


# --- the documents, one by one ------------------------------------------------------------------


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_text_facts_obeys_its_meta_schema(name: str) -> None:
    assert errors(f"text_{name}", packaged().folder.read(f"{FOLDER}/{name}.yaml")) == []


def test_text_value_types_obey_the_meta_schema_of_value_types() -> None:
    assert errors("value_types", packaged().folder.read(f"{FOLDER}/value_types.yaml")) == []


@pytest.mark.parametrize("name", CSV)
def test_a_csv_file_obeys_its_meta_schema(name: str) -> None:
    assert errors("text_csv", packaged().folder.read(name)) == []


@pytest.mark.parametrize("name", CSV)
def test_a_csv_file_stands_in_the_document_of_its_name(name: str) -> None:
    assert name == f"{FOLDER}/csv/{packaged().folder.read(name)['file']}.yaml"


def test_no_text_document_is_left_out() -> None:
    held = {entry.name for entry in (files("ascend_spec") / FOLDER).iterdir()}
    assert {name for name in held if name.endswith(".yaml")} == {
        f"{name}.yaml" for name in (*LISTS, "value_types")
    }


@pytest.mark.parametrize("name", [*(f"{FOLDER}/{name}.yaml" for name in LISTS), *CSV])
def test_no_key_of_a_text_document_comes_twice(name: str) -> None:
    text = (files("ascend_spec") / name).read_text("utf-8")
    assert list(_repeated_keys(yaml.compose(text, yaml.SafeLoader))) == []


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        ({"colour": "red"}, "$: Additional properties are not allowed"),
        ({"writers": ["somebody"]}, "$.writers[0]: 'somebody' does not match"),
        ({"data": ["tasks"]}, "$.data: ['tasks'] is not valid under any"),
        ({"modules": {"somebody": "x"}}, "'somebody' is not one of"),
        ({"needs": ["luck"]}, "$.needs[0]: 'luck' is not one of"),
        ({"columns": [{"name": "a,b", "type": "count", "summary": "A."}]}, "'a,b' does not match"),
        ({"columns": [{"name": "a", "type": "count"}]}, "'summary' is a required property"),
        (
            {"columns": [{"name": "a", "type": "count", "summary": "A.", "format": "fixed-12"}]},
            "$.columns[0].format: 'fixed-12' is not valid",
        ),
        (
            {"columns": [{"name": "a", "type": "count", "summary": "A.", "when": {"moon": 1}}]},
            "$.columns[0].when: Additional properties",
        ),
    ],
)
def test_a_fault_in_a_csv_document_is_noticed(change: dict[str, Any], noticed: str) -> None:
    document = {**deepcopy(packaged().folder.read(f"{FOLDER}/csv/op_statistic.yaml")), **change}
    assert any(noticed in error for error in errors("text_csv", document))


def test_the_closed_sets_of_text_are_those_of_the_model() -> None:
    words = schemas()["text_common.schema.yaml"]["$defs"]
    kinds = schemas()["text_pmu.schema.yaml"]["$defs"]
    writer = schemas()["text_writers.schema.yaml"]["items"]["properties"]
    csv = schemas()["text_csv.schema.yaml"]
    order = csv["properties"]["order"]["additionalProperties"]["items"]["properties"]
    assert words["output"]["enum"] == list(get_args(text_model.Output))
    assert words["engine"]["enum"] == list(get_args(text_model.Engine))
    assert words["level"]["enum"] == list(get_args(text_model.Level))
    assert words["mode"]["enum"] == list(get_args(text_model.Mode))
    assert words["core"]["enum"] == list(get_args(text_model.Core))
    assert words["scene"]["enum"] == list(get_args(text_model.Scene))
    assert order["compare"]["enum"] == list(get_args(text_model.Compare))
    assert writer["line_end"]["enum"] == list(get_args(text_model.LineEnd))
    assert writer["quoting"]["enum"] == list(get_args(text_model.Quoting))
    assert kinds["kind"]["enum"] == list(get_args(text_pmu.Kind))
    assert kinds["coefficients"]["enum"] == list(get_args(text_pmu.Coefficients))
    styles = {one.style for _, column in columns() for one in column.formats.values()}
    assert styles == set(get_args(text_model.Style))


# --- the documents together ---------------------------------------------------------------------


def test_text_sources_exist() -> None:
    texts = text_catalog()
    facts = (*texts.writers.values(), *texts.csv.values(), *(column for _, column in columns()))
    cited = {citation.split(" ")[0] for fact in facts for citation in fact.source}
    cited |= {source for erratum in texts.errata.values() for source, _ in erratum.says}
    assert cited - set(texts.documents.sources) == set()


def test_text_errata_that_are_cited_exist_and_name_the_place() -> None:
    at = {erratum.id: set(erratum.at) for erratum in text_catalog().errata.values()}
    strangers = {
        f"{place} {erratum}"
        for file, column in columns()
        for place, cited in (
            (file.name, file.errata),
            (f"{file.name}/{column.name}", column.errata),
        )
        for erratum in cited
        if not {place, file.name} & at.get(erratum, set())
        and not (column.metric and at.get(erratum, set()) & TOPICS)
    }
    assert strangers == set()


def test_text_errata_about_csv_files_are_cited_there() -> None:
    cited = {
        *((file.name, erratum) for file in text_catalog().csv.values() for erratum in file.errata),
        *(
            (f"{file.name}/{column.name}", erratum)
            for file, column in columns()
            for erratum in column.errata
        ),
    }
    silent = {
        f"{place} {erratum.id}"
        for erratum in text_catalog().errata.values()
        for place in erratum.at
        if place in csv_places() and (place, erratum.id) not in cited
    }
    assert silent == set()


def test_text_errata_name_places_that_exist() -> None:
    named = {
        place
        for erratum in text_catalog().errata.values()
        for place in erratum.at
        if place.partition("/")[0] in text_catalog().csv
    }
    assert named - csv_places() == set()


def test_text_errata_have_the_numbers_of_what_they_resolve() -> None:
    """T1 to T32 and T33 to T45 answer two numbered lists; the others follow."""
    numbers = [int(identifier.removeprefix("T")) for identifier in text_catalog().errata]
    assert numbers == sorted(set(numbers))
    assert numbers[:45] == list(range(1, 46))


def test_text_value_types_exist_and_are_used() -> None:
    used = {column.type for _, column in columns()}
    assert used <= set(text_catalog().value_types)
    own = set(packaged().folder.read(f"{FOLDER}/value_types.yaml"))
    assert own - used == set()
    assert own & set(catalog().documents.value_types) == set()


def test_named_formats_are_used() -> None:
    given = {
        column["format"]
        for _, row in packaged().folder.documents(f"{FOLDER}/csv")
        for column in row["columns"]
        if isinstance(column.get("format"), str)
    } | {kind["format"] for kind in packaged().folder.read(f"{FOLDER}/pmu.yaml")["kinds"].values()}
    assert set(packaged().folder.read(f"{FOLDER}/formats.yaml")) - given == set()


def test_tables_and_columns_that_tell_the_same_exist() -> None:
    tables = catalog().tables
    for file, _ in columns():
        assert set(file.tables) <= set(tables), file.name


def test_layers_that_show_the_same_exist() -> None:
    layers = timeline_catalog().layers
    named = {layer for file in text_catalog().csv.values() for layer in file.timeline}
    assert named - set(layers) == set()


def test_switches_of_csv_files_exist() -> None:
    named = {switch for file in text_catalog().csv.values() for switch in file.switches}
    assert named - set(catalog().documents.switches) == set()


def test_orders_name_columns_of_their_file() -> None:
    for file in text_catalog().csv.values():
        names = {column.name for column in file.columns}
        for keys in file.order.values():
            assert {key.column for key in keys} <= names, file.name
        known = {"*"} | text_catalog().writers.keys()
        assert set(file.order) <= known | set(file.writers), file.name


def test_a_name_stands_once_in_every_header() -> None:
    for file in text_catalog().csv.values():
        for writer in file.writers.values():
            for family in set(writer.families) & set(file.families):
                for level in (0, 1):
                    header = file.header(writer=writer.id, family=family, level=level, repeat=1)
                    repeated = [name for name, n in Counter(header).items() if n > 1]
                    assert repeated == [], f"{file.name} of {writer.id}"


def test_an_older_name_is_that_of_one_column() -> None:
    for file in text_catalog().csv.values():
        for one, other in combinations({c.name: c for c in file.own_columns}.values(), 2):
            assert not set(one.names) & set(other.names), (file.name, one.name, other.name)


def test_numbers_have_a_format_and_texts_have_none() -> None:
    for file, column in columns():
        numeric = "real" in column.storage
        assert bool(column.formats) >= numeric, f"{file.name}/{column.name}"
        assert not column.formats or column.storage != ("text",), f"{file.name}/{column.name}"


def test_a_tab_follows_times_only() -> None:
    tabbed = {column.type for _, column in columns() if column.tab}
    assert tabbed == {"timestampUs", "durationUs"}


def test_writers_that_copy_name_writers() -> None:
    writers = text_catalog().writers
    for writer in writers.values():
        assert set(writer.copies.values()) <= {"cpp", "python"}
        assert bool(writer.copies) == (writer.output != "msprof")
        for family, original in writer.copies.items():
            assert family == "*" or family in writers[original].families


def test_current_writers_are_the_newest_of_their_kind() -> None:
    newest: dict[str, str] = {}
    for writer in text_catalog().writers.values():
        newest[writer.engine] = max(newest.get(writer.engine, ""), writer.date)
    current = {w.engine: w.date for w in text_catalog().writers.values() if w.current}
    assert current == newest


def test_derivations_that_columns_name_exist() -> None:
    """The spec imports nothing of ours: it names functions of ``ascend_ref.derive``."""
    functions = {
        name
        for module in iter_modules(derive.__path__)
        for name, _ in getmembers(import_module(f"{derive.__name__}.{module.name}"), isfunction)
    }
    named = {column.formula for _, column in columns() if column.formula}
    assert named - functions == set()
    entities = recording_catalog().entities.values()
    described = {row[0] for row in catalog().documents.vocabularies["derivations"].words}
    assert described == named | {one.derived_by for one in entities if one.derived_by}


def test_the_cpp_engine_writes_ten_files() -> None:
    assert {file.name for file in text_catalog().written_by("cpp")} == {
        *("api_statistic", "communication_statistic", "fusion_op", "npu_mem", "npu_module_mem"),
        *("op_statistic", "op_summary", "page_fault", "step_trace", "task_time"),
    }


def test_an_unknown_writer_is_told_the_known_ones() -> None:
    with pytest.raises(KeyError, match="unknown writer 'rust'; known: cpp, python, adapter"):
        text_catalog().written_by("rust")


def test_what_is_left_out_at_level_0() -> None:
    lacking = {
        (file.name, writer)
        for file in text_catalog().csv.values()
        for writer in ("cpp", "python", "adapter")
        if writer in file.writers and 0 not in file.levels_by(writer)
    }
    assert lacking == {
        *(("op_statistic", writer) for writer in ("cpp", "python", "adapter")),
        *(("communication_statistic", writer) for writer in ("cpp", "python")),
        *((file, "adapter") for file in ("api_statistic", "aicpu")),
        *(("fusion_op", writer) for writer in ("cpp", "python")),  # ge-profiling 5.11
    }


def test_a_copy_keeps_the_formats_and_the_order_of_its_original() -> None:
    file, writers = text_catalog().csv["kernel_details"], text_catalog().writers
    wait = file.column("Wait Time(us)")
    assert wait is not None
    printed = {family: wait.format_by(writers["adapter"], family) for family in ("A2", "910A")}
    assert [one.style if one else None for one in printed.values()] == ["fixed", "rounded"]
    assert file.order_by("adapter", "A2")[0].compare == "text"
    assert file.order_by("adapter", "910A")[0].compare == "block"


def test_slices_are_those_of_the_writer_or_of_the_file() -> None:
    csv = text_catalog().csv
    cpp, python = (csv["op_summary"].slicing_by(writer) for writer in ("cpp", "python"))
    assert cpp is not None
    assert python is not None
    assert (cpp.rows, cpp.suffix_from) == (1_000_000, 1_000_001)
    assert (python.rows, python.suffix_from) == (1_000_000, 1_000_000)
    marks = csv["msprof_tx"].slicing_by("python")
    assert marks is not None
    assert marks.fails
    assert csv["kernel_details"].slicing_by("adapter") is None
