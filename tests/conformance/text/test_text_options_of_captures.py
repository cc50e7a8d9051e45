"""Real folders changed as torch_npu writes them with other options of a capture."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from text_folders import OUTPUT, RANK, copied, judged, needs_data

from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

Event: TypeAlias = dict[str, Any]
OF_THE_FRAMEWORK = ("operator_memory.csv", "memory_record.csv", "operator_details.csv")


def found(output: Path, *rules: str) -> list[str]:
    (report,) = judged(output, Options(selection=Selection(select=rules), workers=1))
    return sorted({one.rule for one in report.findings})


def configure(output: Path, **options: object) -> None:
    path = output.parent / "profiler_info_0.json"
    path.write_bytes(needs_data(RANK / path.name).read_bytes())
    document = json.loads(path.read_bytes())
    for part in document["config"].values():
        part.update({name: value for name, value in options.items() if name in part})
    path.write_text(json.dumps(document))


def test_a_capture_without_a_schedule(tmp_path: Path) -> None:
    """``_dump_profiler_info`` writes what attributes the schedule has, and the default has none."""
    output = copied(tmp_path, "step_trace_time.csv")
    configure(output, schedule={})
    assert found(output, "DOC0") == []
    configure(output, schedule={"active": 1})
    assert found(output, "DOC0") == ["DOC002"]


def test_a_schedule_of_the_program_has_attributes_of_its_own(tmp_path: Path) -> None:
    """``profile`` takes any callable object, and ``_dump_profiler_info`` writes its attributes."""
    output = copied(tmp_path, "step_trace_time.csv")
    configure(output, schedule={"first": 3, "last": 5})
    assert found(output, "DOC0") == []
    lengths = {"wait": 0, "active": 1, "warmup": 0, "repeat": 1, "skip_first": 0}
    configure(output, schedule={**lengths, "first": 3})
    assert found(output, "DOC0") == ["DOC003"]


@pytest.mark.parametrize(
    ("absent", "rules"), [("ASCEND_LAUNCH_BLOCKING", []), ("HCCL_RDMA_TC", ["DOC002"])]
)
def test_variables_of_the_first_two_weeks(absent: str, rules: list[str], tmp_path: Path) -> None:
    """Of 2024-07-24 to 2024-08-07 (commits 39a6a7992 and 1361ea63c of torch_npu)."""
    output = copied(tmp_path, "step_trace_time.csv")
    name = "profiler_metadata.json"
    document = json.loads(needs_data(RANK / name).read_bytes())
    del document["ENV_VARIABLES"][absent]
    (output.parent / name).write_text(json.dumps(document))
    assert found(output, "DOC0") == rules


def events_of() -> list[Event]:
    events: list[Event] = json.loads(needs_data(RANK / OUTPUT / "trace_view.json").read_bytes())
    return events


def written(output: Path, events: Sequence[Event], keep: Callable[[Event], bool]) -> None:
    (output / "trace_view.json").write_text(json.dumps([one for one in events if keep(one)]))


def layers(events: Sequence[Event]) -> dict[int, str]:
    return {one["pid"]: one["args"]["name"] for one in events if one["name"] == "process_name"}


LOST = ("CSV033", "LOS301", "LOS306", "LOS312")


@pytest.mark.parametrize("option", [{"activities": ["ProfilerActivity.CPU"]}, {}], ids=str)
def test_what_the_host_alone_did_has_no_kernels(option: dict[str, object], tmp_path: Path) -> None:
    """``ParserConfig.ONLY_FWK_CONFIG`` has no parser of kernels; of none there is no file.

    ``MemoryPrepareParser._add_pta_memory_data`` takes memory of the device alone.
    """
    output = copied(tmp_path, "operator_details.csv")
    configure(output, **option)
    events = events_of()
    named = layers(events)

    def is_of_the_host(event: Event) -> bool:
        is_operator = named[event["pid"]] == "Python" and event.get("cat") not in (
            *("async_npu", "async_task_queue", "enqueue", "dequeue"),
        )
        is_call = named[event["pid"]] == "CANN" and event.get("ph") != "s"
        is_launch = event["name"].startswith(("Node@", "Communication@"))
        return is_operator or (not option and is_call and not is_launch)

    written(output, events, is_of_the_host)
    assert found(output, *LOST) == []
    configure(output)
    launched = ("Python", "CANN")
    written(output, events, lambda one: named[one["pid"]] in launched)
    assert found(output, *LOST) == list(LOST)


def test_a_capture_of_no_level_has_no_kernels(tmp_path: Path) -> None:
    """``ParserConfig.LEVEL_NONE_CONFIG`` has no parser of kernels and steps."""
    output = copied(tmp_path, *OF_THE_FRAMEWORK, "trace_view.json")
    configure(output, _profiler_level="Level_none")
    assert found(output, "CSV033", "LOS301") == []
    configure(output)
    assert found(output, "CSV033", "LOS301") == ["CSV033", "LOS301"]


def test_a_capture_of_communication_alone_has_no_statistic_of_operators(tmp_path: Path) -> None:
    """``op_counter_op_scene_calculator.py`` counts no operators of communication."""
    output = copied(tmp_path, "kernel_details.csv", "step_trace_time.csv", "api_statistic.csv")
    configure(output)
    kernels = output / "kernel_details.csv"
    header, *rows = kernels.read_text().splitlines(keepends=True)
    assert found(output, "LOS301") == ["LOS301"]
    kernels.write_text("".join([header, *(one for one in rows if ",HCCL," in one)]))
    assert found(output, "LOS301") == []


@pytest.mark.exhaustive
def test_the_replay_of_a_graph_takes_no_memory(tmp_path: Path) -> None:
    """``MemoryViewParser`` writes no file of no blocks."""
    output = copied(tmp_path, "kernel_details.csv")
    configure(output)
    events = events_of()
    written(output, events, lambda one: True)
    assert "LOS312" in found(output, "LOS312")
    (output / "communication.json").write_bytes((RANK / OUTPUT / "communication.json").read_bytes())
    assert found(output, "LOS312") == ["LOS312"]
    written(output, events, lambda one: not ("aten::" in one["name"] and "empty" in one["name"]))
    assert found(output, "LOS312") == []


def test_the_replay_of_a_graph_has_no_shapes(tmp_path: Path) -> None:
    """``data_reporter.cpp`` writes shapes of inputs, and of the dispatcher's calls alone."""
    output = copied(tmp_path, "step_trace_time.csv")
    configure(output)
    events = events_of()
    for event in events:
        event.get("args", {}).pop("Input Dims", None)
    written(output, events, lambda one: True)
    assert found(output, "LOS313") == ["LOS313"]
    written(output, events, lambda one: not one["name"].startswith("aten::"))
    assert found(output, "LOS313") == []
