"""Every request answers what Python answers, above all those about several ranks: M9, M70, M71."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from rest_files import Client, running, write_exported, write_files, write_ranks
from slices import some

from ascend_ref.mindspore.analyse.condition import WrongCondition
from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.mindspore.propose.compose import compose
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Request
from ascend_spec.mindspore.requests import LAST_VIEWED

CATALOG = mindspore_catalog()
DAY = CATALOG.day_of(LAST_VIEWED)
ANSWERED = {name: one for name, one in CATALOG.requests.items() if one.is_answered}
SEEDS = {"data-parallel": 3, "model-parallel": 13, "pipeline-parallel": 5}
"""Of drawn ranks."""

FOLDERS = {"train_id": "job", "dir": "job", "profile": "profiler"}
GIVEN: Mapping[str, Mapping[str, Any]] = {
    "profile/ops/search": {"op_type": "cluster_flops"},
    "profile/dynamic-shape-detail": {"device_type": "gpu"},
    "profile/training-trace/graph": {"type": 1},
    "profile/training-trace/target-time-info": {"type": "tail"},
    "profile/msprof_timeline": {
        **{"kind": "detail", "rank_list": "0,1", "model_list": "1,4294967295"},
        **{"merge_model": "false", "scope_name": "true"},
    },
    "profile/queue_info": {"type": "get_next"},
    "profile/minddata_op": {"type": "device_queue"},
    "profile/minddata-pipeline/queue": {"op_id": 1},
    "profile/marey-graph/memory-data": {"device_type": "ascend"},
    "profile/marey-graph/timeline": {"device_type": "ascend", "step": 2, "device_list": "0,1"},
    "profile/memory-breakdowns": {"graph_id": 1, "node_id": 1},
}
"""Arguments beyond folders."""


def query(folder: Folder, name: str, **switches: Any) -> Any:
    return load_analyser(name, folder).query({"filter_condition": switches})


def rows_by_name(folder: Folder, name: str) -> list[dict[str, Any]]:
    answer = query(folder, name)
    rows = [dict(zip(answer["col_name"], row, strict=True)) for row in answer["object"]]
    return [{key: one for key, one in row.items() if one is not None} for row in rows]


def links(folder: Folder) -> dict[str, Any]:
    answer = query(folder, "cluster_link")
    return {"cluster_link_info": answer["object"], "size": answer["size"]}


def of_pipeline(folder: Folder) -> dict[str, Any]:
    """The operator 1 and the root, which takes its data."""
    answer = query(folder, "minddata_pipeline", is_display_op_detail=True)
    rows = [dict(zip(answer["col_name"], row, strict=True)) for row in answer["object"]]
    root, own = (next(row for row in rows if row["op_id"] == one) for one in (0, 1))
    of_operator = ("op_id", "op_type", "num_workers")
    of_queue = [one for one in answer["col_name"] if one.startswith("output_")]
    return {
        "current_op": {one: own[one] for one in of_operator},
        "parent_op": {one: root[one] for one in of_operator},
        "queue_info": {one: own[one] for one in (*of_queue, "sample_interval")},
    }


def of_device(*names: str) -> Callable[[Folder], Any]:
    """Proposals of a device, or of all ranks."""
    return lambda folder: compose(folder, names).as_viewed(has_labels=len(names) > 1)


EXPECTED: Mapping[str, Callable[[Folder], Any]] = {
    "profile/ops/search": lambda folder: query(folder, "cluster_flops"),
    "profile/devices": lambda folder: {"device_list": ["0", "1"], "profiler_mode": "graph"},
    "profile/dynamic-shape-detail": lambda folder: {
        "dynamic_info": query(folder, "gpu_op_type_info"),
        "graph_info": {"is_heterogeneous": True},
    },
    "profile/flops-summary": lambda folder: query(folder, "flops"),
    "profile/flops-scope": lambda folder: query(folder, "flops", show="scope"),
    "profile/training-trace/graph": lambda folder: query(folder, "step_trace", step_id=1),
    "profile/training-trace/target-time-info": lambda folder: {
        key: one
        for key, one in query(folder, "step_trace", mode="proc", proc_name="tail").items()
        if key != "point_info"
    },
    "profile/timeline-summary": lambda folder: query(folder, "timeline"),
    "profile/timeline": lambda folder: [
        one
        for one in json.loads((folder.path / "ascend_timeline_display_0.json").read_text())
        if one.get("tid") != 100_001
    ],
    "profile/msprof_timeline": lambda folder: query(
        folder,
        "msprof_timeline",
        **{"kind": "detail", "rank_list": ["0", "1"], "model_list": ["1", "4294967295"]},
        **{"merge_model": False, "scope_name": True},
    )["events"],
    "profile/msprof_timeline_option": lambda folder: query(
        folder, "msprof_timeline", kind="option"
    ),
    "profile/queue_info": lambda folder: query(folder, "minddata")["queue"]["get_next"],
    "profile/minddata_op": lambda folder: query(folder, "minddata")["time"]["device_queue"],
    "profile/process_summary": lambda folder: query(folder, "minddata")["summary"],
    "profile/minddata-pipeline/op-queue": lambda folder: query(folder, "minddata_pipeline"),
    "profile/minddata-pipeline/queue": of_pipeline,
    "profile/minddata-cpu-utilization-summary": lambda folder: query(
        folder, "minddata_cpu_utilization"
    ),
    "profile/summary/propose": of_device(
        "step_trace", "minddata", "minddata_pipeline", "common", "msadvisor"
    ),
    "profile/summary/cluster-propose": of_device("parallel"),
    "profile/cluster-step-trace-summary": lambda folder: query(folder, "cluster_step_trace"),
    "profile/search-cluster-communication": lambda folder: query(folder, "cluster_hccl"),
    "profile/search-cluster-link": links,
    "profile/communication-data": lambda folder: query(folder, "cluster_hccl", show="data"),
    "profile/cluster-peak-memory": lambda folder: rows_by_name(folder, "cluster_memory"),
    "profile/cluster-flops": lambda folder: rows_by_name(folder, "cluster_flops"),
    "profile/marey-graph/overview-time": lambda folder: query(
        folder, "cluster_step_trace", show="overview"
    ),
    "profile/marey-graph/flops-data": lambda folder: query(folder, "flops", show="ranks"),
    "profile/marey-graph/memory-data": lambda folder: query(folder, "memory_usage", show="ranks"),
    "profile/marey-graph/timeline": lambda folder: query(
        folder, "timeline", show="ranks", step=2, device_list=["0", "1"]
    ),
    "profile/memory-summary": lambda folder: query(folder, "memory_usage"),
    "profile/memory-graphics": lambda folder: query(folder, "memory_usage", show="graphics"),
    "profile/memory-breakdowns": lambda folder: query(
        folder, "memory_usage", show="breakdowns", graph_id=1, node_id=1
    ),
    "profile/profile_info": lambda folder: {"state": True, "ms": "2.3.0rc1", "mi": "2.3.0"},
}
"""By request: the same asked in Python."""


def ask(client: Client, request: Request, **given: Any) -> tuple[int, Any]:
    """A request with its folders from the table of requests, and what is given, where it goes."""
    places = {one.name: one.place for one in request.arguments_on(DAY)}
    given = {**{name: FOLDERS[name] for name in places if name in FOLDERS}, **given}
    body = {name: one for name, one in given.items() if places.get(name) == "body"}
    asked = {name: one for name, one in given.items() if places.get(name) != "body"}
    is_post = request.method_on(DAY) == "POST"
    return client.ask(request.request.removeprefix("profile/"), body if is_post else None, **asked)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks with every file, and those of each way to share work."""
    folder = tmp_path_factory.mktemp("ranks")
    write_ranks(folder / "job/profiler", SEEDS["model-parallel"])
    write_files(folder / "plain")
    for path in (folder / "plain").iterdir():
        if not (folder / "job/profiler" / path.name).exists() and not path.name.startswith("cpu_"):
            path.rename(folder / "job/profiler" / path.name)
    write_exported(folder / "job/profiler")
    for mode, seed in SEEDS.items():
        ranks = write_ranks(folder / mode / "profiler", seed)
        assert ranks.mode == mode
    return folder


