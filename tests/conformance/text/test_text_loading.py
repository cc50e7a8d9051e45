"""Timelines as facts: every event of the file, and no text that is no JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from text_folders import DATA, RANK, needs_data

from ascend_conformance.media.text import layers, loadtrace
from ascend_conformance.media.text.database import open_facts
from ascend_conformance.media.text.deliverables import deliverable_of_content
from ascend_conformance.media.text.loadtrace import describe, load_timeline

TRACES = (
    RANK / "ASCEND_PROFILER_OUTPUT" / "trace_view.json",
    DATA / "mindspore_legacy" / "msprof_0_2_1.json",
)
EVENT = {"name": "x", "ph": "X", "pid": 1, "tid": 1, "ts": "1.500", "dur": 1}


def loaded(path: Path) -> list[tuple[object, ...]]:
    file = deliverable_of_content(path)
    assert file is not None
    with open_facts() as facts:
        elements = load_timeline(facts, 3, file)
        assert elements.damage is None
        rows = facts.rows("SELECT * FROM trace.event ORDER BY file, row")
        assert elements.count == len(rows)
        return rows


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_every_event_of_real_traces_is_loaded(path: Path) -> None:
    needs_data()
    rows = loaded(path)
    events = json.loads(path.read_text())
    assert [(row[0], row[1], row[3]) for row in rows] == [
        (3, place, event["name"]) for place, event in enumerate(events)
    ]


@pytest.mark.parametrize("folder", ["a[b]", "a*b", "it's", "{x}", "white space"])
def test_names_of_folders_do_not_matter(folder: str, tmp_path: Path) -> None:
    place = tmp_path / folder
    place.mkdir()
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "trace_view.json").write_text("[]")
    path = place / "trace_view.json"
    path.write_text(json.dumps([EVENT] * 3))
    assert len(loaded(path)) == 3


@pytest.mark.parametrize("tail", ["NaN}]", "1},]", '"\\ud800"}]', "1}", "01}]", "1}]]", "'1'}]"])
def test_what_duckdb_would_take_is_not_loaded(tail: str, tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text("[" + json.dumps(EVENT) + ', {"name": "y", "ph": "X", "dur": ' + tail)
    file = deliverable_of_content(path)
    assert file is not None
    with open_facts() as facts:
        elements = load_timeline(facts, 0, file)
        assert elements.damage is not None
        assert facts.rows("SELECT row, name FROM trace.event ORDER BY row")[:1] == [(0, "x")]


def test_relations_of_layers_are_the_same_as_tables_and_as_views() -> None:
    needs_data()
    found = []
    kinds: tuple[loadtrace.Kept, ...] = ("not", "lean", "whole")
    for kept in kinds:
        file = deliverable_of_content(TRACES[0])
        assert file is not None
        with open_facts() as facts:
            load_timeline(facts, 0, file)
            (reading,) = describe(facts, {0: file}, kept=kept).values()
            assert reading.writer == "adapter-2025-01"
            found.append(
                [
                    facts.rows(f"SELECT * FROM trace.{layers.layer_table(slug)} ORDER BY row")
                    for slug in ("cann", "ascend-hardware", "communication", "hbm", "python")
                ]
            )
    assert found[0] == found[1] == found[2]
    assert [len(rows) for rows in found[0]] == [707, 535, 300, 104, 2460]
