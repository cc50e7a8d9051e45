"""Timelines that a tool has written anew, and lengths that no arithmetic was made for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from text_folders import DATA, judged, needs_data

from ascend_conformance.finding import FileReport
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset


@pytest.fixture(scope="module")
def timeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A timeline of the newest writer, without spaces behind colons, with communication."""
    out = tmp_path_factory.mktemp("timeline") / "run"
    scenario = override(preset("dense-8"), steps=1, ranks=2)
    write_run(scenario, 0, out, formats=("timeline",))
    return sorted(out.rglob("msprof_*.json"))[0]


def rewritten(path: Path, folder: Path, events: object, **form: Any) -> FileReport:
    """The report on these events under the name of the file."""
    copy = folder / path.name
    copy.write_text(json.dumps(events, ensure_ascii=False, **form))
    (report,) = judged(copy)
    return report


def facts(report: FileReport) -> tuple[object, Sequence[tuple[object, ...]]]:
    """Who wrote a file, and what is found where, but for lines and bytes."""
    found = [(one.rule, one.place, one.count) for one in report.findings]
    return report.seen and report.seen.revision, sorted(found, key=repr)


FORMS = [{}, {"indent": 1}, {"separators": (",", ":")}]


@pytest.mark.parametrize("form", FORMS, ids=["spaces", "lines", "compact"])
def test_a_timeline_written_anew_is_the_same_timeline(
    timeline: Path, tmp_path: Path, form: dict[str, Any]
) -> None:
    """The form alone once chose an older writer: 266 tasks outside of their operators."""
    (report,) = judged(timeline)
    assert not report.findings
    anew = rewritten(timeline, tmp_path, json.loads(timeline.read_bytes()), **form)
    assert facts(anew) == facts(report)


def test_so_are_real_ones(tmp_path: Path) -> None:
    needs_data()
    paths = [*DATA.rglob("trace_view.json"), *DATA.parent.rglob("msprof_*.json")]
    assert paths
    for path in paths:
        (report,) = judged(path)
        anew = rewritten(path, tmp_path, json.loads(path.read_bytes()))
        assert facts(anew) == facts(report), path


def test_a_length_that_no_integer_holds_leaves_other_relations_judged(
    timeline: Path, tmp_path: Path
) -> None:
    """Fourteen relations on one scan were skipped for the one that reads the end."""
    events = json.loads(timeline.read_bytes())
    next(one for one in events if "src rank" in one.get("args", {}))["dur"] = 1e300
    report = rewritten(timeline, tmp_path, events)
    skipped = {one.rule for one in report.skipped if one.reason.startswith("cannot be computed")}
    assert skipped == {"REL502", "REL509"}
    assert {"TRC302", "XLR111"} == {one.rule for one in report.findings}