@pytest.fixture(scope="module")
def client(served: Path) -> Iterator[Client]:
    with running(served) as client:
        yield client


def test_m9_every_request_has_its_question_in_python() -> None:
    assert EXPECTED.keys() == ANSWERED.keys()
    assert GIVEN.keys() <= EXPECTED.keys()


@pytest.mark.parametrize("name", ANSWERED)
def test_m9_m70_m71_every_request_answers_what_python_answers(
    name: str, client: Client, served: Path
) -> None:
    folder = Folder(served / "job/profiler", "0")
    if name == "profile/dynamic-shape-detail":
        host = served / "job/profiler/cpu_op_type_info_0.csv"
        host.write_text("op_type\n")
        answer = ask(client, ANSWERED[name], **GIVEN[name])
        host.unlink()
    else:
        answer = ask(client, ANSWERED[name], **GIVEN.get(name, {}))
    assert answer == (200, EXPECTED[name](folder))
    assert answer[1]
    assert folder.damage == []


OF_RANKS = {
    "profile/cluster-step-trace-summary": "cluster_step_trace",
    "profile/search-cluster-communication": "cluster_hccl",
    "profile/search-cluster-link": "cluster_link",
}


def drawn_condition(draw: random.Random, analyser: str) -> dict[str, Any]:
    known = CATALOG.analysers[analyser]
    names = [one.name for one in known.columns_on(DAY)]
    switches: dict[str, Any] = {
        "step_id": draw.choice([0, 1, "1", 7]),
        "stage_id": draw.choice([0, 1, "1", 2]),
        "src_rank": draw.choice(["1", ".*", "0"]),
        "dst_rank": draw.choice(["1", ".*"]),
        "link_type": draw.choice(["SDMA", "."]),
        "rank_id": {"in": [0, 1, 3]},
    }
    own = {one.name for one in known.switches} | {"rank_id"}
    filters = {key: one for key, one in switches.items() if key in own and draw.random() < 0.5}
    found = {
        "filter_condition": filters,
        "sort_condition": {"name": draw.choice(names), "type": draw.choice(["ascending", None])},
        "group_condition": {"limit": draw.randint(1, 5), "offset": draw.randint(0, 1)},
    }
    return {key: one for key, one in found.items() if draw.random() < 0.6}


