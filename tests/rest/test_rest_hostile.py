"""Requests that nobody should make get an answer with a code: M73. Nothing else is read."""

from __future__ import annotations

import concurrent.futures
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from rest_files import Client, running, write_files

from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.tools.serve.listening import MAX_MESSAGE
from ascend_ref.tools.serve.rest import app, loads
from ascend_ref.tools.serve.rest.folders import Served
from ascend_spec import mindspore_catalog

PLACE = {"train_id": "job", "profile": "profiler"}
HIDDEN = "op_type,total_time,execution_frequency,percent\nSECRET,1,1,1\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    write_files(folder / "served/job/profiler")
    outside = folder / "outside/profiler"
    outside.mkdir(parents=True)
    (outside / "aicore_intermediate_0_type.csv").write_text(HIDDEN)
    (folder / "served/link").symlink_to(outside.parent)
    (folder / "served/inner").mkdir()
    (folder / "served/inner/profiler").symlink_to(outside)
    write_files(folder / "served/files")
    leak = folder / "served/files/aicore_intermediate_0_type.csv"
    leak.unlink()
    leak.symlink_to(outside / leak.name)
    (folder / "served/loop").symlink_to("loop")
    return folder / "served"


@pytest.fixture(scope="module")
def client(served: Path) -> Iterator[Client]:
    with running(served) as client:
        yield client


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "job/../../outside",
        "/etc",
        "link",
        "link/profiler",
        "inner",
        "inner/profiler",
        "job/\0",
        "..\\outside",
        "job/" + "x" * 300,
        "x/" * 2000,
        "loop",
        "files",
        "~root",
        "file:///etc",
        "%2e%2e/outside",
        " ",
        "\N{FULLWIDTH FULL STOP}" * 2 + "/outside",
    ],
)
def test_m73_nothing_out_of_the_folder_is_read(client: Client, name: str, served: Path) -> None:
    places: list[dict[str, str]] = [{"train_id": name, "profile": "."}]
    places += [{"train_id": ".", "profile": name}, {"train_id": name, "profile": "profiler"}]
    for place in places:
        for device in ("0", None):
            body = {"op_type": "aicore_type"} | ({"device_id": device} if device else {})
            status, answer = client.ask("ops/search", body, **place)
            assert "SECRET" not in json.dumps(answer)
            assert (status == 200) == (name == "files" and place["profile"] != "profiler")
            assert status == 200 or "internal error" not in answer["error_msg"]
    status, answer = client.ask("flops-summary", train_id=name)
    assert (status == 200) == (name == "files")
    status, answer = client.ask("dynamic-shape-detail", {"dir": name, "device_type": "gpu"})
    assert "SECRET" not in json.dumps(answer)


def test_m73_arguments_that_are_missing_or_wrong(client: Client) -> None:
    assert client.code("devices") == (400, "50540002")
    assert client.code("devices", train_id="job") == (400, "50540002")
    assert client.code("devices", train_id="jop", profile=".") == (400, "50545005")
    assert client.code("devices", train_id="job", profile="x") == (400, "50546083")
    assert client.code("timeline") == (400, "50546080")
    assert client.code("timeline", dir="../x") == (400, "50546080")
    assert client.code("timeline", dir="job", device_type="cpu") == (400, "50540002")
    for device in ("x", "-1", "0x1", "1.5", "\u0661", "", "9" * 10):
        assert client.code("timeline", dir="job", device_id=device) == (400, "50540001")
    assert client.code("timeline", dir="job", device_id="77") == (400, "50546182")
    assert client.code("queue_info", type="other", **PLACE) == (400, "50540002")
    for step in ("-1", "x", "1e3", "9" * 19):
        assert client.code("training-trace/graph", dir="job", type=step) == (400, "50540001")
    assert client.code("training-trace/graph", dir="job", type=2**50) == (400, "50546102")
    request = "training-trace/target-time-info"
    assert client.code(request, dir="job", type="start_point") == (400, "50546080")
    assert client.code(request, dir="job", type="fp") == (400, "50546080")
    twice = "/v1/mindinsight/profile/timeline?dir=job&dir=."
    assert client.send("GET", twice)[0] == 400
    assert client.send("GET", "/v1/mindinsight/profile/timeline?dir=job&x=1&x=2")[0] == 200


