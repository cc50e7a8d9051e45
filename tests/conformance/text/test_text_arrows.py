"""Arrows from forward to backward operators of real timelines, moved and lost."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from text_folders import RANK, judged, needs_data

from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

Event: TypeAlias = dict[str, Any]
FOLDERS = (RANK, RANK.parents[1] / "generations" / "text_910a_2024_level1_rank0")
ASKED = Options(selection=Selection(select=("TRC231", "LOS314")), workers=1)


@pytest.fixture(params=FOLDERS, ids=lambda path: path.name)
def timeline(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    copy = shutil.copytree(needs_data(request.param), tmp_path / "real")
    (found,) = copy.rglob("trace_view.json")
    return Path(found)


def found(timeline: Path, events: Sequence[Event]) -> list[tuple[str, int]]:
    timeline.write_text(json.dumps(events))
    (report,) = judged(timeline.parents[1], ASKED)
    return [(one.rule, one.count) for one in report.findings]


def forward_operators(events: Sequence[Event]) -> dict[int, list[Event]]:
    """By their number, in order of start."""
    by_number: dict[int, list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda one: float(one.get("ts", 0))):
        args = event.get("args", {})
        if args.get("Fwd thread id") == 0 and args["Sequence number"] >= 0:
            by_number[args["Sequence number"]].append(event)
    return by_number


def starts(events: Sequence[Event]) -> list[Event]:
    return [one for one in events if one.get("cat") == "fwdbwd" and one["ph"] == "s"]


@pytest.mark.exhaustive
def test_arrows_that_start_at_outer_operators_are_counted(timeline: Path) -> None:
    events = json.loads(timeline.read_bytes())
    assert found(timeline, events) == []
    operators = forward_operators(events)
    several = 0
    for start in starts(events):
        outer = operators[start["id"]]
        several += len(outer) > 1
        start["ts"] = outer[0]["ts"]
    assert several > 10
    assert found(timeline, events) == [("TRC231", several)]


@pytest.mark.exhaustive
def test_single_lost_arrows_are_counted(timeline: Path) -> None:
    events = json.loads(timeline.read_bytes())
    gone = {one["id"] for one in starts(events)[4:7]}
    left = [one for one in events if one.get("cat") != "fwdbwd" or one["id"] not in gone]
    assert found(timeline, left) == [("LOS314", 3)]
    for number in gone:
        for operator in forward_operators(left)[number]:
            operator["args"]["Sequence number"] = -1
    assert found(timeline, left) == []