@pytest.mark.parametrize("mode", some(SEEDS, every=3))
@pytest.mark.parametrize("name", OF_RANKS)
def test_m70_conditions_about_ranks_are_those_of_the_analyser(
    name: str, mode: str, client: Client, served: Path
) -> None:
    draw = random.Random(mode + name)
    statuses = set()
    for _ in range(20):
        condition = drawn_condition(draw, OF_RANKS[name])
        status, answer = ask(client, ANSWERED[name], train_id=mode, **condition)
        statuses.add(status)
        loaded = load_analyser(OF_RANKS[name], Folder(served / mode / "profiler", "0"))
        if status == 400:
            with pytest.raises(WrongCondition) as wrong:
                loaded.query(condition)
            refusal = CATALOG.refusals[wrong.value.refusal]
            assert answer["error_code"] == refusal.code
            assert answer["error_msg"] == f"{refusal.message} {wrong.value}"
            continue
        expected = loaded.query(condition)
        if name == "profile/search-cluster-link":
            expected = {"cluster_link_info": expected["object"], "size": expected["size"]}
        assert answer == expected
    assert statuses == {200, 400}


def test_m73_what_a_request_sets_nobody_else_sets(client: Client) -> None:
    for name, one in ANSWERED.items():
        if one.switches and one.method_on(DAY) == "POST":
            for value in ("data", "overview", "step", {"in": []}, None):
                status, answer = ask(client, one, filter_condition={"show": value})
                assert (name, status, answer["error_code"]) == (name, 400, "50546186")
                assert "show is set by the request" in answer["error_msg"]