BODIES: list[tuple[Any, str]] = [
    (b"{", "50540002"),
    (b"\xff\xfe", "50540002"),
    (b'{"op_type": NaN}', "50540002"),
    (b'{"op_type": Infinity}', "50540002"),
    (b"[" * 100_000, "50540002"),
    (b'{"a":' * 100_000, "50540002"),
    (b'{"op_type": ' + b"9" * 5000 + b"}", "50540002"),
    (b"[]", "50546082"),
    (b"null", "50546082"),
    (b'"x"', "50546082"),
    (b"", "50546183"),
    ({"op_type": "nothing"}, "50546183"),
    ({"op_type": "parallel"}, "50546183"),
    ({"op_type": "step_trace"}, "50546183"),
    ({"op_type": ["aicore_type"]}, "50546183"),
    ({"op_type": "../aicore_type"}, "50546183"),
    ({"device_id": 0}, "50546182"),
    ({"device_id": "../0"}, "50546182"),
    ({"device_id": None}, "50546182"),
    ({"group_condition": {"limit": 10**6}}, "50546184"),
    ({"group_condition": {"limit": 0}}, "50546184"),
    ({"group_condition": {"limit": 2**63}}, "50546184"),
    ({"group_condition": {"limit": True}}, "50546184"),
    ({"group_condition": {"limit": "3"}}, "50546184"),
    ({"group_condition": {"limit": None}}, "50546184"),
    ({"group_condition": {"offset": -1}}, "50546184"),
    ({"group_condition": {"offset": 10**6 + 1}}, "50546184"),
    ({"group_condition": {"lmit": 3}}, "50546184"),
    ({"group_condition": []}, "50546184"),
    ({"sort_condition": []}, "50546185"),
    ({"sort_condition": {"name": 3}}, "50546185"),
    ({"sort_condition": {"name": "no_column"}}, "50546185"),
    ({"sort_condition": {"name": ""}}, "50546185"),
    ({"sort_condition": {"type": "up"}}, "50546185"),
    ({"sort_condition": {"by": "x"}}, "50546185"),
    ({"op_type": "aicore_detail", "sort_condition": {"name": "op_info"}}, "50546187"),
    ({"filter_condition": []}, "50546186"),
    ({"filter_condition": {"op_type": ["Cast"]}}, "50546186"),
    ({"filter_condition": {"op_type": {"in": "Cast"}}}, "50546186"),
    ({"filter_condition": {"op_type": {"in": [None]}}}, "50546186"),
    ({"filter_condition": {"op_type": {"in": [[1]]}}}, "50546186"),
    ({"filter_condition": {"op_type": {"in": ["\ud800"]}}}, "50546186"),
    ({"filter_condition": {"op_type": {"partial_match_str_in": [3]}}}, "50546186"),
    ({"filter_condition": {"total_time": {"partial_match_str_in": ["3"]}}}, "50546186"),
    ({"other": 1}, "50546082"),
]


@pytest.mark.parametrize(("body", "code"), BODIES, ids=lambda one: str(one)[:60])
def test_m73_bodies_that_are_wrong(client: Client, body: Any, code: str) -> None:
    if isinstance(body, dict):
        body = {"op_type": "aicore_type", **body}
    assert client.code("ops/search", body, **PLACE) == (400, code)


def test_m73_numbers_that_no_file_can_have_are_in_no_row(client: Client) -> None:
    for value in (2**63, 10**400, 1e308, -(2**70), 5e-324):
        for column in ("total_time", "execution_frequency", "kernel_type"):
            filters = {column: {"in": [value]}}
            body = {"op_type": "aicore_type", "filter_condition": filters}
            assert client.ask("ops/search", body, **PLACE)[1]["size"] == 0


def test_m73_unknown_paths_and_methods(client: Client) -> None:
    for path in (
        "/",
        "/v1/mindinsight/profile/",
        "/v1/mindinsight/profile/ops/search/",
        "//",
        "/a",
    ):
        status, answer, _ = client.send("GET", path)
        assert (status, answer["error_code"]) == (404, "50545001")
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        status, answer, headers = client.send(method, "/v1/mindinsight/profile/ops/search")
        assert (status, answer["error_code"]) == (405, "50545002")
        assert headers["allow"] == "POST"


@pytest.mark.parametrize(
    "name", [name for name, one in mindspore_catalog().requests.items() if one.reason]
)
def test_m73_what_is_not_answered_says_why(client: Client, name: str) -> None:
    request = mindspore_catalog().requests[name]
    verb = request.method_on("2025-06-02")
    if verb is None:
        assert client.ask(name.removeprefix("profile/"))[0] == 404
        return
    status, answer = client.ask(name.removeprefix("profile/"), {} if verb == "POST" else None)
    assert (status, answer["error_code"]) == (501, "not-answered")
    assert str(request.reason) in answer["error_msg"]


@pytest.mark.parametrize("announced", [True, False])
def test_m73_a_body_that_is_too_long_is_not_read(client: Client, announced: bool) -> None:
    place = urlsplit(client.url)
    size = f"Content-Length: {10**15}" if announced else "Transfer-Encoding: chunked"
    head = (
        "POST /v1/mindinsight/profile/ops/search?train_id=job&profile=. HTTP/1.1\r\n"
        f"Host: {place.netloc}\r\n{size}\r\n\r\n"
    )
    chunk = b" " * 65536
    sent = 0
    with socket.create_connection((place.hostname or "", place.port or 0), 20) as connection:
        connection.sendall(head.encode())
        try:
            while sent <= 2 * MAX_MESSAGE:
                connection.sendall(chunk if announced else b"10000\r\n" + chunk + b"\r\n")
                sent += len(chunk)
        except OSError:
            pass
        assert sent <= 2 * MAX_MESSAGE
        answer = connection.recv(65536)
    assert b" 413 " in answer.partition(b"\r\n")[0]
    assert b'"too-long"' in answer
    assert client.ask("devices", **PLACE)[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": ""},
    ],
)
def test_m73_pages_of_elsewhere_are_refused(client: Client, headers: dict[str, str]) -> None:
    for path in ("/openapi.json", "/v1/mindinsight/profile/devices?train_id=job&profile=."):
        status, answer, found = client.send("GET", path, headers=headers)
        assert (status, answer["error_code"]) == (403, "other-page")
        assert "access-control-allow-origin" not in found


