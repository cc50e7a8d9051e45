"""A folder with every intermediate file that a request can be about, and a server of it."""

from __future__ import annotations

import asyncio
import csv
import http.client
import json
import random
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from ascend_ref.tools.serve.listening import Endpoint
from ascend_ref.tools.serve.rest.app import serve_folder
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore.requests import PREFIX

sys.path.insert(0, str(Path(__file__).parents[1] / "mindspore"))
from exported_folders import write_exports
from rank_folders import Ranks, drawn_ranks, drawn_timelines, write_timelines

SECONDS = 20
KINDS = ("Cast", "MatMul", "É", "ReLU")
LAST_DAY = "2025-06-02"
STEPS = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"


def write_files(folder: Path, device: str = "0", seed: int = 1) -> None:
    """Files of one device."""
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for analyser in mindspore_catalog().analysers.values():
        if analyser.answer == "rows" and analyser.analyser not in ("aicore_detail", "minddata"):
            _write_table(folder, device, analyser, draw)
    names = [f"Default/{one}-op{number}" for number, one in enumerate(KINDS)]
    _write(
        folder / f"framework_raw_{device}.csv",
        ["full_kernel_name", "op_name", "kernel_name", "kernel_type", "op_info"],
        [[one, one, one[8:], one[8:].split("-")[0], '{"input_0": {}}'] for one in names],
    )
    _write(
        folder / f"aicore_intermediate_{device}_detail.csv",
        ["full_kernel_name", "execution_time", "execution_frequency"],
        [[one, draw.random(), draw.randrange(9)] for one in names],
    )
    rows = [
        [0, "BatchOp", 1, "", "", "", "", 10, "", "[1]"],
        [1, "MapOp", 2, "[1, 2]", 1.5, 64, 0.3, 10, 0, "[2]"],
        [2, "TFReaderOp", 1, "[3]", 3.0, 64, 0.5, 10, 1, ""],
    ]
    header = mindspore_catalog().tables["minddata_pipeline_raw"].columns
    _write(folder / f"minddata_pipeline_raw_{device}.csv", [one.name for one in header], rows)
    steps = [[one, 1000, 9000, 8000, 6000, 8000, 500_000, 2000, 1000] for one in (1, 2, 3, "-")]
    _write(folder / f"step_trace_raw_{device}_detail_time.csv", STEPS.split(","), steps)
    queue = "".join(f"1 4 {one} {1 + one % 3} {one}\n0 2 {one} 1.5 {one}\n" for one in range(1, 9))
    (folder / f"device_queue_profiling_{device}.txt").write_text(queue)
    fetched = "".join(f"GetNext_dequeue_wait {one} {one + 5} {one % 3}\n" for one in range(8))
    (folder / f"minddata_aicpu_{device}.txt").write_text(fetched)
    for name, document in documents().items():
        (folder / f"{name}_{device}.json").write_text(json.dumps(document))


def write_ranks(folder: Path, seed: int) -> Ranks:
    """Files of several ranks."""
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    ranks = drawn_ranks(draw)
    ranks.write(folder)
    timelines = drawn_timelines(draw, ranks.ranks)
    write_timelines(folder, timelines)
    for rank in range(ranks.ranks):
        run = {"context_mode": "graph", "ms_version": "2.3.0rc1"}
        (folder / f"profiler_info_{rank}.json").write_text(json.dumps(run))
        details = [["Default/a-op1", 0.5, draw.random(), 3], ["Default/b-op2", 2, draw.random(), 4]]
        header = ["full_kernel_name", "FLOPs", "FLOPS", "FLOPS utilization"]
        _write(folder / f"flops_{rank}.txt", header, details)
    return ranks


def write_exported(folder: Path) -> None:
    """What msprof exported of two ranks."""
    write_exports(folder, random.Random(1), 2)


