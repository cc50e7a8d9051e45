"""Flows, details and counters, and the tree of lanes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from api_events import Event, event, flag, timeline
from api_files import ask, body

from ascend_ref.tools.serve import Answers

# --- flows ---------------------------------------------------------------------------------------


def pair(identity: str, ts: float = 1.0) -> list[Event]:
    """A SET on MTE2 and the WAIT for it on VECTOR with their flow, as the simulator has them."""
    point = {"cat": "MTE2ToVECTOR", "id": identity, "name": "flow", "pid": "core0"}
    return [
        flag("B", "SET_FLAG", identity, ts, "MTE2"),
        flag("E", "SET_FLAG", identity, ts + 0.001, "MTE2"),
        flag("B", "WAIT_FLAG", identity, ts - 0.5, "VECTOR"),
        flag("E", "WAIT_FLAG", identity, ts + 0.002, "VECTOR"),
        {**point, "ph": "s", "tid": "MTE2", "ts": ts + 0.001},
        {**point, "ph": "t", "tid": "VECTOR", "ts": ts + 0.002},
    ]


def flows(asked: Answers, identity: str) -> Any:
    params = {"pid": "core0", "tid": "MTE2", "id": identity, "isSimulation": True}
    return body(asked, "unit/flows", **params, startTime=0, endTime=9)["unitAllFlows"]


def test_a_flow_is_found_from_either_end() -> None:
    asked = timeline(event(0.2, 5, tid="VECTOR"), *pair("c_7"))
    end = {"duration": 0, "name": "", "id": "", "metaType": "", "rankId": ""}
    expected = [
        {
            "cat": "MTE2ToVECTOR",
            "flows": [
                {
                    "title": "flow",
                    "cat": "MTE2ToVECTOR",
                    "id": "c_7",
                    "from": {"pid": "core0", "tid": "MTE2", "timestamp": 801, "depth": 0, **end},
                    "to": {"pid": "core0", "tid": "VECTOR", "timestamp": 802, "depth": 1, **end},
                }
            ],
        }
    ]
    assert flows(asked, "2") == expected  # SET
    assert flows(asked, "3") == expected  # WAIT
    assert flows(asked, "1") == []  # a slice without a flag


def test_the_beginning_of_a_flow_may_stand_behind_its_end() -> None:
    *slices, start, end = pair("c_7")
    told = flows(timeline(*slices, end, start), "1")
    assert told[0]["flows"][0]["from"]["tid"] == "MTE2"


def test_a_flow_needs_two_points_with_their_slices() -> None:
    *slices, start, end = pair("c_7")
    assert flows(timeline(*slices, start), "1") == []
    assert flows(timeline(*slices, start, end, end), "1") == []
    assert flows(timeline(*slices[:2], start, end), "1") == []
    assert flows(timeline(*slices, start, end), "99") == []


# --- details -------------------------------------------------------------------------------------


def detail(asked: Answers, identity: str) -> Any:
    return body(asked, "unit/threadDetail", id=identity)["data"]


def test_a_slice_in_full() -> None:
    args = {"code": "/a.cpp:1\n/b.cpp:2", "detail": "größe", "n": 5, "f": 1.5, "x": [1, None]}
    told = detail(timeline(event(2, 0.5, name="MOV", args=args)), "1")
    assert told["title"] == "MOV"
    assert told["duration"] == 500
    assert (told["rawStartTime"], told["rawEndTime"]) == ("2000", "2500")
    assert json.loads(told["args"]) == {**args, "n": "5", "f": "1.5", "x": ["1", None]}
    assert '"größe"' in told["args"]
    assert {told[member] for member in ("cat", "inputShapes", "outputFormats", "attrInfo")} == {""}


def test_args_of_a_pair_are_those_of_its_begin() -> None:
    begin = {**flag("B", "SET_FLAG", 1, 1), "args": {"code": "c"}}
    assert detail(timeline(begin, flag("E", "SET_FLAG", 1, 2)), "1")["args"] == '{"code":"c"}'
    assert detail(timeline(flag("E", "SET_FLAG", 1, 2), begin), "1")["args"] == '{"code":"c"}'


def test_an_event_without_args_shows_none() -> None:
    assert detail(timeline(event(1)), "1")["args"] == ""
    assert detail(timeline(event(1, args="text")), "1")["args"] == "text"


def test_args_of_any_length_are_shown() -> None:
    args = {"code": "ä" * 100_000}
    asked = timeline(event(1, args=args), event(2))
    assert json.loads(detail(asked, "1")["args"]) == args


@pytest.mark.parametrize("identity", ["0", "3", "-1", "x", "1.0", "", "٣", "9" * 40])
def test_an_unknown_slice_shows_empty_values(identity: str) -> None:
    answer = ask(timeline(event(1), event(2)), "unit/threadDetail", id=identity)
    if identity == "٣":
        assert answer.error is not None
        assert answer.error.code == 1101  # no character of an id
    else:
        assert answer.result
    data = answer.body["data"]
    assert (data["title"], data["duration"], data["rawStartTime"]) == ("", 0, "0")


def test_an_id_that_might_be_sql_is_refused() -> None:
    for identity in ("1;", "1--", "1' or '1"):
        answer = ask(timeline(event(1)), "unit/threadDetail", id=identity)
        assert not answer.result
        assert answer.error is not None
        assert answer.error.code == 1101


def test_self_time_is_what_the_next_row_leaves() -> None:
    asked = timeline(
        event(0, 10),  # 1
        event(1, 2),  # covers 1 to 3
        event(3, 1),  # 3 to 4
        event(9, 5),  # 9 to 10 of it
        event(9.5, 1),  # a row further down
    )
    assert detail(asked, "1")["selfTime"] == 6000
    assert detail(asked, "2")["selfTime"] == 0  # nothing below
    assert detail(asked, "4")["selfTime"] == 4000


# --- counters ------------------------------------------------------------------------------------


def count(ts: object, value: object, name: str = "GM_TO_UB") -> Event:
    args = {"throughput(MB/s)": value}
    return {"ph": "C", "name": name, "pid": "MTE Throughput", "tid": 0, "ts": ts, "args": args}


def course(asked: Answers, start: int = 0, end: int = 10**6, name: str = "GM_TO_UB") -> Any:
    return body(
        asked,
        "unit/counter",
        pid="MTE Throughput",
        threadName=name,
        startTime=start,
        endTime=end,
    )["data"]


def test_a_counter_is_told_where_it_changes_and_at_its_end() -> None:
    asked = timeline(count(3, 5), count(1, 1.5), count(2, 5), count(4, 5), count(0, 9))
    points = [(point["timestamp"], point["value"]["throughput(MB/s)"]) for point in course(asked)]
    assert points == [(0, "1.5"), (1000, "5"), (3000, "5")]
    assert [point["timestamp"] for point in course(asked, 1000, 2000)] == [1000, 2000]
    assert course(asked, 3500) == []
    assert course(asked, name="other") == []


def test_a_long_counter_is_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascend_ref.tools.serve.lanes.COUNTER_POINTS", 100)
    asked = timeline(*(count(at, at) for at in range(1, 251)))
    points = [point["timestamp"] for point in course(asked)]
    assert len(points) == 101
    assert points[:4] == [0, 2000, 5000, 7000]  # every 2.5th
    assert points[-1] == 249_000


# --- units ---------------------------------------------------------------------------------------


def tracks(told: Any) -> list[tuple[str, str, list[str]]]:
    return [
        (
            track["type"],
            track["metadata"]["processName"],
            [child["metadata"]["threadName"] or child["type"] for child in track["children"]],
        )
        for track in told["children"]
    ]


def meta(kind: str, pid: str, tid: object = "NA", **args: object) -> Event:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args}


def test_lanes_stand_in_the_order_of_pipes() -> None:
    lanes = ["CACHEMISS", "VECTOR", "SCALAR", "FIXP", "USERMARK", "MTE1"]
    told = timeline(*(event(1, tid=lane) for lane in lanes)).unit("card")
    assert tracks(told) == [
        ("process", "core0", ["USERMARK", "SCALAR", "MTE1", "FIXP", "VECTOR", "CACHEMISS"])
    ]


def test_events_may_tell_the_order_and_the_names() -> None:
    told = timeline(
        meta("thread_sort_index", "core0", "MTE1", sort_index=7),
        meta("thread_sort_index", "core0", "SCALAR", sort_index=9),
        meta("thread_sort_index", "core0", "no events", sort_index=1),
        meta("process_sort_index", "core10", sort_index=1),
        meta("process_sort_index", "core0", sort_index="2"),
        event(1, tid="SCALAR"),
        event(1),
        event(1, pid="core10"),
        meta("process_name", "core10", name="ten"),
        meta("process_labels", "core10", labels="NPU"),
        meta("thread_name", "core10", "MTE1", name="one"),
        meta("other", "core0", name="x"),
    ).unit("card")
    assert tracks(told) == [
        ("process", "ten", ["one"]),
        ("process", "core0", ["MTE1", "SCALAR"]),
    ]
    process = told["children"][0]
    assert process["metadata"]["label"] == "NPU"
    lane = process["children"][0]["metadata"]
    assert (lane["cardId"], lane["processId"], lane["threadId"]) == ("card", "core10", "MTE1")
    assert lane["metaType"] == "TEXT"


def test_what_has_no_sort_index_comes_first() -> None:
    told = timeline(
        meta("process_sort_index", "a", sort_index=0), event(1, pid="a"), event(1, pid="b")
    ).unit("card")
    assert [name for _, name, _ in tracks(told)] == ["b", "a"]


def test_counters_stand_in_a_group_of_their_own() -> None:
    told = timeline(event(1), count(1, 1), count(1, 2, "cpu usage")).unit("card")
    assert tracks(told) == [
        ("process", "core0", ["MTE1"]),
        ("label", "CPU Metrics", ["label"]),
        ("label", "NPU Metrics", ["label"]),
    ]
    group = told["children"][2]
    assert group["metadata"]["metaType"] == "NPU_METRICS"
    (process,) = group["children"]
    assert process["metadata"]["processId"] == "MTE Throughput"
    (counter,) = process["children"]
    assert counter["type"] == "counter"
    assert counter["metadata"]["threadName"] == "GM_TO_UB"
    assert counter["metadata"]["dataType"] == ["throughput(MB/s)"]