def test_m70_a_run_on_the_host_as_well_has_no_figures_of_ranks(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job/profiler", SEEDS["pipeline-parallel"])
    host = {"is_heterogeneous": True}
    of_memory = ("profile/memory-summary", "profile/cluster-peak-memory")
    steps = ANSWERED["profile/cluster-step-trace-summary"]
    with running(tmp_path) as client:
        (tmp_path / "job/profiler/profiler_info_1.json").write_text(json.dumps(host))
        assert "info" in ask(client, steps)[1]
        assert ask(client, steps, device_id="1") == (200, host)
        for name in of_memory:
            assert "is_heterogeneous" not in ask(client, ANSWERED[name])[1]
        (tmp_path / "job/profiler/cpu_op_type_info_1.csv").write_text("op_type\n")
        for name in of_memory:
            assert ask(client, ANSWERED[name]) == (200, host)


def test_m70_proposals_of_a_device_have_none_of_ranks(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job/profiler", SEEDS["data-parallel"])
    with running(tmp_path) as client:
        assert "step_interval" in ask(client, ANSWERED["profile/summary/cluster-propose"])[1]
        answer = ask(client, ANSWERED["profile/summary/propose"])[1]
        assert answer == {"common-proposer_type_label": None, "common-profiler_tutorial": None}


@pytest.mark.parametrize(
    ("version", "answer"),
    [
        ("2.3.7", {"state": True, "ms": "2.3.7", "mi": "2.3.0"}),
        ("2.30.0", {"state": False, "ms": "2.30.0", "mi": "2.3.0"}),
        ("1.3", {"state": False, "ms": "1.3", "mi": "2.3.0"}),
        ("x", {"state": False, "ms": "x", "mi": "2.3.0"}),
        ("", {}),
        (None, {}),
    ],
)
def test_m70_versions_fit_by_their_first_two_numbers(
    version: Any, answer: Any, tmp_path: Path
) -> None:
    write_ranks(tmp_path / "job/profiler", SEEDS["pipeline-parallel"])
    path = tmp_path / "job/profiler/profiler_info_0.json"
    with running(tmp_path) as client:
        path.write_text(json.dumps({"ms_version": version}))
        assert ask(client, ANSWERED["profile/profile_info"]) == (200, answer)
        for other in (tmp_path / "job/profiler").glob("profiler_info*"):
            other.unlink()
        assert ask(client, ANSWERED["profile/profile_info"]) == (200, {})


def test_m69_rows_of_ranks_are_read_again_when_a_file_of_any_changes(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job/profiler", SEEDS["pipeline-parallel"])
    request = ANSWERED["profile/cluster-flops"]
    path = tmp_path / "job/profiler/flops_summary_1.json"
    with running(tmp_path) as client:
        before = ask(client, request)[1]
        path.write_text(json.dumps({"FLOPs": 123.5}))
        after = ask(client, request)[1]
        assert (before[0]["rank_id"], after[1]["FLOPs"]) == (0, 123.5)
        path.write_text(json.dumps({"FLOPs": 543.5}))  # as long as before
        assert ask(client, request)[1][1]["FLOPs"] == 543.5
        path.unlink()
        assert [one["rank_id"] for one in ask(client, request)[1]] == [0, *range(2, len(before))]


# --- what cannot be answered ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ANSWERED)
@pytest.mark.parametrize("folder", ["../job", "/etc", "job/../../x", "job/\0", "jop", ""])
def test_m73_no_request_leaves_the_folder(name: str, folder: str, client: Client) -> None:
    (argument,) = [
        one for one in ANSWERED[name].arguments_on(DAY) if one.name in ("train_id", "dir")
    ]
    given = {**GIVEN.get(name, {}), argument.name: folder}
    status, answer = ask(client, ANSWERED[name], **given)
    refusal = "no-job" if folder == "jop" else argument.refusal
    assert (status, answer["error_code"]) == (400, CATALOG.refusals[refusal].code)


def test_m73_no_file_of_a_rank_leads_out_of_the_folder(tmp_path: Path) -> None:
    ranks = write_ranks(tmp_path / "served/job/profiler", SEEDS["pipeline-parallel"])
    named = f"{ranks.mode}_{ranks.stages}_{ranks.ranks}"
    own = tmp_path / f"served/job/profiler/ascend_cluster_analyse_{named}_1.csv"
    outside = own.rename(tmp_path / own.name)
    own.symlink_to(outside)
    with running(tmp_path / "served") as client:
        answer = ask(client, ANSWERED["profile/cluster-step-trace-summary"])[1]
        shown = [one["rank_id"] for one in answer["info"]]
        assert shown == [rank for rank in range(ranks.ranks) if rank != 1]


WRONG = [b"{", b"\xff", b'{"device_id": NaN}', b"[" * 9999, b"[]", b'"x"', b"3", b"9" * 5000]
CONDITIONS: list[tuple[Any, str]] = [
    ({"group_condition": {"limit": 10**6}}, "page"),
    ({"group_condition": {"limit": 2**63}}, "page"),
    ({"group_condition": {"offset": 10**400}}, "page"),
    ({"group_condition": 3}, "page"),
    ({"sort_condition": {"name": "no_column"}}, "no-column"),
    ({"sort_condition": {"name": ["x"]}}, "sort"),
    ({"filter_condition": []}, "filter"),
    ({"filter_condition": {"step_id": -1}}, "filter"),
    ({"filter_condition": {"step_id": True}}, "filter"),
    ({"filter_condition": {"step_id": "1e3"}}, "filter"),
    ({"filter_condition": {"step_id": "\u0661"}}, "filter"),
    ({"filter_condition": {"step_id": "9" * 19}}, "filter"),
    ({"filter_condition": {"step_id": 2**63}}, "step"),
    ({"filter_condition": {"step_id": 10**400}}, "step"),
    ({"filter_condition": {"step_id": "999"}}, "step"),
    ({"device_id": "99"}, "device"),
    ({"other": 1}, "body-type"),
]


@pytest.mark.parametrize("name", OF_RANKS)
def test_m73_bodies_about_ranks_that_are_wrong(name: str, client: Client) -> None:
    request = name.removeprefix("profile/")
    for body in WRONG:
        status, answer = client.ask(request, body, train_id="job")
        assert status == 400
        assert answer["error_code"] in ("50540002", "50546082")
    for condition, refusal in CONDITIONS:
        code = CATALOG.refusals[refusal].code
        assert client.code(request, condition, train_id="job") == (400, code)
    for device in (0, "x", "-1", None):
        assert client.code(request, {"device_id": device}, train_id="job") == (400, "50540001")


def test_m73_values_that_no_rank_has_are_in_no_row(client: Client) -> None:
    for value in (2**63, 10**400, 1e308, -(2**70), 5e-324):
        for column in ("rank_id", "iteration_interval"):
            body = {"filter_condition": {column: {"in": [value]}}}
            answer = client.ask("cluster-step-trace-summary", body, train_id="job")[1]
            assert (answer["info"], answer["size"]) == ([], 0)


@pytest.mark.parametrize(
    ("name", "given", "refusal"),
    [
        ("memory-summary", {"device_type": "gpu"}, "parameter-value"),
        ("memory-graphics", {"device_id": "x"}, "parameter-type"),
        ("memory-breakdowns", {}, "parameter-value"),
        ("memory-breakdowns", {"graph_id": "x"}, "parameter-value"),
        ("memory-breakdowns", {"graph_id": 2}, "parameter-value"),
        ("memory-breakdowns", {"graph_id": 1, "node_id": 2}, "parameter-value"),
        ("memory-breakdowns", {"graph_id": 1, "node_id": 10**18 - 1}, "parameter-value"),
        ("memory-breakdowns", {"graph_id": 1, "node_id": 2**63}, "parameter-type"),
        ("memory-breakdowns", {"graph_id": 1, "node_id": -1}, "parameter-type"),
        ("marey-graph/memory-data", {}, "parameter-value"),
        ("marey-graph/memory-data", {"device_type": "gpu"}, "parameter-value"),
        ("marey-graph/timeline", {"device_type": "ascend", "step": "x"}, "parameter-value"),
        ("marey-graph/timeline", {"device_type": "ascend", "step": 999}, "step"),
        ("marey-graph/timeline", {"device_type": "ascend", "device_list": ","}, "parameter-value"),
        (
            "marey-graph/timeline",
            {"device_type": "ascend", "device_list": "../0"},
            "parameter-value",
        ),
        ("msprof_timeline", {"kind": "option"}, "parameter-value"),
        ("msprof_timeline", {"rank_list": "0,"}, "parameter-value"),
        ("msprof_timeline", {"model_list": "1.5"}, "parameter-value"),
        ("msprof_timeline", {"model_list": "9" * 19}, "parameter-value"),
        ("msprof_timeline", {"merge_model": "True"}, "parameter-value"),
        ("msprof_timeline", {"scope_name": ""}, "parameter-value"),
        ("msprof_timeline", {"dir": "../job"}, "argument-value"),
    ],
)
def test_m73_arguments_about_ranks_and_memory_that_are_wrong(
    name: str, given: dict[str, Any], refusal: str, client: Client
) -> None:
    status, answer = ask(client, ANSWERED[f"profile/{name}"], **given)
    assert (status, answer["error_code"]) == (400, CATALOG.refusals[refusal].code)


def test_m73_no_export_leads_out_of_the_folder(tmp_path: Path) -> None:
    write_exported(tmp_path / "served/job/profiler")
    for profile in (tmp_path / "served/job/profiler").glob("PROF_000002_*"):
        outside = profile.rename(tmp_path / profile.name)
        profile.symlink_to(outside)
    folder = Folder(tmp_path / "served/job/profiler", "0", tmp_path / "served")
    trusted = query(Folder(folder.path, "0"), "msprof_timeline")["events"]
    with running(tmp_path / "served") as client:
        answer = ask(client, ANSWERED["profile/msprof_timeline"])
        assert answer == (200, query(folder, "msprof_timeline")["events"])
        assert answer[1] != trusted


@pytest.mark.exhaustive
def test_m73_damaged_files_of_ranks_are_counted(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job/profiler", SEEDS["pipeline-parallel"])
    texts = (b"", b"[", b"\xff\xfe", b"a,b\n1\n", b'{"a": 1e999}', b"[" * 50_000, b"3", b"null")
    with running(tmp_path) as client:
        for text in texts:
            for path in (tmp_path / "job/profiler").glob("*_1*"):
                path.write_bytes(text)
            for name, one in ANSWERED.items():
                status, answer = ask(client, one, **GIVEN.get(name, {}))
                assert status in (200, 400), (name, text)
                assert status == 200 or "internal error" not in answer["error_msg"], (name, text)
        url = "/v1/mindinsight/profile/cluster-peak-memory?train_id=job"
        _, answer, headers = client.send("GET", url)
        assert 1 not in {one["rank_id"] for one in answer}
        assert int(headers["x-damage"]) >= 1
