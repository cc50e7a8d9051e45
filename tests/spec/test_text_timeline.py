"""The documents of the timelines obey their meta-schemas and hang together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from importlib.resources import files
from typing import Any, get_args

import jsonschema_rs
import pytest
import yaml
from test_vocabulary import _repeated_keys, errors, schemas

from ascend_spec import catalog, document_catalog, packaged, text_catalog, timeline_catalog
from ascend_spec.documents import DOCUMENTS
from ascend_spec.timeline import Arg, EventKind, Layer, document_schema, event_schema
from ascend_spec.timeline import model as timeline_model
from ascend_spec.timeline.loader import FOLDER, load_kinds

LISTS = ["files", "flows", "forms", "keys", "metadata", "pids", "value_types"]
LAYERS = [name for name, _ in packaged().folder.documents(f"{FOLDER}/layers")]
SCHEMAS = [name for name, _ in packaged().folder.documents("documents")]
TOPICS = {"flow-ids", "pid-packing"}


def layers() -> list[Layer]:
    return list(timeline_catalog().layers.values())


def kinds() -> list[tuple[Layer, EventKind]]:
    return [(layer, kind) for layer in layers() for kind in layer.events]


def args() -> list[tuple[Layer, EventKind, Arg]]:
    return [(layer, kind, arg) for layer, kind in kinds() for arg in kind.args]


# --- the documents, one by one ------------------------------------------------------------------


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_timeline_facts_obeys_its_meta_schema(name: str) -> None:
    assert errors(f"text_timeline_{name}", packaged().folder.read(f"{FOLDER}/{name}.yaml")) == []


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_obeys_its_meta_schema(name: str) -> None:
    assert errors("text_timeline_layer", packaged().folder.read(name)) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_document_schema_obeys_its_meta_schema(name: str) -> None:
    assert errors("dialect", packaged().folder.read(name)) == []


def test_no_timeline_document_is_left_out() -> None:
    held = {entry.name for entry in (files("ascend_spec") / FOLDER).iterdir()}
    assert {name for name in held if name.endswith(".yaml")} == {f"{name}.yaml" for name in LISTS}
    assert {f"documents/{name}.schema.yaml" for name in DOCUMENTS} == set(SCHEMAS)


@pytest.mark.parametrize("name", [*(f"{FOLDER}/{name}.yaml" for name in LISTS), *LAYERS, *SCHEMAS])
def test_no_key_of_a_timeline_document_comes_twice(name: str) -> None:
    text = (files("ascend_spec") / name).read_text("utf-8")
    assert list(_repeated_keys(yaml.compose(text, yaml.SafeLoader))) == []


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        ({"colour": "red"}, "$: Additional properties are not allowed"),
        ({"writers": ["somebody"]}, "$.writers[0]: 'somebody' is not one of"),
        ({"sort_index": {"cpp": -1}}, "$.sort_index.cpp: -1 is less than the minimum"),
        ({"pids": {"python": "random"}}, "$.pids.python: 'random' is not one of"),
        ({"files": ["op_summary"]}, "$.files[0]: 'op_summary' is not one of"),
        ({"errata": ["E1"]}, "$.errata[0]: 'E1' does not match"),
        ({"events": [{"event": "x", "phase": "X", "name": "x"}]}, "'summary' is a required"),
        (
            {"events": [{"event": "x", "phase": "B", "name": "x", "summary": "X."}]},
            "$.events[0].phase: 'B' is not one of",
        ),
        (
            {"events": [{"event": "x", "phase": "X", "name": "{x", "summary": "X."}]},
            "$.events[0].name: '{x' does not match",
        ),
        (
            {
                "events": [
                    {
                        "event": "x",
                        "phase": "X",
                        "name": "x",
                        "summary": "X.",
                        "args": [{"arg": "a", "type": "text", "summary": "A.", "required": True}],
                    }
                ]
            },
            "$.events[0].args[0].required: False was expected",
        ),
    ],
)
def test_a_fault_in_a_layer_is_noticed(change: dict[str, Any], noticed: str) -> None:
    document = {**deepcopy(packaged().folder.read(f"{FOLDER}/layers/cann.yaml")), **change}
    assert any(noticed in error for error in errors("text_timeline_layer", document))


def test_the_closed_sets_of_timelines_are_those_of_the_model() -> None:
    facts = timeline_catalog()
    words = schemas()["text_timeline_common.schema.yaml"]["$defs"]
    assert words["phase"]["enum"] == list(get_args(timeline_model.Phase))
    assert words["part"]["enum"] == list(get_args(timeline_model.Part))
    assert words["side"]["enum"] == list(get_args(timeline_model.Side))
    assert words["jsonType"]["enum"] == list(get_args(timeline_model.JsonType))
    assert words["writer"]["enum"] == list(facts.forms)
    assert words["pidRule"]["enum"] == list(facts.pids)
    assert words["file"]["enum"] == list(facts.files)
    assert [key for key in facts.keys if key] == words["keys"]["items"]["enum"]
    flow = schemas()["text_timeline_flows.schema.yaml"]["items"]["properties"]
    assert set(flow["cat"]["enum"]) == {one.cat for one in facts.flows.values()}


# --- layers -------------------------------------------------------------------------------------


def test_a_layer_stands_in_the_document_of_its_name() -> None:
    for name, row in packaged().folder.documents(f"{FOLDER}/layers"):
        stem = name.rpartition("/")[2].removesuffix(".yaml")
        expected = re.sub(r"\W+", "_", row["layer"]).lower()
        assert stem == {"mstx": "msproftx"}.get(expected, expected)


def test_layers_are_named_once_among_those_of_a_side() -> None:
    for writer in timeline_catalog().forms:
        names = [
            (layer.side, layer.process_name(engine))
            for layer in timeline_catalog().layers_of(writer)
            if layer.shown_in is None
            for engine in timeline_catalog().engines(writer, layer)
            if engine in layer.writers
        ]
        if len(timeline_catalog().form(writer).engines) == 1:
            assert [name for name, n in Counter(names).items() if n > 1] == [], writer


def test_a_layer_has_a_place_by_every_writer_of_it() -> None:
    for layer in layers():
        assert layer.sort_index.keys() == set(layer.writers), layer.name
        assert layer.pids.keys() <= set(layer.writers), layer.name


def test_no_two_layers_of_a_writer_have_one_place() -> None:
    for writer in ("cpp", "python", "adapter-2025-01", "python-2023"):
        places = [
            (layer.part, layer.sort_index[writer])
            for layer in layers()
            if layer.sort_index.get(writer) is not None and layer.shown_in is None
        ]
        assert [place for place, n in Counter(places).items() if n > 1] == [], writer


def test_layers_are_written_by_those_who_write_files_that_hold_them() -> None:
    facts = timeline_catalog()
    for layer in layers():
        for name in layer.files:
            takers = {
                engine
                for writer in facts.files[name].writers
                for engine in facts.engines(writer, layer)
            }
            assert takers & set(layer.writers), f"{layer.name} in {name}"


def test_parts_of_layers_name_writers_of_the_layer() -> None:
    for layer in layers():
        known = set(layer.writers)
        parts = (*layer.threads, *layer.events, *(arg for k in layer.events for arg in k.args))
        for part in parts:
            assert set(part.writers) <= known, f"{layer.name} {part}"
        for kind in layer.events:
            writers = set(kind.writers) or known
            assert set(kind.unordered) <= writers, kind.kind
            assert kind.keys.keys() <= writers, kind.kind
            for arg in kind.args:
                assert set(arg.writers) <= writers, f"{kind.kind} {arg.name.template}"


def test_kinds_and_args_come_once_by_writer() -> None:
    for layer in layers():
        names = Counter(kind.kind for kind in layer.events)
        assert names.most_common(1)[0][1] == 1, layer.name
        for kind in layer.events:
            for writer in layer.writers:
                keys = Counter(arg.name.template for arg in kind.args_of(writer))
                assert max(keys.values(), default=1) == 1, f"{layer.name} {kind.kind} {writer}"


def test_threads_of_events_exist_for_every_writer() -> None:
    for layer, kind in kinds():
        for writer in kind.writers or layer.writers:
            if kind.thread is not None:
                named = {one.thread for one in layer.threads_of(writer)}
                assert named, f"{layer.name} {kind.kind} {writer}"
        assert kind.thread is None or kind.thread in {one.thread for one in layer.threads}


def test_kinds_that_yield_yield_to_kinds_of_their_layer() -> None:
    for layer, kind in kinds():
        assert set(kind.yields_to) <= {one.kind for one in layer.events} - {kind.kind}


def test_parts_of_names_are_told_where_they_are_closed() -> None:
    for layer, kind in kinds():
        for field in kind.name.fields.values():
            assert kind.name.template == f"{{{field.name}}}" or field.summary, kind.name.template
            text = field.values[0] if field.values else "7" * (field.digits or 1)
            values = {name: text if name == field.name else "0" for name in kind.name.fields}
            if not any(one.values and one is not field for one in kind.name.fields.values()):
                name = kind.name.of(**values)
                assert kind.name.named(name) == values, f"{layer.name} {kind.kind}"


def test_layers_shown_in_others_do_not_hide_their_events() -> None:
    facts = timeline_catalog()
    hardware = facts.layers["Ascend Hardware"]
    assert {kind.layer for kind in facts.events(hardware, "cpp")} == {
        "Ascend Hardware",
        "Step Trace",
    }
    assert {kind.layer for kind in facts.events(hardware, "cpp", "step_trace_json")} == {
        "Step Trace"
    }
    assert {kind.layer for kind in facts.events(hardware, "cpp", "msprof_tx")} == {
        "Ascend Hardware"
    }
    names = [one.name for one in facts.threads(hardware, "python", "step_trace_json")]
    assert [name.template for name in names if name] == ["Model ID:{modelId}"]
    assert {one.shown_in for one in layers() if one.shown_in} == {"Ascend Hardware"}


def test_layers_tell_what_the_database_tells() -> None:
    tables = catalog().tables
    for layer, kind, _ in args():
        assert set(kind.tables) <= set(tables), f"{layer.name} {kind.kind}"
    for layer in layers():
        told = {table for kind in layer.events for table in kind.tables}
        assert told - {"MSTX_EVENTS", "TASK"} <= set(layer.tables) <= set(tables), layer.name


def test_switches_and_families_exist() -> None:
    for layer in layers():
        assert set(layer.switches) <= set(catalog().documents.switches), layer.name
        assert set(layer.families) <= set(catalog().products), layer.name
        for kind in layer.events:
            allowed = set(layer.families) or set(catalog().products)
            assert set(kind.families) <= allowed, f"{layer.name} {kind.kind}"


def test_value_types_of_args_are_used_and_like_known_ones() -> None:
    assert {arg.type for _, _, arg in args()} == set(load_kinds(packaged().loader))
    rows = packaged().folder.read(f"{FOLDER}/value_types.yaml")
    assert {row["like"] for row in rows.values() if "like" in row} <= set(
        catalog().documents.value_types
    )


# --- writers, flows, pids -----------------------------------------------------------------------


def test_writers_of_timelines_are_writers_of_text() -> None:
    writers = text_catalog().writers
    for name, form in timeline_catalog().forms.items():
        writer = writers[name]
        copied = set(writer.copies.values()) if writer.current or writer.like else set()
        assert set(form.engines) == (copied or {name})
    for file in timeline_catalog().files.values():
        outputs = {writers[name].output for name in file.writers}
        assert outputs - {"mindspore"} == {file.output}
    for name in DOCUMENTS:
        assert set(document_catalog().writers_of(name)) <= set(writers)


def test_every_phase_that_a_writer_writes_has_an_order_of_keys() -> None:
    facts = timeline_catalog()
    for layer in layers():
        for writer in layer.writers:
            for kind in layer.events_of(writer):
                order = kind.keys.get(
                    writer, facts.form(writer).parts[layer.part].keys.get(kind.phase, ())
                )
                needed = {key for key, fact in facts.keys.items() if kind.phase in fact.required}
                assert needed <= set(order), f"{layer.name} {kind.kind} {writer}"
                assert kind.cat is None or "cat" in order
                assert not kind.args_of(writer) or "args" in order


def test_flows_stand_on_kinds_of_events_that_their_writers_write() -> None:
    facts = timeline_catalog()
    for flow in facts.flows.values():
        for writer in (name for one in flow.ids for name in one.writers):
            for point in (flow.start, flow.end):
                found = {
                    kind.kind
                    for name, wanted in point.at.items()
                    for engine in facts.engines(writer, facts.layers[name])
                    for kind in facts.layers[name].events_of(engine)
                    if kind.kind in wanted
                }
                assert found, f"{flow.flow} {writer} {point.at}"
                for name, wanted in point.at.items():
                    assert set(wanted) <= {one.kind for one in facts.layers[name].events}


@pytest.mark.parametrize(
    ("rule", "quantities", "pid"),
    [
        ("packed", {"osPid": 3096504, "sortIndex": 14, "deviceId": 1}, 3170820545),
        ("packed", {"osPid": 3096504, "sortIndex": 7}, 3170820351),
        ("packed", {"osPid": 1, "sortIndex": 35, "deviceId": 0}, 1120),
        ("packed", {"osPid": 2**22, "sortIndex": 1, "deviceId": 0}, 32),
        ("packed-on-the-card", {"osPid": 3096504, "sortIndex": 13, "deviceId": 0}, 3170820512),
        ("packed-on-the-card", {"osPid": 3096504, "sortIndex": 1, "deviceId": -1}, -1),
        ("packed-wide", {"osPid": 2**22, "sortIndex": 1, "deviceId": 0}, 2**32 + 32),
        ("packed-unit", {"unitPid": 4, "sortIndex": 20, "deviceId": 0}, 4736),
        ("decimal", {"osPid": 10036, "sortIndex": 2}, 1003602),
        ("sort-index", {"osPid": 10036, "sortIndex": 3}, 3),
        ("os-pid", {"osPid": 3096504, "sortIndex": 0}, 3096504),
    ],
)
def test_a_pid_is_made_by_its_rule(rule: str, quantities: dict[str, int], pid: int) -> None:
    assert timeline_catalog().pids[rule].pid(**quantities) == pid


def test_a_packed_pid_is_taken_apart() -> None:
    rule = timeline_catalog().pids["packed"]
    assert rule.quantities(3170820512) == {"osPid": 3096504, "sortIndex": 13, "deviceId": 0}
    assert timeline_catalog().pids["decimal"].quantities(1003602) == {}


@pytest.mark.parametrize(
    ("flow", "writer", "quantities", "value"),
    [
        ("kernel", "cpp", {"connectionId": 3}, 3 << 32),
        (
            "kernel",
            "python",
            {"deviceId": 1, "streamId": 2, "taskId": 3, "batchId": 4, "contextId": 5},
            (1 << 80) + (2 << 64) + (3 << 48) + (4 << 32) + 5,
        ),
        ("communication", "python", {"connectionId": 3}, (3 << 32) - 1),
        ("memcpy", "adapter-2025-01", {"connectionId": 936}, 936),
        ("framework", "adapter", {"endNs": 1736408883700059821}, 1736408883700059821),
    ],
)
def test_a_flow_id_is_made_by_its_rule(
    flow: str, writer: str, quantities: dict[str, int], value: int
) -> None:
    made = timeline_catalog().flows[flow].id_of(writer)
    assert made is not None
    assert made.value(**quantities) == value


# --- errata and sources -------------------------------------------------------------------------


def parts_of(layer: Layer) -> set[str]:
    """What an erratum may name behind the layer: kinds, names, categories and args of events."""
    return {
        part
        for kind in layer.events
        for part in (
            kind.kind,
            kind.name.template,
            kind.cat,
            *(value for field in kind.name.fields.values() for value in field.values),
            *(arg.name.template for arg in kind.args),
        )
        if part is not None
    }


def places() -> set[str]:
    found = {layer.name for layer in layers()} | set(timeline_catalog().files) | set(DOCUMENTS)
    return found | {f"{layer.name}/{part}" for layer in layers() for part in parts_of(layer)}


def test_errata_of_timelines_name_places_that_exist() -> None:
    named = {
        place
        for erratum in text_catalog().errata.values()
        for place in erratum.at
        if place.partition("/")[0] not in text_catalog().csv
    }
    strangers = {place for place in named - places() if place.partition("/")[0] in places()}
    assert strangers == set()


def cited() -> Iterator[tuple[str, str]]:
    """Where an erratum is cited, and its id."""
    facts = timeline_catalog()
    for layer in layers():
        yield from ((layer.name, one) for one in layer.errata)
        yield from ((layer.name, name.erratum) for name in layer.names if name.erratum)
        for part in (*layer.threads, *layer.events, *(a for k in layer.events for a in k.args)):
            yield from ((layer.name, one) for one in part.errata)
    for flow in facts.flows.values():
        yield from (("flow-ids", one) for one in flow.errata)
    yield from (("trace_view", one) for form in facts.forms.values() for one in form.errata)
    for rule in facts.pids.values():
        yield from (("pid-packing", one) for one in rule.errata)
    for name in DOCUMENTS:
        yield from ((name, one) for one in erratum_ids(document_catalog().source_of(name)))


def erratum_ids(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("erratum"), str):
            yield node["erratum"]
        for inner in node.values():
            yield from erratum_ids(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from erratum_ids(inner)


def test_errata_cited_by_timelines_exist_and_are_about_the_place() -> None:
    errata = text_catalog().errata
    assert {identifier for _, identifier in cited()} <= set(errata)
    strangers = {
        f"{place} {identifier}"
        for place, identifier in cited()
        # T9 is about one key wherever it stands, T37 about every place from 32 on.
        if identifier not in ("T9", "T37")
        and place not in {at.partition("/")[0] for at in errata[identifier].at}
    }
    assert strangers == set()


def test_errata_about_timelines_are_cited_there() -> None:
    told = set(cited())
    silent = {
        f"{at} {erratum.id}"
        for erratum in text_catalog().errata.values()
        for at in erratum.at
        if at in places() or at in TOPICS
        if at.partition("/")[0] in timeline_catalog().layers or at in DOCUMENTS or at in TOPICS
        if (at.partition("/")[0], erratum.id) not in told
    }
    assert silent == set()


def test_sources_cited_by_timelines_exist() -> None:
    facts = timeline_catalog()
    everything = (
        *layers(),
        *(kind for _, kind in kinds()),
        *(arg for _, _, arg in args()),
        *facts.flows.values(),
        *facts.forms.values(),
        *facts.pids.values(),
        *facts.files.values(),
    )
    named = {citation.split(" ")[0] for fact in everything for citation in fact.source}
    named |= {
        citation.split(" ")[0]
        for name in DOCUMENTS
        for citation in document_catalog().source_of(name)["source"]
    }
    assert named - set(facts.documents.sources) == set()


# --- schemas ------------------------------------------------------------------------------------


@pytest.mark.parametrize("writer", ["cpp", "python", "python-2023", "adapter-2025-01", "adapter"])
def test_the_schema_of_every_layer_is_a_schema(writer: str) -> None:
    for layer in timeline_catalog().layers_of(writer):
        jsonschema_rs.meta.validate(event_schema(timeline_catalog(), layer.name, writer))


def test_what_is_not_there_has_no_schema() -> None:
    with pytest.raises(KeyError, match="unknown layer 'GPU'"):
        event_schema(timeline_catalog(), "GPU", "cpp")
    with pytest.raises(KeyError, match="'python-2023' has no layer QoS"):
        event_schema(timeline_catalog(), "QoS", "python-2023")
    with pytest.raises(KeyError, match="unknown document 'summary'"):
        document_schema(timeline_catalog(), document_catalog(), "summary", "adapter")
    with pytest.raises(KeyError, match="'cpp' does not write communication"):
        document_schema(timeline_catalog(), document_catalog(), "communication", "cpp")
    with pytest.raises(KeyError, match="'adapter' does not write step_trace_json"):
        document_schema(timeline_catalog(), document_catalog(), "step_trace_json", "adapter")
    with pytest.raises(KeyError, match="no writer 'me' of timelines"):
        timeline_catalog().layers_of("me")


def test_csv_files_name_layers_that_exist() -> None:
    named = {layer for file in text_catalog().csv.values() for layer in file.timeline}
    assert set() < named <= timeline_catalog().layers.keys()