def test_m73_pages_of_this_machine_and_named_ones_may_ask(served: Path) -> None:
    with running(served, ("https://viewer.example:8443",)) as client:
        for origin in ("https://viewer.example:8443", "http://localhost:5173"):
            status, _, found = client.send("GET", "/openapi.json", headers={"Origin": origin})
            assert (status, found["access-control-allow-origin"]) == (200, origin)


def test_m73_many_requests_at_once_are_all_answered(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"op_type": "aicore_type"}
    alone = client.ask("ops/search", body, **PLACE)

    def ask(_: int) -> tuple[int, Any]:
        return client.ask("ops/search", body, **PLACE)

    with concurrent.futures.ThreadPoolExecutor(32) as threads:
        assert all(one == alone for one in threads.map(ask, range(300)))
    monkeypatch.setattr(app, "WAITING", 0)
    assert client.code("ops/search", body, **PLACE) == (503, "busy")


def test_m73_damaged_files_are_counted_and_the_rest_is_answered(tmp_path: Path) -> None:
    write_files(tmp_path)
    (tmp_path / "aicore_intermediate_0_type.csv").write_text(
        "op_type,total_time,execution_frequency,percent\nCast,1,2,5\nAdd,x,1,1\n"
    )
    for name in ("flops_summary", "ascend_timeline_display", "gpu_timeline_summary"):
        (tmp_path / f"{name}_0.json").write_text('{"a": NaN}')
    scope = tmp_path / "flops_scope_0.json"
    scope.write_text("[")
    (tmp_path / "step_trace_point_info_0.json").write_text("[3]")
    (tmp_path / "device_queue_profiling_0.txt").write_text("0 2 1 nan 1\n0 2 1 2.5 1\n")
    cpus = tmp_path / "minddata_cpu_utilization_0.json"
    cpus.write_text('{"time_stamp": [0, 1], "device_info": {"idle_utilization": [1e999]}}')
    place = {"train_id": ".", "profile": "."}
    with running(tmp_path) as client:
        path = "/v1/mindinsight/profile/ops/search?train_id=.&profile=."
        status, answer, headers = client.send("POST", path, b'{"op_type": "aicore_type"}')
        assert (status, answer["size"], headers["x-damage"]) == (200, 1, "1")
        assert client.code("flops-summary", train_id=".") == (400, "50546085")
        for text in ("[", "[]", "3", '{"a":' * 50_000, "", "\ud7ff"):
            scope.write_text(text, encoding="utf-8")
            assert client.code("flops-scope", train_id=".") == (400, "50546085")
        for depth in range(200, 1200, 100):
            scope.write_text('{"a":' * depth + "1" + "}" * depth)
            assert client.ask("flops-scope", train_id=".")[0] in (200, 400)
        assert client.code("timeline", dir=".") == (400, "50546085")
        assert client.code("timeline-summary", dir=".", device_type="gpu") == (400, "50546085")
        assert client.ask("training-trace/graph", dir=".")[1]["point_info"] == {}
        times = client.ask("minddata_op", type="device_queue", **place)[1]
        assert times["info"]["total_cost"] == [2.5]
        assert client.ask("minddata-cpu-utilization-summary", {}, **place) == (200, {})
        if os.geteuid():
            scope.chmod(0)
            assert client.code("flops-scope", train_id=".") == (400, "50546085")


def test_m69_rows_are_read_again_only_when_files_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    readings = []
    monkeypatch.setattr(
        loads, "load_analyser", lambda *given: readings.append(given) or load_analyser(*given)
    )
    path = tmp_path / "gpu_op_type_info_0.csv"
    damaged = path.read_text("utf-8") + "x\n"
    url = "/v1/mindinsight/profile/ops/search?train_id=.&profile=."
    with running(tmp_path) as client:
        for text, damage in ((path.read_text("utf-8"), None), (damaged, "1")):
            path.write_text(text, encoding="utf-8")
            for offset in range(3):
                page = {"limit": 2, "offset": offset}
                body = json.dumps({"op_type": "gpu_op_type", "group_condition": page}).encode()
                status, answer, headers = client.send("POST", url, body)
                assert (status, len(answer["object"])) == (200, 2)
                assert headers.get("x-damage") == damage
        assert len(readings) == 2


def test_m73_what_is_there_is_named(served: Path) -> None:
    assert Served(served).known() == ["files", "job/profiler"]