def documents() -> dict[str, Any]:
    """The files of JSON by the beginning of their names; those of dynamic shapes are left out."""
    scope = {"tid": 100_001, "ph": "X", "scope_level": 1}
    return {
        "minddata_cpu_utilization": {
            "sampling_interval": 10,
            "time_stamp": [0, 1, 2, 3],
            "device_info": {"idle_utilization": [10, 12, 14]},
            "op_info": [{"op_id": 1, "metrics": {"user_utilization": [3, 4, 5]}}],
        },
        "ascend_timeline_summary": {"total_time": 3.5, "max_scope_name_num": 2},
        "gpu_timeline_summary": {"total_time": 4.5},
        "ascend_timeline_display": [{"name": "thread_name", "ph": "M", "tid": 100_001}, scope],
        "gpu_timeline_display": [{"name": "gpu"}],
        "step_trace_point_info": {"fp_start": "Default/a", "bp_end": "Default/b"},
        "flops_summary": {"FLOPs": 107146.763, "FLOPS": 5385.552},
        "flops_scope": {"data": {"nodes": [{"name": "a(Default)"}], "links": []}},
        "profiler_info": {"context_mode": "graph"},
    }


DYNAMIC = {
    "operator": {"1": [{"step": "1", "op_side": "GPU", "op_type": "Cast", "dur": 1.5}], "2": []},
    "operator_type": {"1": {"Cast": ["a", 3, 1.5]}},
    "kernel": {"1": [{"step": "1", "op_type": "Cast", "block_dim": "1,1"}]},
    "kernel_type": {"1": {"Cast": ["a", 3, 2.5]}},
}


def _write_table(folder: Path, device: str, analyser: Any, draw: random.Random) -> None:
    table = mindspore_catalog().tables[analyser.reads[0]]
    if table.form != "csv":
        return
    names = [one.name for one in table.columns_on(LAST_DAY)]
    forms = {name: one.form for one in analyser.columns for name in one.takes}
    rows = [[_cell(forms.get(name, "number"), draw) for name in names] for _ in range(6)]
    _write(folder / table.names[-1].form.of(device=device), names, rows)


def _cell(form: str, draw: random.Random) -> Any:
    match form:
        case "text":
            return f"{draw.choice(KINDS)}-op{draw.randrange(3)}"
        case "integer":
            return draw.randint(1, 5)
        case "json":
            return "[1]"
    return draw.random()


def _write(path: Path, header: list[str], rows: list[list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@dataclass(frozen=True)
class Client:
    """Asks a server."""

    url: str

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}
    ) -> tuple[int, Any, Mapping[str, str]]:
        """Status, body as JSON, headers in small letters."""
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=SECONDS)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            text = response.read()
            found = {name.lower(): value for name, value in response.getheaders()}
            return response.status, json.loads(text) if text else None, found
        finally:
            connection.close()

    def ask(self, request: str, body: Any = None, **query: Any) -> tuple[int, Any]:
        """Status and body of a request of the viewer."""
        path = f"{PREFIX}profile/{request}?{urlencode(query)}"
        if body is None:
            return self.send("GET", path)[:2]
        return self.send(
            "POST", path, body if isinstance(body, bytes) else json.dumps(body).encode()
        )[:2]

    def code(self, request: str, body: Any = None, **query: Any) -> tuple[int, str]:
        """Status and code of a refusal, whose text is none of a failure of ours."""
        status, answer = self.ask(request, body, **query)
        assert answer.keys() == {"error_code", "error_msg"}
        assert "internal error" not in answer["error_msg"]
        return status, answer["error_code"]


@contextmanager
def running(folder: Path, origins: tuple[str, ...] = ()) -> Iterator[Client]:
    """A server of a folder in a thread of its own."""
    ready = threading.Event()
    addresses: list[str] = []
    tasks: list[asyncio.Task[Any]] = []

    def take(address: str) -> None:
        addresses.append(address)
        ready.set()

    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        await serve_folder(folder, Endpoint(origins=origins), take)

    def run() -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(work())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(SECONDS)
        yield Client(addresses[0])
    finally:
        tasks[0].get_loop().call_soon_threadsafe(tasks[0].cancel)
        thread.join(SECONDS)
        assert not thread.is_alive()


@contextmanager
def served(folder: Path) -> Iterator[Client]:
    """Files of two jobs in a folder, those of ranks in a pipeline among them, served."""
    for job in ("job", "dynamic"):
        write_files(folder / job / "profiler")
        write_ranks(folder / job / "profiler", seed=5)
        write_exported(folder / job / "profiler")
    for path in (folder / "dynamic/profiler").glob("cpu_*"):
        path.unlink()
    (folder / "dynamic/profiler/dynamic_shape_info_0.json").write_text(json.dumps(DYNAMIC))
    with running(folder) as client:
        yield client
