"""Time lines of several ranks, against a plain reading of the same events."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from rank_folders import drawn_timelines, write_timelines

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.condition import WrongCondition
from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder

Events = list[dict[str, Any]]


def ask(folder: Path, **switches: Any) -> Any:
    asked = {"filter_condition": {"show": "ranks", **switches}}
    return load_analyser("timeline", Folder(folder, "0")).query(asked)


def runs(events: Events) -> Events:
    return [
        {"name": one["name"], "start": float(one["ts"]), "end": float(one["ts"]) + one["dur"]}
        for one in events
        if "-op" in one["name"] and "Atomic" not in one["name"] and "Stream" not in one["name"]
    ]


def bounds(events: Events, step: int) -> tuple[float, float] | None:
    found = [one for one in events if one["name"] == str(step)]
    return (found[0]["ts"], found[0]["ts"] + found[0]["dur"]) if found else None


def plain_stages(timelines: dict[int, Events]) -> tuple[list[list[int]], dict[int, float]]:
    """Ranks by stage, and what is added to the times of each."""
    of_first = {}
    for rank, events in timelines.items():
        start, end = bounds(events, 1) or (0, math.inf)
        of_first[rank] = [one for one in runs(events) if start < one["start"] < end]
    shifts: dict[int, float] = {}
    stages: list[list[int]] = [[]]
    for rank in timelines:
        if rank in shifts:
            continue
        shifts[rank] = 0.0
        stages[-1].append(rank)
        reductions = [one for one in of_first[rank] if "AllReduce" in one["name"]]
        if not reductions:
            continue
        first = min(reductions, key=lambda one: one["start"])
        for other in timelines:
            ends = [one["end"] for one in of_first[other] if one["name"] == first["name"]]
            if other not in shifts and ends:
                shifts[other] = first["end"] - ends[0]
                stages[-1].append(other)
        stages.append([])
    return sorted((one for one in stages if one), key=lambda one: one[0]), shifts


def plain(timelines: dict[int, Events], step: int) -> dict[str, Any]:
    stages, shifts = plain_stages(timelines)
    maps: dict[str, dict[str, dict[str, float]]] = {}
    for rank, events in timelines.items():
        place = bounds(events, step)
        if place is None:
            continue
        of_rank = maps[f"device{rank}"] = {}
        for one in runs(events):
            inside = place[0] <= one["start"] < place[1]
            if inside or one["start"] < place[0] < one["end"]:
                times = {"st": one["start"] + shifts[rank], "ed": one["end"] + shifts[rank]}
                of_rank[one["name"]] = {**times, "dur": one["end"] - one["start"]}
    every = [one for of_rank in maps.values() for one in of_rank.values()]
    stage_data = {}
    for place, ranks in enumerate(stages):
        data = {}
        held = [maps[f"device{rank}"] for rank in ranks if f"device{rank}" in maps]
        for name in sorted({name for of_rank in held for name in of_rank}):
            same = [of_rank[name] for of_rank in held if name in of_rank]
            data[name] = {"n": len(same)}
            for end in ("st", "ed"):
                times = [one[end] for one in same]
                data[name] |= {f"{end}_max": max(times), f"{end}_min": min(times)}
                data[name][f"{end}_avg"] = math.fsum(times) / len(times)
        stage_data[f"stage{place}"] = {"data": data, "devices": [f"device{one}" for one in ranks]}
    return {
        "maps": maps,
        "minT": min((one["st"] for one in every), default=None),
        "maxT": max((one["ed"] for one in every), default=None),
        "stage_data": stage_data,
    }


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, float):
        return math.isclose(one, other, abs_tol=1e-6)
    return bool(one == other)


@pytest.mark.parametrize("seed", range(40))
def test_m65_time_lines_of_ranks_are_aligned(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    timelines = drawn_timelines(draw, draw.randint(1, 5))
    write_timelines(tmp_path, timelines)
    for step in (1, 2, 3):
        expected = plain(timelines, step)
        if expected["maps"]:
            assert same(expected, ask(tmp_path, step=step))
    some = draw.sample(sorted(timelines), draw.randint(1, len(timelines)))
    expected = plain({rank: timelines[rank] for rank in some}, 1)
    if expected["maps"]:
        assert same(expected, ask(tmp_path, device_list=[str(rank) for rank in some]))


EVEN = [
    {"name": "Default/AllReduce-op1", "tid": 1, "ts": 110, "dur": 20},
    {"name": "Default/Cast-op2", "tid": 1, "ts": "90.5", "dur": 10},
    {"name": "Default/Late-op3", "tid": 1, "ts": 200, "dur": 1},
    {"name": "1", "tid": 100_000, "ts": 100, "dur": 50},
]


def test_m65_ranks_end_what_they_run_together_at_one_time(tmp_path: Path) -> None:
    """An operator that runs when the step begins counts, one after it does not."""
    late = [{**one, "ts": float(one["ts"]) + 7} for one in EVEN]
    write_timelines(tmp_path, {0: EVEN, 1: late})
    answer = ask(tmp_path)
    of_rank = {
        "Default/AllReduce-op1": {"st": 110.0, "ed": 130.0, "dur": 20.0},
        "Default/Cast-op2": {"st": 90.5, "ed": 100.5, "dur": 10.0},
    }
    assert answer["maps"] == {"device0": of_rank, "device1": of_rank}
    assert (answer["minT"], answer["maxT"]) == (90.5, 130.0)
    (stage,) = answer["stage_data"].values()
    assert stage["devices"] == ["device0", "device1"]
    assert stage["data"]["Default/Cast-op2"] == {
        **dict.fromkeys(("st_max", "st_min", "st_avg"), 90.5),
        **dict.fromkeys(("ed_max", "ed_min", "ed_avg"), 100.5),
        "n": 2,
    }


def test_m65_the_first_eight_ranks_are_shown_where_none_is_named(tmp_path: Path) -> None:
    write_timelines(tmp_path, dict.fromkeys(range(11), EVEN))
    assert list(ask(tmp_path)["maps"]) == [f"device{rank}" for rank in range(8)]
    assert list(ask(tmp_path, device_list=["10", "2", "10"])["maps"]) == ["device10", "device2"]
    nothing = {"maps": {}, "minT": None, "maxT": None, "stage_data": {}}
    assert ask(tmp_path, device_list=["99"]) == nothing


def test_m65_stages_are_in_the_order_of_their_ranks(tmp_path: Path) -> None:
    """A step is the first event with its number; ranks that share nothing are two stages."""
    other = [{**one, "name": one["name"].replace("op1", "op9")} for one in EVEN]
    again = {"name": "1", "tid": 100_000, "ts": 190, "dur": 50}
    write_timelines(tmp_path, {2: [*EVEN, again], 10: other})
    answer = ask(tmp_path, device_list=["10", "2"])
    assert [one["devices"] for one in answer["stage_data"].values()] == [["device2"], ["device10"]]
    assert "Default/Late-op3" not in answer["maps"]["device2"]


def test_m65_an_operator_that_begins_with_the_step_is_in_it_and_one_at_its_end_is_not(
    tmp_path: Path,
) -> None:
    at = [{"name": f"Cast-op{time}", "tid": 1, "ts": time, "dur": 0} for time in (99, 100, 150)]
    write_timelines(tmp_path, {0: [*at, EVEN[-1]]})
    assert list(ask(tmp_path)["maps"]["device0"]) == ["Cast-op100"]


def test_m65_ranks_are_aligned_by_what_begins_behind_the_start_of_the_step(tmp_path: Path) -> None:
    with_it = [{**EVEN[0], "ts": EVEN[-1]["ts"]}, EVEN[-1]]
    write_timelines(tmp_path, {0: with_it, 1: EVEN})
    stages = ask(tmp_path)["stage_data"].values()
    assert [one["devices"] for one in stages] == [["device0", "device1"]]
    assert ask(tmp_path)["maps"]["device1"]["Default/AllReduce-op1"]["st"] == EVEN[0]["ts"]


def test_m65_a_rank_that_is_named_twice_is_aligned_as_one(tmp_path: Path) -> None:
    late = [{**one, "ts": float(one["ts"]) + 7} for one in EVEN]
    write_timelines(tmp_path, {0: EVEN, 1: late})
    once, twice = (ask(tmp_path, device_list=["0", *names]) for names in ("1", "11"))
    assert twice == once


def test_m58_a_rank_without_the_step_or_the_file_is_left_out(tmp_path: Path) -> None:
    write_timelines(tmp_path, {0: EVEN, 1: EVEN[:-1], 2: EVEN, 3: EVEN})
    (tmp_path / "ascend_timeline_display_2.json").write_text('{"a": 1}')
    (tmp_path / "ascend_timeline_display_3.json").write_text("[")
    folder = Folder(tmp_path, "0")
    asked = {"filter_condition": {"show": "ranks", "device_list": ["0", "1", "2", "3", "7"]}}
    answer = load_analyser("timeline", folder).query(asked)
    assert list(answer["maps"]) == ["device0"]
    stated = " ".join(map(str, folder.damage))
    for text in (
        "no ascend_timeline_display_7.json",
        "ascend_timeline_display_1.json: no step 1",
        "ascend_timeline_display_2.json: is no list of JSON",
        "ascend_timeline_display_3.json: no JSON",
    ):
        assert text in stated
    with pytest.raises(WrongCondition, match="no rank has step 9"):
        ask(tmp_path, step=9)


@pytest.mark.parametrize("events", [[], [3, None, "x", {}], [{"name": 3, "ts": 1}], EVEN[-1:]])
def test_m58_a_step_without_operators_has_no_time(events: Any, tmp_path: Path) -> None:
    write_timelines(tmp_path, {0: [*events, EVEN[-1]]})
    answer = ask(tmp_path)
    assert (answer["maps"], answer["minT"], answer["maxT"]) == ({"device0": {}}, None, None)


def test_m58_events_without_numbers_are_damage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = [{**EVEN[0], "ts": one} for one in ("x", None, [], True, 10**400, "nan")]
    write_timelines(tmp_path, {0: [*bad, *EVEN]})
    words = ["timeline", str(tmp_path), "--set", "show=ranks", "--set", 'device_list=["0"]']
    assert main(["mindspore", "analyse", *words]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out) == ask(tmp_path)
    assert "6 events whose ts or dur is no number" in printed.err
