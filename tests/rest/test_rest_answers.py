"""Requests are answered as analysers and proposers answer their callers: M9, M70, M71, M82."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_files import DYNAMIC, Client, documents, running, write_files
from slices import some

from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.mindspore.propose.compose import compose
from ascend_ref.mindspore.propose.proposers import PROPOSERS
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import row_analysers

PLACE = {"train_id": "run/job", "profile": "profiler"}
JOB = {"dir": "run/job"}
ROWS = row_analysers(mindspore_catalog())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    write_files(folder / "run/job/profiler")
    write_files(folder / "run/job/profiler", "3", seed=2)
    write_files(folder / "run/job/profiler", "12", seed=3)
    write_files(folder / "dynamic/profiler-1")
    write_files(folder / "dynamic/profiler-2")
    (folder / "dynamic/profiler-2/dynamic_shape_info_0.json").write_text(json.dumps(DYNAMIC))
    for path in (folder / "dynamic/profiler-2").glob("cpu_*"):
        path.unlink()
    return folder


@pytest.fixture(scope="module")
def client(served: Path) -> Iterator[Client]:
    with running(served) as client:
        yield client


def query(served: Path, name: str, condition: Any = None, device: str = "0") -> Any:
    folder = Folder(served / "run/job/profiler", device)
    return load_analyser(name, folder).query(condition)


@pytest.mark.parametrize("name", some(ROWS, every=2))
def test_m9_m70_rows_are_those_of_the_analyser(client: Client, served: Path, name: str) -> None:
    analyser = mindspore_catalog().analysers[name]
    columns = [one.name for one in analyser.columns_on("2025-06-02") if one.can_sort]
    sorts = [{}, *({"name": one, "type": "ascending"} for one in columns), {"name": columns[-1]}]
    pages = [None, {"limit": 2}, {"limit": 1, "offset": 1}, {"offset": 9}]
    filters = [None, {columns[0]: {"in": ["Cast-op1", 1]}}, {columns[-1]: {"not_in": [2]}}]
    rounds = itertools.cycle(itertools.product(pages, filters))
    for sort, (page, wanted) in zip(
        itertools.islice(itertools.cycle(sorts), 24), rounds, strict=False
    ):
        given = {"sort_condition": sort, "group_condition": page, "filter_condition": wanted}
        condition = {key: value for key, value in given.items() if value}
        body = {"op_type": name, "device_id": "3", **condition}
        assert client.ask("ops/search", body, **PLACE) == (
            200,
            query(served, name, condition, "3"),
        )


def test_m70_a_whole_number_may_be_written_with_a_point(client: Client) -> None:
    with_point, without = (
        client.ask(
            "ops/search", {"op_type": "aicore_type", "group_condition": {"limit": limit}}, **PLACE
        )
        for limit in (2.0, 2)
    )
    assert with_point[0] == 200
    assert with_point == without


def test_m70_old_names_of_columns_are_understood(client: Client) -> None:
    """What the viewer's own check lets through, and what its analysers have (M40)."""
    for name in ("op_type", "kernel_type"):
        body = {"op_type": "aicore_type", "sort_condition": {"name": name, "type": None}}
        status, answer = client.ask("ops/search", body, **PLACE)
        assert status == 200
        kinds = [row[0] for row in answer["object"]]
        assert kinds == sorted(kinds)


def test_m70_devices_of_a_folder(client: Client) -> None:
    assert client.ask("devices", **PLACE) == (
        200,
        {"device_list": ["0", "3", "12"], "profiler_mode": "graph"},
    )


@pytest.mark.parametrize("step", [0, 1, 3])
def test_m70_a_step(client: Client, served: Path, step: int) -> None:
    expected = query(served, "step_trace", {"filter_condition": {"step_id": step}})
    assert client.ask("training-trace/graph", type=step, **JOB) == (200, expected)
    assert expected["point_info"]


@pytest.mark.parametrize("part", ["iteration_interval", "fp_and_bp", "tail"])
def test_m70_a_part_of_all_steps(client: Client, served: Path, part: str) -> None:
    filters = {"mode": "proc", "proc_name": part}
    expected = query(served, "step_trace", {"filter_condition": filters})
    expected.pop("point_info")
    assert client.ask("training-trace/target-time-info", type=part, **JOB) == (200, expected)


def test_m70_queues(client: Client, served: Path) -> None:
    whole = query(served, "minddata")
    for request, part in (("queue_info", "queue"), ("minddata_op", "time")):
        for end in ("get_next", "device_queue"):
            answer = client.ask(request, type=end, **PLACE)
            assert answer == (200, whole[part][end])
            assert answer[1]
    assert client.ask("process_summary", **PLACE) == (200, whole["summary"])


