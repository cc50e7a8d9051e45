"""Time lines that msprof exported, those of several ranks in one, against a plain reading."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from exported_folders import (
    COMMUNICATION,
    PIDS,
    STEPS,
    STREAMS,
    Events,
    Exported,
    drawn_export,
    named,
    write_exports,
)
from slices import some

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.condition import WrongCondition
from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder

NAME = "msprof_timeline"
OUTPUT = "PROF_*/mindstudio_profiler_output"


def query(folder: Folder, **switches: Any) -> Any:
    return load_analyser(NAME, folder).query({"filter_condition": switches})


def ask(path: Path, **switches: Any) -> Any:
    folder = Folder(path, "0")
    answer = query(folder, **switches)
    assert folder.damage == []
    return answer


def exact(value: Any) -> Decimal:
    return Decimal(value).quantize(Decimal("0.001"))


def moved(event: dict[str, Any], one: Exported, pid: int, **more: Any) -> dict[str, Any]:
    time = {"ts": str(exact(event["ts"]) - exact(one.shift))} if "ts" in event else {}
    return {**event, **time, "pid": pid, **more}


def head(place: int, rank: int, title: str) -> Events:
    pid = int(f"{place}{rank}")
    named_so = {
        "name": "process_name",
        "pid": pid,
        "args": {"name": f"{title} Rank{rank}"},
        "ph": "M",
    }
    order = {"name": "process_sort_index", "pid": pid, "args": {"sort_index": place}, "ph": "M"}
    return [named_so, order]


def is_process(event: dict[str, Any]) -> bool:
    return event["ph"] == "M" and event["name"] in ("process_name", "process_sort_index")


def plain_steps(one: Exported, rank: int, models: set[int] | None, merged: bool) -> Iterator[Any]:
    pid = int(f"1{rank}")
    shown = {70_000 + model for model in one.models if models is None or model in models}
    if merged:
        yield from head(1, rank, "Step Trace")
        yield {**named("thread_name", pid, 0, name="iterations")}
    for event in one.steps:
        if event["ph"] == "M" and not merged:
            if event["name"] == "process_name":
                yield {**event, "pid": pid, "args": {"name": f"Step Trace Rank{rank}"}}
            elif event["tid"] in shown:
                yield {**event, "pid": pid}
        elif event["ph"] != "M" and event["tid"] in shown:
            is_step = merged and event["ph"] == "X" and event["name"].startswith("Iteration")
            model = f"Model {event['tid'] - 70_000} " if is_step else ""
            more = {"tid": 0} if merged else {}
            yield moved(event, one, pid, name=model + event["name"], **more)


def plain_summary(one: Exported, rank: int) -> Iterator[Any]:
    for event in one.events:
        if event["pid"] == PIDS["Overlap Analysis"]:
            args = event["args"]
            if event["name"] == "process_name":
                args = {"name": f"Overlap Analysis Rank{rank}"}
            elif event["name"] == "process_sort_index":
                args = {"sort_index": 7}
            yield moved(event, one, int(f"7{rank}"), args=args)


def of_models(event: dict[str, Any], models: set[int] | None) -> bool:
    return models is None or bool(set(event["args"].values()) & models)


def plain_details(one: Exported, rank: int, models: set[int] | None) -> Iterator[Any]:
    layers = [
        (PIDS["Ascend Hardware"], 4, "Ascend Hardware"),
        (COMMUNICATION, 5, "HCCL"),
        (PIDS["CANN"], 2, "CANN"),
        (PIDS["Overlap Analysis"], 7, "Overlap Analysis"),
    ]
    for _, place, title in layers:
        yield from head(place, rank, title)
    for pid, place, _ in layers:
        for event in one.events:
            if event["pid"] != pid or is_process(event) or (models is not None and place in (2, 7)):
                continue
            if event["ph"] == "M":
                if place != 4 or event["args"].get("name", "").startswith("Stream"):
                    yield {**event, "pid": int(f"{place}{rank}")}
            elif of_models(event, models) and (place != 4 or event["tid"] in STREAMS):
                yield moved(event, one, int(f"{place}{rank}"))


def host_events(one: Exported) -> Events:
    """By the clock of the exports."""
    return [
        {
            **{"name": name, "tid": thread, "ph": "X", "ts": str(Decimal(start) / 1000)},
            **{"dur": length * 1000, "args": {"type": "HostCpuOps"}},
        }
        for name, start, length, thread in one.runs
    ]


def plain_host(one: Exported, rank: int) -> Iterator[Any]:
    if one.runs:
        yield from head(6, rank, "CPU OP")
    pid = int(f"6{rank}")
    for thread in {run[3] for run in one.runs}:
        yield {**named("thread_name", pid, thread, name=f"thread {thread}")}
    yield from (moved(event, one, pid) for event in host_events(one))


def plain_scopes(one: Exported, rank: int, models: set[int] | None) -> Iterator[Any]:
    """At each depth runs of operators in the same scopes, but for those while another runs."""
    shift = exact(one.shift)
    operators = [
        (event["name"].split("/")[:-1], exact(event["ts"]) - shift, exact(event["dur"]))
        for event in [*one.events, *(host_events(one) if models is None else [])]
        if event["name"].startswith(("Default", "Gradients")) and of_models(event, models)
    ]
    kept: list[tuple[list[str], Decimal, Decimal]] = []
    for names, start, length in sorted(operators, key=lambda operator: operator[1]):
        if not kept or start >= kept[-1][2]:
            kept.append((names, start, start + length))
    if not kept:
        return
    pid = int(f"3{rank}")
    yield from head(3, rank, "Scope Layer")
    for depth in range(max(len(names) for names, _, _ in kept)):
        yield {**named("thread_name", pid, depth, name=f"layer{depth}")}
        yield {**named("thread_sort_index", pid, depth, sort_index=depth)}
        runs: list[list[tuple[list[str], Decimal, Decimal]]] = []
        for place, operator in enumerate(kept):
            if len(operator[0]) <= depth:
                continue
            before = [
                [names[level] for names, _, _ in kept[:place] if len(names) > level][-1:]
                for level in range(depth + 1)
            ]
            if runs and before == [[name] for name in operator[0][: depth + 1]]:
                runs[-1].append(operator)
            else:
                runs.append([operator])
        for run in runs:
            start, end = run[0][1], run[-1][2]
            drawn = {"name": run[0][0][depth], "pid": pid, "tid": depth, "ph": "X"}
            yield {**drawn, "ts": str(start), "dur": float(end - start)}


def plain(
    exports: dict[int, Exported], kind: str, models: set[int] | None, merged: bool, scopes: bool
) -> Iterator[Any]:
    everything = {model for one in exports.values() for model in one.models}
    chosen = None if kind == "summary" or models == everything else models
    for rank, one in exports.items():
        yield from plain_steps(one, rank, chosen, merged)
        if kind == "summary":
            yield from plain_summary(one, rank)
            continue
        yield from plain_details(one, rank, chosen)
        yield from plain_host(one, rank) if chosen is None else ()
        yield from plain_scopes(one, rank, chosen) if scopes else ()


def in_order(events: Any) -> list[str]:
    """Without tid where there is none to have, and times as numbers."""
    found = (
        {key: one for key, one in event.items() if key != "pid"} | {"pid": event["pid"]}
        for event in events
    )
    return sorted(
        json.dumps(
            {**one, **({"ts": str(Decimal(one["ts"]).normalize())} if "ts" in one else {})},
            sort_keys=True,
        )
        for one in found
    )


@pytest.mark.parametrize("seed", some(range(30), every=3))
def test_m64_exported_time_lines_are_those_of_the_last_exports(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    exports = write_exports(tmp_path, draw, draw.randint(1, 3))
    models = sorted({model for one in exports.values() for model in one.models})
    assert ask(tmp_path, kind="option") == {"rank_list": [*exports], "model_list": models}
    for kind in ("summary", "detail"):
        for chosen in (None, {1}, {1, 2}, set(models)):
            ranks = draw.sample(sorted(exports), draw.randint(1, len(exports)))
            merged, scopes = draw.random() < 0.5, draw.random() < 0.7
            asked: dict[str, Any] = {"merge_model": merged, "scope_name": scopes}
            asked["rank_list"] = [str(rank) for rank in ranks]
            if chosen is not None:
                asked["model_list"] = [str(model) for model in chosen]
            answer = ask(tmp_path, kind=kind, **asked)["events"]
            some = {rank: exports[rank] for rank in sorted(ranks)}
            assert in_order(answer) == in_order(plain(some, kind, chosen, merged, scopes))
            of_ranks = [str(one["pid"])[1:] for one in answer]
            assert of_ranks == sorted(of_ranks, key=int)
    assert ask(tmp_path)["events"] == ask(tmp_path, kind="summary")["events"]


def test_m64_the_overlap_has_the_clock_of_the_steps(tmp_path: Path) -> None:
    """The viewer adds diff_time to its times in the summary, and takes it off those of steps."""
    export = drawn_export(random.Random(1))
    step = {"name": "Iteration 1", "pid": STEPS, "tid": 5, "ts": 1000.5, "dur": 1, "ph": "X"}
    export.steps = [
        named("process_name", STEPS, 0, name="Step Trace"),
        named("thread_name", STEPS, 5, name="Model ID:5"),
        step,
    ]
    export.events = [
        named("process_name", 14, 0, name="Overlap Analysis"),
        {"name": "Computing", "pid": 14, "tid": 0, "ts": "1000.5", "dur": 1, "ph": "X"},
    ]
    export.shift = 100
    export.write(tmp_path, 3, 1, "20240102000000")
    events = ask(tmp_path)["events"]
    times = {one["name"]: (one["ts"], one["pid"]) for one in events if one["ph"] == "X"}
    assert times == {"Model 5 Iteration 1": ("900.500", 13), "Computing": ("900.500", 73)}


def test_m64_a_full_stop_in_the_path_is_no_time_of_an_export(tmp_path: Path) -> None:
    """The viewer joins all exports of a folder with one."""
    exports = write_exports(tmp_path / "job.1" / "a_9.b", random.Random(3), 1)
    found = ask(tmp_path / "job.1" / "a_9.b", kind="detail")["events"]
    assert in_order(found) == in_order(plain(exports, "detail", None, True, False))


def test_m64_ranks_that_are_not_there(tmp_path: Path) -> None:
    write_exports(tmp_path, random.Random(5), 2)
    folder = Folder(tmp_path, "0")
    assert query(folder, rank_list=["7", "1"])["events"] == ask(tmp_path, rank_list=["1"])["events"]
    assert [one.message for one in folder.damage] == ["no time line of rank 7"]
    for name in ("rank_list", "model_list"):
        for texts in (["x"], ["1.5"], [""], ["nan"]):
            with pytest.raises(WrongCondition, match="expected whole numbers"):
                ask(tmp_path, **{name: texts})
    with pytest.raises(WrongCondition, match="expected true or false"):
        ask(tmp_path, merge_model="false")


@pytest.mark.parametrize(("stated", "rank"), [(-1, 0), (None, 0), ("2", 2), (4.0, 4)])
def test_m64_the_rank_of_a_collection_is_that_of_its_device(
    stated: Any, rank: int, tmp_path: Path
) -> None:
    drawn_export(random.Random(7)).write(tmp_path, 9, 1, "20240102000000")
    (path,) = tmp_path.glob("PROF_*/device_9/info.json.9")
    path.write_text(json.dumps({} if stated is None else {"rank_id": stated}))
    assert ask(tmp_path, kind="option")["rank_list"] == [rank]
    path.unlink()
    assert ask(tmp_path, kind="option")["rank_list"] == [0]


def test_m64_exports_of_2023_and_none_have_no_events(tmp_path: Path) -> None:
    assert ask(tmp_path, kind="option") == {"rank_list": [], "model_list": []}
    assert ask(tmp_path, kind="detail") == {"events": []}
    timeline = tmp_path / "PROF_000001_20230818142704322_ABCDEFGHIJKLMNOP/device_0/timeline"
    timeline.mkdir(parents=True)
    (timeline / "msprof_0_2_1.json").write_text("[]")
    assert ask(tmp_path, kind="option") == {"rank_list": [0], "model_list": []}
    assert ask(tmp_path, kind="detail", scope_name=True) == {"events": []}


# --- hostile files --------------------------------------------------------------------------------

HOSTILE = [
    b"",
    b"{",
    b"{}",
    b"null",
    b"[" * 100_000,
    b"[" + b"9" * 10_000 + b"]",
    b"\xff\xfe\x00",
    b'[null, 3, "x", [], {}, {"args": null}, {"args": {"name": []}}]',
    b'[{"name": "process_name", "ph": "M", "pid": {}, "args": {"name": "HCCL"}}]',
    b'[{"name": [], "ph": "X", "pid": 1, "ts": 1}, {"pid": 1, "tid": {}, "ts": 1}]',
    b'[{"pid": 1, "ts": "1e999999"}, {"ts": "NaN"}, {"ts": 1e400}, {"ts": []}, {"ts": null}]',
    b'[{"name": "Default/a", "ts": 1, "dur": {}}, {"name": "Default", "ts": 1, "dur": 2}]',
]
KINDS = ["msprof_2*", "step_trace_2*.json", "step_trace_2*.csv"]


@pytest.mark.parametrize("content", some(HOSTILE, every=3), ids=range(len(HOSTILE)))
@pytest.mark.parametrize("kind", [*KINDS, "info.json.0", "profiler_info_0.json", "cpu_op_*"])
def test_m64_broken_files_are_stated_and_the_others_read(
    kind: str, content: bytes, tmp_path: Path
) -> None:
    for rank in (0, 1):
        export = drawn_export(random.Random(rank))
        export.runs = [("Default/a/op", 1000, 0.5, 1)]
        export.write(tmp_path, rank, 1, "20240102000000")
    before = ask(tmp_path, kind="detail", rank_list=["1"])["events"]
    paths = [one for one in tmp_path.rglob(kind) if "_1.txt" not in one.name]
    sorted(paths)[0].write_bytes(content)
    folder = Folder(tmp_path, "0")
    for asked in ("option", "summary", "detail"):
        answer = query(folder, kind=asked, scope_name=True)
        json.dumps(answer, allow_nan=False)
    answer = query(folder, kind="detail", rank_list=["1"])["events"]
    if kind != "info.json.0":
        assert answer == before


def test_m64_times_and_models_that_cannot_be_are_stated(tmp_path: Path) -> None:
    export = drawn_export(random.Random(0))
    export.shift = "soon"
    export.runs = [("Default/a/op", 1000, 0.5, 1)]
    export.write(tmp_path, 0, 1, "20240102000000")
    (table,) = tmp_path.glob(f"{OUTPUT}/step_trace_*.csv")
    table.write_text("Iteration ID,Model ID\n1,N/A\n2,7\n3\n")
    (steps,) = tmp_path.glob(f"{OUTPUT}/step_trace_*.json")
    steps.write_text('[3, {"ts": "x"}]')
    host = tmp_path / "cpu_op_execute_timestamp_0.txt"
    host.write_text("op;HostCpuOps;1,2 5000,0.5,3\nnothing\nop;1,2,3\n")
    folder = Folder(tmp_path, "0")
    assert query(folder, kind="option")["model_list"] == [7]
    events = query(folder, kind="detail")["events"]
    assert [one["ts"] for one in events if one["pid"] == 60 and one["ph"] == "X"] == ["5.000"]
    expected = "line {}: expected operator;type;start,length,thread, got"
    assert {one.message for one in folder.damage} == {
        "diff_time is no number: 'soon'",
        "Model ID is no number: 'N/A'",
        "2 events that are no objects, or whose name, pid, tid, ts or args cannot be",
        f"{expected.format(1)} 'op;HostCpuOps;1,2 5000,0.5,3'",
        f"{expected.format(2)} 'nothing'",
        f"{expected.format(3)} 'op;1,2,3'",
    }


@pytest.mark.parametrize("linked", ["profile", "output", "device", "file"])
def test_m64_nothing_that_a_link_leads_out_to_is_read(linked: str, tmp_path: Path) -> None:
    root = tmp_path / "served"
    root.mkdir()
    drawn_export(random.Random(0)).write(root, 5, 1, "20240102000000")
    (profile,) = root.glob("PROF_*")
    moved_away = {
        "profile": profile,
        "output": profile / "mindstudio_profiler_output",
        "device": profile / "device_5",
        "file": profile / "mindstudio_profiler_output/msprof_20240102000000.json",
    }[linked]
    outside = moved_away.rename(tmp_path / moved_away.name)
    moved_away.symlink_to(outside)
    trusted, guarded = (query(Folder(root, "0", of), kind="detail") for of in (None, root))
    shown = {str(one["pid"]) for one in guarded["events"]}
    assert {"45", "55"} <= {str(one["pid"]) for one in trusted["events"]}
    match linked:
        case "profile":
            assert shown == set()
        case "output":
            assert shown == {"65"} & shown
        case "device":
            assert {one[1:] for one in shown} == {"0"}
        case "file":
            assert "15" in shown
            assert not shown & {"45", "55"}


def test_m64_links_in_a_circle_are_no_folders(tmp_path: Path) -> None:
    os.symlink("PROF_000001_20240402135010000_A", tmp_path / "PROF_000001_20240402135010000_A")
    assert ask(tmp_path, kind="option")["rank_list"] == []


def test_m64_the_verb_shows_exported_time_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_exports(tmp_path, random.Random(2), 2)
    command = ["mindspore", "analyse", NAME, str(tmp_path)]
    assert main([*command, "--set", "kind=detail", "--set", 'rank_list=["1"]']) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer == ask(tmp_path, kind="detail", rank_list=["1"])
    assert main([*command, "--set", "kind=option"]) == 0
    assert json.loads(capsys.readouterr().out)["rank_list"] == [0, 1]
    assert main([*command, "--set", "kind=all"]) == 2
    assert "expected summary or detail or option" in capsys.readouterr().err
