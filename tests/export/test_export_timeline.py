"""Layers, arrows and documents have pages and JSON Schemas."""

from __future__ import annotations

import re

import jsonschema_rs
import pytest
from click.testing import CliRunner
from json_schemas import exported_schema

from ascend_ref.markdown import PLAIN
from ascend_ref.tools.spec.lookup import NotFound, find
from ascend_ref.tools.spec.site import SiteStyle, spec_pages, spec_targets
from ascend_ref.tools.spec.verb import spec
from ascend_spec import document_catalog, timeline_catalog
from ascend_spec.documents import DOCUMENTS

LAYERS = list(timeline_catalog().layers)


def shown(name: str) -> str:
    return find(name).section(PLAIN)


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_has_a_page_with_its_events_and_args(name: str) -> None:
    layer = timeline_catalog().layers[name]
    text = shown(f"layer/{name}")
    assert text.startswith(f"# {name}\n")
    for kind in layer.events:
        assert f"\n### {kind.kind}\n" in text
        assert all(arg.name.template in text for arg in kind.args)
        assert shown(f"{name}/{kind.kind}").startswith(f"# {name}/{kind.kind}\n")
    assert all(one.name.template in text for one in layer.threads if one.name is not None)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Ascend Hardware", "# Ascend Hardware"),
        ("ascend hardware", "# Ascend Hardware"),
        ("layer/HCCL", "# Communication"),
        ("cann", "# CANN"),
        ("document/communication", "# communication"),
        ("layer/Communication", "# Communication"),
        ("communication.json", "# communication"),
        ("flow/memcpy", "# memcpy"),
        ("async_task_queue", "# task-queue"),
        ("layer/hbm", "# HBM"),
        ("trace_view.json", "# trace_view"),
        ("T5", "# T5"),
    ],
)
def test_a_name_leads_to_its_page(name: str, title: str) -> None:
    assert shown(name).splitlines()[0] == title


def test_a_category_of_several_arrows_is_reported_with_them() -> None:
    with pytest.raises(NotFound, match="flow/kernel, flow/communication, flow/memcpy"):
        shown("HostToDevice")
    assert "`deviceId << 80` + `streamId << 64`" in shown("flow/kernel")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_has_a_page_with_all_its_keys(name: str) -> None:
    text = shown(f"document/{name}")
    for writer in document_catalog().writers_of(name):
        schema = exported_schema(f"document/{name}", writer)
        for node in (schema, *schema["$defs"].values()):
            assert all(f"| `{key}` |" in text for key in node.get("properties", {}))


def test_the_command_tells_the_json_types_of_a_changing_key() -> None:
    text = shown("profiler_info")
    assert "| `common_config` | object (common) |" in text
    assert 'Items are `"ProfilerActivity.CPU"`' in text
    assert re.search(r"\| `rank_id` \| integer or string \|", text)
    assert re.search(r"\| `_export_type` \| string or array \|", text)
    assert re.search(r"\| `schedule` \| object or null \|", text)


def test_the_site_links_only_to_pages_that_it_has() -> None:
    targets = spec_targets()
    pages = spec_pages(targets)
    held = [path for path in pages if path.startswith("timeline/")]
    assert len(held) == len(LAYERS) + 3
    for path in held:
        for target in re.findall(r"\]\(\.\./([^)#]+)", pages[path]):
            assert target in pages, f"{path} links to {target}"
    style = SiteStyle(depth=1, targets=targets)
    assert style.link("layer", "CANN") == "[`CANN`](../timeline/cann.md)"
    assert style.link("document", "communication").endswith("documents.md#communication)")
    assert style.link("flow", "kernel").endswith("(../timeline/flows.md#kernel)")


def test_every_schema_that_can_be_exported_is_a_schema() -> None:
    timelines, documents = timeline_catalog(), document_catalog()
    step_trace = timelines.files["step_trace_json"]
    writers = {f"document/{name}": documents.writers_of(name) for name in DOCUMENTS}
    writers |= {f"timeline/{step_trace.file}": step_trace.writers}
    writers |= {
        f"layer/{name}": timelines.layers[name].writers
        for name in ("CANN", "Python", "Step Trace", "QoS")
    }
    for address, known in writers.items():
        for writer in known:
            jsonschema_rs.meta.validate(exported_schema(address, writer))


def test_annotations_of_ours_begin_with_x() -> None:
    """As in the schemas of payloads and tables; strict validators refuse unknown keywords."""
    schema = exported_schema("document/communication_matrix", "adapter")
    pair = schema["$defs"]["plainLink"]["properties"]
    assert schema["$defs"]["class"]["x-erratum"] == "T81"
    assert schema["$defs"]["time"]["x-unit"] == "ms"
    assert pair["Transit Time(ms)"] == {"$ref": "#/$defs/time"}
    (slice_,) = [
        one
        for one in exported_schema("layer/QoS", "cpp")["anyOf"]
        if one["properties"]["ph"] == {"const": "C"}
    ][:1]
    assert not {"unit", "erratum"} & {key for one in slice_["properties"].values() for key in one}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["list", "layers"], "Overlap Analysis"),
        (["list", "flows"], "flow/task-queue"),
        (["list", "documents"], "communication_matrix.json"),
        (["show", "Ascend Hardware/task"], "Physic Stream Id"),
        (["export", "layer/hccl"], "urn:ascend-ref:event:communication:cpp"),
        (["export", "profiler_info"], "profiler_info:adapter"),
        (
            ["export", "step_trace_json", "--at", "python-2023"],
            "urn:ascend-ref:step_trace_json:python-2023",
        ),
    ],
)
def test_the_command_tells_about_timelines(arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(spec, arguments)
    assert result.exit_code == 0
    assert told in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Cann Layer"], "unknown name 'Cann Layer'"),
        (["layer/QoS", "--at", "python-2023"], "unknown writer 'python-2023'"),
        (["document/communication", "--at", "cpp"], "unknown writer 'cpp'"),
        (["comunication_matrix"], "did you mean document/communication_matrix"),
        (["trace_view"], "timeline/trace_view is exported by its layers, as layer/CANN"),
    ],
)
def test_a_wrong_export_of_a_timeline_is_refused(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(spec, ["export", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_a_layer_is_exported_as_json_schema_only() -> None:
    for address in ("layer/CANN", "document/communication"):
        result = CliRunner().invoke(spec, ["export", address, "--as", "ddl"])
        assert result.exit_code == 2
        assert "is exported as json-schema only" in result.output
