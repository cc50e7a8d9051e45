"""``who-reads`` says of timelines what Perfetto's trace processor counts itself.

The contracts were fitted to ``FITTED`` and ``TEXTS``; the others, the random timelines and the real
ones are the proof. Some 25 CPU seconds in all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from consumer_traces import rebased
from perfetto_view import View, view
from real_timelines import DATA, REAL
from slices import few
from timeline_variants import Event, drawn, instant, variants

from ascend_conformance.consumers.answer import PartAnswer, Remark
from ascend_conformance.consumers.asking import who_reads

TRIED = "perfetto@56.0"
"""The version of the trace processor at hand."""
COUNTED: Mapping[str, Sequence[str]] = {
    "slice_drop_overlapping_complete_event": ["drops-overlapping-slices"],
    "slice_negative_duration": ["drops-negative-lengths"],
    "flow_no_enclosing_slice": ["drops-arrows-outside-slices"],
    "flow_duplicate_id": ["drops-doubled-starts"],
    "flow_end_without_start": ["drops-arrows-without-start"],
    "flow_invalid_id": ["drops-ids-that-are-not-hexadecimal", "drops-ids-from-2-63"],
}
"""Its statistics, and the behaviours of the contract that they count."""


def said(path: Path) -> PartAnswer:
    """What ``who-reads`` says of a timeline and the trace processor."""
    (answer,) = who_reads([path], [TRIED])
    (part,) = answer.parts
    return part


def count(answer: PartAnswer, *behaviours: str) -> int:
    return sum(one.count for one in answer.remarks if one.behaviour in behaviours)


def differences(answer: PartAnswer, found: View | None) -> list[tuple[str, int, int]]:
    """Where the numbers of the answer are not those of the trace processor."""
    if found is None or answer.outcome == "fails":
        return [] if found is None and answer.outcome == "fails" else [("fails", 0, 0)]
    lines = [
        (name, count(answer, *behaviours), found.stats.get(name, 0))
        for name, behaviours in COUNTED.items()
    ]
    timeless = sum(found.stats.get(f"json_{one}_failure", 0) for one in ("tokenizer", "parser"))
    stops = any(one.behaviour.startswith("stops-at") for one in answer.remarks)
    lines.append(("without times", count(answer, "drops-events-without-times") + stops, timeless))
    return [line for line in lines if line[1] != line[2]]


@pytest.mark.parametrize(("name", "text"), few(list(variants()), every=10))
def test_a_variant(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text(text, encoding="utf-8")
    answer, found = said(path), view(path)
    assert differences(answer, found) == []
    if found is None:
        return
    shown = _of(answer, "drops-overlapping-slices")
    if shown and shown.total is not None and not name.startswith("a length"):
        lost = count(
            answer,
            "drops-overlapping-slices",
            "drops-negative-lengths",
            "drops-events-without-times",
            "drops-times-before-0",
        )
        assert found.parents.total() == shown.total - lost
    arrows = _of(answer, "arrows-from-the-slice-that-began-last")
    if arrows:
        assert found.arrows.total() == arrows.total


@pytest.mark.parametrize("seed", few(range(20, 30), every=10))
def test_slices_are_inside_of_what_it_puts_them_into(seed: int, tmp_path: Path) -> None:
    """Of slices with names of their own, those in others that they are not inside of."""
    events = drawn(seed)
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(events), encoding="utf-8")
    answer, found = said(path), view(path)
    assert found is not None
    assert differences(answer, found) == []
    spans = {event["name"]: _span(event) for event in events if event["ph"] == "X"}
    wrong = [
        name for name, parent in found.parents if parent and not _inside(spans[name], spans[parent])
    ]
    words = [one.words for one in answer.remarks if "inside slices" in one.words]
    expected = f"{len(wrong)} slices shown inside slices that they are not inside of"
    assert words == ([expected] if wrong else [])


@pytest.mark.parametrize("name", ["as it is", "ends behind the start", "twice"])
def test_arrows_that_lead_elsewhere_are_those_that_exact_times_lead_otherwise(
    name: str, tmp_path: Path
) -> None:
    """The trace processor itself, shown the same timeline with times that doubles hold."""
    path = tmp_path / "trace_view.json"
    path.write_text(dict(variants())[name], encoding="utf-8")
    found, exact = view(path), view(rebased(path, tmp_path / "exact.json"))
    assert found is not None
    assert exact is not None
    moved = (found.arrows - exact.arrows).total()
    remark = _of(said(path), "arrows-from-the-slice-that-began-last")
    assert (remark.count if remark else 0) == moved


@pytest.mark.parametrize("name", REAL)
def test_a_real_timeline(name: str, tmp_path: Path) -> None:
    if not (DATA / name).is_file():
        pytest.skip(f"needs the real timelines of {DATA}")
    path = tmp_path / "trace_view.json"
    path.write_bytes((DATA / name).read_bytes())
    answer, found = said(path), view(path)
    assert differences(answer, found) == []
    assert found is not None
    arrows = _of(answer, "arrows-from-the-slice-that-began-last")
    assert found.arrows.total() == (arrows.total if arrows else found.arrows.total())


def test_the_real_timeline_loses_what_is_known() -> None:
    """169 slices (consumers.md 2.5), of which 113 overlap; the others touch."""
    path = DATA / REAL[0]
    if not path.is_file():
        pytest.skip(f"needs the real timelines of {DATA}")
    answers = {answer.state.name: answer for answer in who_reads([path])}
    (perfetto,) = answers["perfetto@51.0"].parts
    (newer,) = answers["perfetto@57.0"].parts
    (chromium,) = answers["about-tracing@018c5cfa8"].parts
    assert "169 of 4,384 slices dropped" in perfetto.words
    assert "169 of 4,384 slices shown on lanes of their own" in newer.words
    assert "113 of 4,384 slices drawn over others" in chromium.words


def _of(answer: PartAnswer, behaviour: str) -> Remark | None:
    return next((one for one in answer.remarks if one.behaviour == behaviour), None)


def _span(event: Event) -> tuple[int, int]:
    begin = instant(event)
    return begin, begin + round(event["dur"] * 1000)


def _inside(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]
