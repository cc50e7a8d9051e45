"""Layers, arrows and documents have pages and JSON Schemas."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from ascend_ref.tools.spec.document_pages import (
    export_document_schema,
    export_event_schema,
    writers_of_document,
    writers_of_layer,
)
from ascend_ref.tools.spec.lookup import find
from ascend_ref.tools.spec.site import SiteStyle, spec_pages, spec_targets
from ascend_ref.tools.spec.style import PLAIN
from ascend_ref.tools.spec.verb import spec
from ascend_spec import catalog
from ascend_spec.documents import DOCUMENTS
from ascend_spec.timeline import timeline_catalog

LAYERS = list(timeline_catalog().layers)


def shown(name: str) -> str:
    render = find(catalog(), name)
    assert render is not None, name
    return render(PLAIN)


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_has_a_page_with_its_events_and_args(name: str) -> None:
    layer = timeline_catalog().layers[name]
    text = shown(f"timeline/{name}")
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
        ("HCCL", "# Communication"),
        ("cann", "# CANN"),
        ("communication", "# communication"),
        ("Communication", "# Communication"),
        ("communication.json", "# communication"),
        ("flow/memcpy", "# memcpy"),
        ("async_npu", "# Arrows of the timelines"),
        ("HBM", "# HBM"),
        ("timeline/hbm", "# HBM"),
        ("T5", "# T5"),
    ],
)
def test_a_name_leads_to_its_page(name: str, title: str) -> None:
    assert shown(name).splitlines()[0] == title


def test_a_name_of_two_things_leads_to_the_table() -> None:
    assert "SQLite type" in shown("HBM")
    assert "**Process name:** `HBM`" in shown("timeline/HBM")


def test_all_arrows_of_a_category_stand_on_its_page() -> None:
    text = shown("HostToDevice")
    assert re.findall(r"^## (.+)$", text, re.M) == ["kernel", "communication", "memcpy"]
    assert "`deviceId << 80` + `streamId << 64`" in text


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_has_a_page_with_all_its_keys(name: str) -> None:
    text = shown(name)
    for writer in writers_of_document()[name]:
        schema = json.loads(export_document_schema(name, writer))
        for node in (schema, *schema["$defs"].values()):
            assert all(f"| `{key}` |" in text for key in node.get("properties", {}))


def test_the_command_tells_the_json_types_of_a_changing_key() -> None:
    text = shown("profiler_info")
    assert re.search(r"\| `rank_id` \| integer or string \|", text)
    assert re.search(r"\| `_export_type` \| string or array \|", text)
    assert re.search(r"\| `schedule` \| object or null \|", text)


def test_the_site_links_only_to_pages_that_it_has() -> None:
    targets = spec_targets(catalog())
    pages = spec_pages(catalog(), targets)
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
    for name, writers in writers_of_document().items():
        for writer in writers:
            Draft202012Validator.check_schema(json.loads(export_document_schema(name, writer)))
    for name in ("CANN", "Python", "Step Trace", "QoS"):
        for writer in writers_of_layer(name):
            Draft202012Validator.check_schema(json.loads(export_event_schema(name, writer)))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["list", "layers"], "Overlap Analysis"),
        (["list", "flows"], "flow/task-queue"),
        (["list", "documents"], "communication_matrix.json"),
        (["show", "Ascend Hardware/task"], "Physic Stream Id"),
        (["export", "json-schema", "--layer", "hccl"], "urn:ascend-ref:event:communication:cpp"),
        (["export", "json-schema", "--file", "profiler_info"], "profiler_info:adapter"),
        (
            ["export", "json-schema", "--file", "step_trace_json", "--writer", "python-2023"],
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
        (["--layer", "Cann Layer"], "unknown layer 'Cann Layer'"),
        (["--layer", "QoS", "--writer", "python-2023"], "unknown writer 'python-2023'"),
        (["--layer", "QoS", "--file", "dp"], "--file and --layer exclude each other"),
        (["--file", "communication", "--writer", "cpp"], "unknown writer 'cpp'"),
        (["--file", "comunication"], "did you mean communication"),
    ],
)
def test_a_wrong_export_of_a_timeline_is_refused(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(spec, ["export", "json-schema", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_a_layer_is_exported_as_json_schema_only() -> None:
    for option in (["--layer", "CANN"], ["--file", "communication"]):
        result = CliRunner().invoke(spec, ["export", "ddl", *option])
        assert result.exit_code == 2
        assert "is exported as json-schema only" in result.output
