"""The JSON documents next to the timelines: real ones are valid, broken ones are not."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator
from text_timeline_files import ADAPTER, DATA, STEP_TRACE

from ascend_spec import document_catalog, timeline_catalog
from ascend_spec.core.dialect import annotation_at
from ascend_spec.documents import DOCUMENTS
from ascend_spec.timeline import document_schema

ABSENT = object()
OUTPUT = ADAPTER / "ASCEND_PROFILER_OUTPUT"
REAL = {
    "communication": OUTPUT / "communication.json",
    "communication_matrix": OUTPUT / "communication_matrix.json",
    "profiler_info": ADAPTER / "profiler_info_0.json",
    "profiler_metadata": ADAPTER / "profiler_metadata.json",
}
DATABASES = [
    "level0_rank0/profiler_info_0",
    "level1_rank0/profiler_info_0",
    "level1_rank1/profiler_info_1",
]
OLD, NEW = "adapter-2025-01", "adapter"


@cache
def text_of(path: Path) -> str:
    if not path.is_file():
        pytest.skip(f"needs the real {path.name} of ../shared/data")
    return path.read_text(encoding="utf-8")


def real(name: str) -> Any:
    return json.loads(text_of(REAL[name]))


def faults(name: str, writer: str, document: Any) -> list[tuple[str, str, str | None]]:
    """Place, keyword and erratum of whatever the schema finds."""
    schema = document_schema(timeline_catalog(), document_catalog(), name, writer)
    return [
        (
            "/".join(map(str, error.absolute_path)),
            str(error.validator),
            annotation_at(schema, list(error.absolute_schema_path), "erratum"),
        )
        for error in Draft202012Validator(schema).iter_errors(document)
    ]


@pytest.mark.parametrize("name", [*DOCUMENTS, "step_trace_json"])
def test_the_schema_of_a_document_is_a_schema_for_every_writer(name: str) -> None:
    writers = (
        ("cpp", "python", "python-2023")
        if name == "step_trace_json"
        else document_catalog().writers_of(name)
    )
    for writer in writers:
        schema = document_schema(timeline_catalog(), document_catalog(), name, writer)
        jsonschema_rs.meta.validate(schema)
        assert schema["$id"] == f"urn:ascend-ref:{name}:{writer}"
        assert "writers" not in json.dumps(schema)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_real_document_is_valid(name: str) -> None:
    assert faults(name, OLD, real(name)) == []


@pytest.mark.parametrize("name", DATABASES)
def test_profiler_info_beside_a_real_database_is_valid(name: str) -> None:
    assert faults("profiler_info", OLD, json.loads(text_of(DATA / "db" / f"{name}.json"))) == []


def test_the_real_step_trace_is_valid() -> None:
    assert faults("step_trace_json", "python-2023", STEP_TRACE.events) == []
    found = faults("step_trace_json", "python", STEP_TRACE.events[3:4])
    assert [keyword for _, keyword, _ in found] == ["anyOf"]


def test_an_old_profiler_info_is_not_of_today() -> None:
    """Each departure is named by the erratum about it."""
    assert sorted(faults("profiler_info", NEW, real("profiler_info"))) == sorted(
        [
            *[("", "required", "T83")] * 2,
            *[("config/experimental_config", "required", "T83")] * 6,
            ("config/experimental_config/_export_type", "type", "T83"),
        ],
        key=str,
    )


def test_a_new_profiler_info_is_valid() -> None:
    info = real("profiler_info")
    info["config"]["experimental_config"] |= {
        "_export_type": ["text", "db"],
        "_mstx": True,
        "_host_sys": ["cpu", "osrt"],
        "_mstx_domain_include": ["default"],
        "_mstx_domain_exclude": [],
        "_sys_io": False,
        "_sys_interconnection": True,
        "_gc_detect_threshold": 0.5,
    }
    info |= {"torch_npu_version": "2.7.1", "cann_version": "8.5.0", "rank_id": "0"}
    assert faults("profiler_info", NEW, info) == []
    assert faults("profiler_info", "adapter-2025-12", info) == []
    del info["rank_id"]
    assert faults("profiler_info", NEW, info) == []
    assert {place for place, _, _ in faults("profiler_info", OLD, info)} == {
        "",
        "config/experimental_config",
        "config/experimental_config/_export_type",
    }


@pytest.mark.parametrize(
    ("writer", "later"),
    [
        (OLD, ["_gc_detect_threshold"]),
        (OLD, ["_gc_detect_threshold", "_op_attr", "_msprof_tx"]),
        (OLD, ["_gc_detect_threshold", "_op_attr", "_msprof_tx", "_export_type"]),
        ("adapter-2025-12", []),
    ],
)
def test_options_of_the_adapter_came_one_after_the_other(writer: str, later: list[str]) -> None:
    """``experimental_config.py``: 2024-03-08, 05-22 and 07-24; versions came in 2025-01."""
    info = real("profiler_info")
    options = info["config"]["experimental_config"]
    for name in later:
        del options[name]
    if writer != OLD:
        info |= {"torch_npu_version": "2.1.0", "cann_version": "8.0.0"}
    assert faults("profiler_info", writer, info | {"rank_id": "0"}) == []
    gone = "_aic_metrics" if "_export_type" not in options else "_export_type"
    if writer == OLD and gone == "_export_type" and "_op_attr" not in options:
        gone = "_l2_cache"
    del options[gone]
    assert {kind for _, kind, _ in faults("profiler_info", writer, info)} == {"required"}


def test_a_capture_without_a_schedule_has_an_empty_one() -> None:
    """``_dump_profiler_info`` writes the attributes of the schedule, and a function has none."""
    for schedule in ({}, None):
        assert faults("profiler_info", NEW, changed("profiler_info", SCHEDULE, schedule)) == faults(
            "profiler_info", NEW, real("profiler_info")
        )
    assert faults("profiler_info", OLD, changed("profiler_info", SCHEDULE, {"active": 1})) != []


def test_a_communication_without_steps_and_operators_is_valid() -> None:
    nothing = {"step": {"p2p": {}, "collective": {}}}
    assert faults("communication", NEW, nothing) == []
    assert faults("communication_matrix", NEW, nothing) == []


def test_msprof_writes_operators_without_steps() -> None:
    """Erratum T80: what the adapter takes from the folder analyze and sorts into steps."""
    found = real("communication")["step50"]["collective"]
    name, operator = next(iter(found.items()))
    total = deepcopy(operator)
    total["Communication Time Info"]["Start Timestamp(us)"] = 0
    assert faults("communication", "python", {name: operator, "Total Op Info": total}) == []
    assert faults("communication", "python", {name: operator})[0][1:] == ("required", "T80")
    assert faults("communication", "python", real("communication")) != []
    links = real("communication_matrix")["step50"]["collective"]
    total_links = next(links[key] for key in links if "-total@" in key)
    flat = {name: total_links, "Total Op Info": total_links}
    assert faults("communication_matrix", "python", flat) == []


OPERATOR = "step50|collective|hcom_allReduce__586_0_1@17522688603477080586"
TIMES = f"{OPERATOR}|Communication Time Info"
LINKS = f"{OPERATOR}|Communication Bandwidth Info"
TOTAL = "step50|collective|Total Op Info"
LINK = "step50|collective|allreduce-top1@17522688603477080586|0-1"
EXPERIMENTAL = "config|experimental_config"
SCHEDULE = "config|common_config|schedule"


def changed(name: str, place: str, value: Any) -> Any:
    """The real document with another value at a place, or without the key there."""
    document = at = real(name)
    *way, last = place.split("|") if place else [""]
    for step in way:
        at = at[int(step)] if isinstance(at, list) else at[step]
    if value is ABSENT:
        del at[last]
    else:
        at[last] = value
    return document


@pytest.mark.parametrize(
    ("name", "place", "value", "keyword"),
    [
        ("communication", "step50|p2p", ABSENT, "required"),
        ("communication", "step50|other", {}, "additionalProperties"),
        ("communication", "stepfifty", {"p2p": {}, "collective": {}}, "pattern"),
        ("communication", TOTAL, ABSENT, "required"),
        ("communication", "step50|p2p|Total Op Info", {}, "required"),
        ("communication", "step50|collective|hcom_allReduce", {}, "additionalProperties"),
        ("communication", f"{TIMES}|Start Timestamp(us)", ABSENT, "required"),
        ("communication", f"{TIMES}|Start Timestamp(us)", "1736408883732241.5", "type"),
        ("communication", f"{TIMES}|Start Timestamp(us)", 0, "exclusiveMinimum"),
        ("communication", f"{TIMES}|Elapse Time(ms)", -1, "minimum"),
        ("communication", f"{TIMES}|Wait Time Ratio", 1.0001, "maximum"),
        ("communication", f"{TIMES}|Wait Time Ratio", None, "type"),
        ("communication", f"{TIMES}|Wait Time(us)", 1, "additionalProperties"),
        ("communication", f"{LINKS}|SIO", ABSENT, "required"),
        ("communication", f"{LINKS}|UB", {}, "additionalProperties"),
        ("communication", f"{LINKS}|HCCS|Bandwidth(GB/s)", ABSENT, "required"),
        ("communication", f"{LINKS}|HCCS|Large Packet Ratio", 2, "maximum"),
        ("communication", f"{LINKS}|HCCS|Size Distribution|big", [1, 1.0], "pattern"),
        ("communication", f"{LINKS}|HCCS|Size Distribution|4e-06", [1], "minItems"),
        ("communication", f"{LINKS}|HCCS|Size Distribution|4e-06", [0, 1.0], "minimum"),
        ("communication", f"{LINKS}|HCCS|Size Distribution|4e-06", [1.5, 1.0], "type"),
        (
            "communication",
            f"{TOTAL}|Communication Time Info|Start Timestamp(us)",
            1.0,
            "additionalProperties",
        ),
        (
            "communication",
            f"{TOTAL}|Communication Bandwidth Info|RDMA|Bandwidth(GB/s)",
            0,
            "additionalProperties",
        ),
        ("communication_matrix", f"{LINK}|Op Name", ABSENT, "required"),
        ("communication_matrix", f"{LINK}|Transport Type", "WIFI", "enum"),
        ("communication_matrix", f"{LINK}|Transit Size(MB)", "1", "type"),
        ("communication_matrix", f"{LINK}|Large Packet Ratio", 0, "additionalProperties"),
        ("communication_matrix", "step50|collective|allreduce-top4@1", {}, "additionalProperties"),
        ("communication_matrix", "step50|collective|allreduce-top1@1", {}, "minProperties"),
        ("communication_matrix", "step50|collective|allreduce-total@1", {"0": {}}, "pattern"),
        ("profiler_info", "rank_id", "first", "pattern"),
        ("profiler_info", "rank_id", -1, "minimum"),
        ("profiler_info", "start_info", ABSENT, "required"),
        ("profiler_info", "end_info|collectionTimeEnd", 1736408884023552, "minimum"),
        ("profiler_info", "end_info|collectionTimeEnd", "1736408884023552840", "type"),
        ("profiler_info", "config|common_config|activities", ["ProfilerActivity.GPU"], "enum"),
        ("profiler_info", "config|common_config|with_stack", 1, "type"),
        ("profiler_info", "config|common_config|schedule", {"wait": 0}, "anyOf"),
        ("profiler_info", f"{EXPERIMENTAL}|_profiler_level", "Level3", "enum"),
        ("profiler_info", f"{EXPERIMENTAL}|_aic_metrics", "PipeUtilization", "pattern"),
        ("profiler_info", f"{EXPERIMENTAL}|_export_type", ["text"], "enum"),
        ("profiler_info", f"{EXPERIMENTAL}|_mstx", True, "additionalProperties"),
        ("profiler_metadata", "ENV_VARIABLES|HCCL_RDMA_TC", 1, "type"),
        ("profiler_metadata", "ENV_VARIABLES|HCCL_RDMA_TC", ABSENT, "required"),
        ("profiler_metadata", "distributed_args", {"world_size": 0}, "minimum"),
        ("profiler_metadata", "parallel_group_info", {"g": {"group_rank": 0}}, "required"),
    ],
)
def test_a_broken_document_is_not_valid(name: str, place: str, value: Any, keyword: str) -> None:
    found = {kind for _, kind, _ in faults(name, OLD, changed(name, place, value))}
    assert keyword in found


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("document", [[], {}, None, "x", 1])
def test_a_document_is_an_object_with_something_in_it(name: str, document: Any) -> None:
    assert faults(name, OLD, document) != []
