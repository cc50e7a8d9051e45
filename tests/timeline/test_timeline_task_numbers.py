"""Numbers of tasks that begin anew: what was task 112 before is another task after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from slices import some

from ascend_conformance.check import check
from ascend_ref.recorded import from_captures
from ascend_ref.timeline import write_timeline
from ascend_simulator.cli.presets import named
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override
from ascend_simulator.world import streams


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", some([65_420, 65_300, 65_530], every=3))
def test_no_task_is_lost_where_numbers_begin_anew(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for number in (streams.FIRST_TASK, first):
        monkeypatch.setattr(streams, "FIRST_TASK", number)
        run = simulate(override(named("dense-8"), ranks=None, steps=1, level=None))
        target = tmp_path / str(number) / "ASCEND_PROFILER_OUTPUT"
        target.mkdir(parents=True)
        (path,) = write_timeline(from_captures([run.capture(0)], "pytorch"), target)
        found.append([event for event in json.loads(path.read_bytes()) if event["ph"] == "X"])
    before, after = found
    assert [(one["name"], one["ts"], one["dur"]) for one in before] == [
        (one["name"], one["ts"], one["dur"]) for one in after
    ]
    batches = {one["args"]["Batch Id"] for one in after if "Batch Id" in one["args"]}
    assert batches == {0, 1}
    report = check([path])
    assert [one for one in report.findings if one.verdict == "violation"] == []
