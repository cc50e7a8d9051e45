"""``ascend-ref diff spec --consumers``: the readers that a change hurts, part by part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from working_copy import copy_spec

from ascend_conformance.finding import FileReport, Finding, Report
from ascend_conformance.report.collapse import collapse, unfold
from ascend_conformance.schema import changes_between
from ascend_conformance.schema.hurting import readers_hurt
from ascend_ref.cli import main
from ascend_ref.states import State, find_state
from ascend_spec import load_spec

DAY = "2026-12-01"
REVISION = (
    "revision/1.3.0-mine: "
    f"{{schema_version: 1.3.0, date: '{DAY}', grade: inferred, summary: Another one.}}\n"
)
GONE = f"until: '{DAY}'"


def hurt_by(folder: Path, text: str) -> dict[str, tuple[str, ...]]:
    """By rule and address what a draft does to readers."""
    draft = folder / "mine.yaml"
    draft.write_text(text + REVISION, encoding="utf-8")
    old, new = find_state("1.2.0-2026-07"), State(load_spec(draft), "mine")
    changes = changes_between(old, new)
    found = readers_hurt(old, new, changes)
    return {
        f"{one.rule} {one.address}": hurt for one, hurt in zip(changes, found, strict=True) if hurt
    }


def parts(line: str, way: str) -> list[str]:
    """The parts in a line that do one thing."""
    groups = line.partition(": ")[2].split("; ")
    named = [one.removesuffix(f" ({way})") for one in groups if one.endswith(f" ({way})")]
    return named[0].split(", ") if named else []


def of(lines: tuple[str, ...], reader: str) -> str:
    return next(one for one in lines if one.startswith(f"{reader} "))


def test_a_table_that_goes_hurts_those_that_read_it(tmp_path: Path) -> None:
    (lines,) = hurt_by(tmp_path, f"table/CANN_API: {{{GONE}}}\n").values()
    line = of(lines, "msprof-analyze")
    assert "cann_api_sum" in parts(line, "fails")
    assert "hccl_sum" not in line


def test_what_comes_hurts_nobody(tmp_path: Path) -> None:
    column = "{type: streamId, shows: task.stream, summary: Queue of the task.}"
    assert hurt_by(tmp_path, f"column/TASK.queueOf: {column}\n") == {}


def test_a_name_of_several_that_are_enough_hurts_those_that_want_it_alone(tmp_path: Path) -> None:
    """``blockDim`` or ``blockNum``: Insight takes either, so that it misses the one that is last.
    ``globalTaskId`` has no other name.
    """
    hurt = hurt_by(tmp_path, f"column/COMPUTE_TASK_INFO.blockNum: {{{GONE}}}\n")
    assert not any(one.startswith("insight") for lines in hurt.values() for one in lines)
    hurt = hurt_by(tmp_path, f"column/COMPUTE_TASK_INFO.globalTaskId: {{{GONE}}}\n")
    assert "compute_op_sum" in of(next(iter(hurt.values())), "msprof-analyze")


def test_a_reference_that_may_lead_nowhere_drops_rows_of_inner_joins() -> None:
    old, new = find_state("1.0.0"), find_state("1.2.0-2026-06")
    changes = changes_between(old, new)
    (lines,) = (
        hurt
        for one, hurt in zip(changes, readers_hurt(old, new, changes), strict=True)
        if one.rule == "CHG154"
    )
    assert parts(of(lines, "msprof-analyze"), "drops rows") == ["p2p_pairing"]


def test_only_what_hurts_is_listed_with_its_readers(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diff", "spec", "1.0.0", "1.2.0-2026-06", "--format", "json"]
    main(words)
    every = json.loads(capsys.readouterr().out)["files"][0]["findings"]
    main([*words, "--consumers"])
    some = json.loads(capsys.readouterr().out)["files"][0]["findings"]
    assert not any("hurts" in one for one in every)
    assert all(one["hurts"] for one in some)
    assert 0 < len(some) < len(every)
    assert not any(one["verdict"] == "note" for one in some)


def test_the_summary_names_the_readers_of_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    main(["diff", "spec", "1.0.0", "1.2.0-2026-06", "--consumers", "--select", "CHG154"])
    assert "; hurts insight, msprof-analyze" in capsys.readouterr().out


def test_places_that_are_folded_keep_their_readers() -> None:
    findings = tuple(
        Finding("CHG133", "gone", "violation", "f", "m", "e", f"t/{place:03}", hurts=(f"r{place}",))
        for place in range(100)
    )
    report = Report((FileReport("f", None, findings),), "0", "observed")
    folded = collapse(report, 10).findings
    assert len(folded) == 10
    assert {one for finding in folded for one in finding.hurts} == {f"r{n}" for n in range(100)}
    assert [one.hurts for one in unfold(folded[-1])][1:] == [()] * 90


@pytest.mark.parametrize(
    ("document", "name", "line"),
    [
        ("text/csv/kernel_details.yaml", ": Duration(us)", "kernel (goes on without it)"),
        (
            "documents/communication.schema.yaml",
            "Communication Time Info",
            "distributed (goes on without it)",
        ),
    ],
)
def test_headers_and_keys_are_asked_for_as_well(
    document: str, name: str, line: str, tmp_path: Path
) -> None:
    folder = copy_spec(tmp_path / "copy")
    path = folder / document
    text = path.read_text("utf-8")
    assert name in text
    path.write_text(text.replace(name, name.replace("ion", "er")), encoding="utf-8")
    old = find_state("adapter")
    new = State(load_spec(folder), "copy", old.axis, old.at)
    changes = changes_between(old, new)
    found = [hurt for hurt in readers_hurt(old, new, changes) if hurt]
    assert line in of(found[0], "tensorboard")