def test_m70_the_data_pipeline(client: Client, served: Path) -> None:
    filters = {"is_display_op_detail": True, "threshold": [0.8, 0.6]}
    condition = {"filter_condition": filters, "sort_condition": {"name": "op_id"}}
    expected = query(served, "minddata_pipeline", condition)
    assert client.ask("minddata-pipeline/op-queue", condition, **PLACE) == (200, expected)
    assert client.ask("minddata-pipeline/op-queue", {}, **PLACE)[1]["size"] == 3
    root, one = (
        client.ask("minddata-pipeline/queue", op_id=number, **PLACE)[1] for number in (0, 1)
    )
    assert root == {
        "current_op": {"op_id": 0, "op_type": "BatchOp", "num_workers": 1},
        "parent_op": None,
        "queue_info": None,
    }
    assert one["current_op"] == {"op_id": 1, "op_type": "MapOp", "num_workers": 2}
    assert one["parent_op"] == root["current_op"]
    assert one["queue_info"] == {
        "output_queue_size": [1, 2],
        "output_queue_average_size": 1.5,
        "output_queue_length": 64,
        "output_queue_usage_rate": 0.3,
        "sample_interval": 10,
    }
    assert client.code("minddata-pipeline/queue", op_id=7, **PLACE) == (400, "50546188")


def test_m70_cpus(client: Client, served: Path) -> None:
    for condition in ({}, {"filter_condition": {"start_step": 2, "end_step": 3}}):
        expected = query(served, "minddata_cpu_utilization", condition)
        request = "minddata-cpu-utilization-summary"
        assert client.ask(request, condition, **PLACE) == (200, expected)
        assert expected["device_info"]


def test_m71_m82_proposals(client: Client, served: Path) -> None:
    names = sorted(PROPOSERS, key=lambda one: one == "common")
    expected = compose(Folder(served / "run/job/profiler", "0"), names).as_viewed()
    status, answer = client.ask("summary/propose", **PLACE)
    assert (status, answer) == (200, expected)
    assert next(iter(answer)) == "step_trace-proposer_type_label"
    assert list(answer)[-1] == "common-profiler_tutorial"
    assert answer["minddata_pipeline-general"] == ["TFReaderOp_2/MapOp_1"]


def test_m70_time_lines(client: Client) -> None:
    files = documents()
    assert client.ask("timeline-summary", **JOB) == (200, files["ascend_timeline_summary"])
    of_gpu = {"max_scope_name_num": 0, **files["gpu_timeline_summary"]}
    assert client.ask("timeline-summary", device_type="gpu", **JOB) == (200, of_gpu)
    every = files["ascend_timeline_display"]
    assert client.ask("timeline", scope_name_num=2, **JOB) == (200, every)
    assert client.ask("timeline", scope_name_num=1, **JOB) == (200, every[:1])
    assert client.ask("timeline", **JOB) == (200, every[:1])
    assert client.ask("timeline", scope_name_num=0, **JOB) == (200, every[:1])
    assert client.ask("timeline", device_type="gpu", **JOB) == (200, files["gpu_timeline_display"])


def test_m70_operations(client: Client) -> None:
    for name in ("summary", "scope"):
        answer = client.ask(f"flops-{name}", train_id="run/job")
        assert answer == (200, documents()[f"flops_{name}"])


def test_m70_dynamic_shapes(client: Client, served: Path) -> None:
    """Of several folders of a job the last by name is meant."""
    folder = Folder(served / "dynamic/profiler-2", "0")
    assert client.ask("dynamic-shape-detail", {"dir": "dynamic"}) == (200, DYNAMIC)
    for name in ("gpu_op_type_info", "gpu_cuda_type_info"):
        body = {"dir": "dynamic", "device_type": "gpu", "type": "1", "op_type": name}
        status, answer = client.ask("dynamic-shape-detail", body)
        assert status == 200
        assert answer["dynamic_info"] == load_analyser(name, folder).query()
        assert answer["dynamic_info"]["size"] == 1
        graph = load_analyser("step_trace", folder).query({"filter_condition": {"step_id": 1}})
        assert answer["graph_info"] == {**graph, "is_heterogeneous": False}
    assert client.ask("training-trace/graph", dir="dynamic") == (200, {})


def test_m70_a_run_in_another_mode_has_no_steps(tmp_path: Path) -> None:
    write_files(tmp_path / "a")
    with running(tmp_path) as client:
        for mode, answer in (
            ({"context_mode": "PYNATIVE"}, {}),
            ({"is_heterogeneous": True}, {"is_heterogeneous": True}),
        ):
            (tmp_path / "a/profiler_info_0.json").write_text(json.dumps(mode))
            assert client.ask("training-trace/graph", dir="a") == (200, answer)
        (tmp_path / "a/step_trace_raw_0_detail_time.csv").unlink()
        (tmp_path / "a/profiler_info_0.json").unlink()
        assert client.ask("training-trace/graph", dir="a") == (200, {})
        code = client.code("training-trace/target-time-info", dir="a", type="tail")
        assert code == (400, "50546084")


@pytest.mark.parametrize("names", [("a", "profiler"), ("a/profiler", "."), ("a", "."), (".", "a")])
def test_m70_a_folder_is_named_by_a_job_or_by_itself(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    """Folders without profiler in them, and what `mindspore parse` writes, are served as well."""
    write_files(tmp_path / "a/profiler", "7")
    train_id, profile = names
    with running(tmp_path) as client:
        answer = client.ask("devices", train_id=train_id, profile=profile)
        assert answer[1]["device_list"] == ["7"]
        body = {"op_type": "aicore_type"}
        assert client.ask("ops/search", body, train_id=train_id, profile=profile)[1]["size"] == 6
    with running(tmp_path / "a/profiler") as client:
        assert client.ask("timeline-summary", dir=".")[0] == 200
