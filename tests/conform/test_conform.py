"""Exporters tried on simulated recordings: what is found, shrunk, saved and replayed."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as Xml
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from run_zoo import SMALL, STAGES_TRIED, ZOOS, drawn, run
from slices import marked, some
from upstream_zoo import BUGS as UPSTREAM
from zoo import BUGS

from ascend_conformance.harness.case import Case, read_case
from ascend_conformance.harness.conform import Outcome, conform, read_saved, replay, report_of
from ascend_conformance.harness.drawing import draw_cases
from ascend_conformance.harness.expected import Expected
from ascend_conformance.harness.exporters import Function
from ascend_conformance.harness.limits import Limits
from ascend_conformance.harness.named import exporter_of
from ascend_conformance.harness.stages import STAGES
from ascend_conformance.harness.trial import Asked
from ascend_conformance.media import load_rules
from ascend_conformance.report import FORMATS
from ascend_ref.cli import main
from ascend_simulator.scenario import preset

JUDGED = STAGES["database-to-text"]
STAGE = replace(JUDGED, judged=False)
"""Without check, which takes a second or two for each failure that is saved."""
ONE_STEP = replace(preset("single-op").schedule, warmup=0, active=1)
TINY = Case(replace(preset("single-op"), schedule=ONE_STEP))
TWO = Case(replace(preset("single-op"), schedule=replace(ONE_STEP, active=2)))
REFERENCE = Function("reference", STAGE.reference)
FEW = ("file-absent", "wait-since-previous-start", "timeline-cut", "last-row-dropped")


def test_the_reference_writes_the_truth() -> None:
    outcome = conform(REFERENCE, STAGE, [TINY, replace(TINY, output="msprof")])
    assert not outcome.fails
    assert outcome.features.keys() >= {"kernel_details", "trace_view", "op_summary", "timeline"}


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("count", "seed"),
    [(8, 0), *(marked((25, seed), pytest.mark.campaign) for seed in (0, 1))],
)
def test_the_reference_writes_the_truth_of_drawn_cases(count: int, seed: int) -> None:
    outcome = conform(REFERENCE, STAGE, draw_cases(STAGE, count, seed))
    assert [one.failure.signature for one in outcome.shown] == []


@pytest.mark.parametrize(
    "count", [0, 1, 3, marked(8, pytest.mark.exhaustive), marked(16, pytest.mark.campaign)]
)
def test_as_many_cases_are_drawn_as_asked_for(count: int) -> None:
    stage = STAGES["raw-to-text"]  # for which half of what is drawn is no case
    first, second = (draw_cases(stage, count, 2) for _ in range(2))
    assert len({one.to_yaml() for one in first}) == count
    assert first == second
    assert all(one.is_possible and stage.can_be_drawn(one) for one in first)


def test_other_seeds_draw_other_cases() -> None:
    assert draw_cases(STAGE, 3, 5) != draw_cases(STAGE, 3, 6)


@pytest.mark.parametrize("name", some(FEW, every=6))
def test_defect_is_caught_and_shrunk(name: str) -> None:
    caught = run(BUGS[name], [TINY, TWO], STAGE)
    assert caught.passes, caught
    assert caught.operators is not None
    assert caught.operators <= SMALL


@pytest.mark.campaign
@pytest.mark.parametrize(("stage", "name"), [(one, name) for one in ZOOS for name in ZOOS[one]])
def test_every_defect_is_caught_and_shrunk(stage: str, name: str) -> None:
    caught = run(ZOOS[stage][name], drawn(stage), STAGES_TRIED[stage])
    assert caught.passes, caught


def test_zoo_is_large_enough() -> None:
    every = [one for bugs in ZOOS.values() for one in bugs.values()]
    assert len(every) >= 40
    assert all(one.imitates for one in every)
    assert len(UPSTREAM) >= 10
    assert all(one.source for one in UPSTREAM.values())


def test_failure_is_saved_and_replayed(tmp_path: Path) -> None:
    exporter = BUGS["lengths-in-ns"].exporter()
    outcome = conform(exporter, STAGE, [TINY], out=tmp_path)
    shown = next(one for one in outcome.shown if one.failure.fails)
    assert shown.folder is not None
    assert {one.name for one in shown.folder.iterdir()} == {
        *("input", "expected", "actual", "case.yaml", "findings.json", "replay.json")
    }
    assert "lengths-in-ns" in json.loads((shown.folder / "replay.json").read_text())["exporter"]
    found = json.loads((shown.folder / "findings.json").read_text())["files"][0]["findings"]
    assert shown.failure.finding.rule in {one["rule"] for one in found}
    saved = read_saved(shown.folder)
    assert saved.case == read_case(shown.folder / "case.yaml")
    again = replay(saved, exporter, STAGE, Asked())
    assert shown.failure.signature in {one.failure.signature for one in again.shown}
    assert not replay(saved, REFERENCE, STAGE, Asked()).fails


@pytest.mark.exhaustive
def test_what_differs_is_judged_by_check_too() -> None:
    outcome = conform(BUGS["lengths-in-ns"].exporter(), JUDGED, [TINY])
    assert {one.failure.finding.rule for one in outcome.shown} >= {"CFM206", "XLR104"}


@pytest.mark.exhaustive
def test_known_failures_do_not_fail() -> None:
    exporter = BUGS["dangling-names"].exporter()
    known = [Expected("CFM206", "known"), Expected("CFM207", "known"), Expected("CFM208", "known")]
    outcome = conform(exporter, STAGE, [TINY], expected=known)
    assert not outcome.fails
    assert {reason for _, reason in outcome.expected} == {"known"}


def test_unexpected_pass_fails() -> None:
    known = [
        Expected("CFM206", "known", feature="kernel_details"),
        Expected("CFM206", "of another exporter", exporter="other"),
        Expected("CFM206", "of a file that no case has", feature="hbm"),
    ]
    outcome = conform(REFERENCE, STAGE, [TINY], expected=known)
    assert outcome.fails
    assert [one.rule for one in outcome.absent] == ["CFM301"]


@pytest.mark.exhaustive
def test_exporters_are_compared_with_each_other() -> None:
    exporter = BUGS["file-absent"].exporter()
    asked = Asked(against=exporter)
    assert not conform(exporter, STAGE, [TINY], asked).fails
    outcome = conform(REFERENCE, STAGE, [TINY], asked, most=0)
    assert any("file-absent has none" in one.failure.finding.message for one in outcome.shown)


@pytest.fixture(scope="module")
def outcomes() -> Sequence[Outcome]:
    wrong = Function("wrong", lambda source, target: None)
    return [conform(REFERENCE, STAGE, [TINY]), conform(wrong, STAGE, [TINY])]


@pytest.mark.parametrize("form", FORMATS)
def test_every_report_form_names_exporter_and_rule(form: str, outcomes: Sequence[Outcome]) -> None:
    text = FORMATS[form](report_of(outcomes), load_rules())
    assert "CFM106" in text or form == "quiet"
    if form == "junit":
        names = [one.get("name") for one in Xml.fromstring(text)]  # noqa: S314
        assert names == sorted(names)
        assert "wrong: run" in names


@pytest.mark.exhaustive
def test_a_failure_that_does_not_come_again_is_stated_with_its_case() -> None:
    exports: list[Path] = []

    def wrong_once(source: Path, target: Path) -> None:
        STAGE.reference(source, target)
        exports.append(target)
        if len(exports) == 1:
            for path in target.rglob("kernel_details*.csv"):
                path.unlink()

    outcome = conform(Function("wrong once", wrong_once), STAGE, [TINY])
    (shown,) = (one for one in outcome.shown if one.failure.fails)
    assert (shown.failure.feature, shown.tried.case) == ("kernel_details", TINY)


# --- commands ---

WAYS: Mapping[str, tuple[str, str]] = {
    "crash": ("import os; os.kill(os.getpid(), 11)", "CFM101"),
    "hang": ("import time; time.sleep(60)", "CFM102"),
    "exit": ("raise SystemExit(3)", "CFM103"),
    "nothing": ("", "CFM106"),
    "memory": ("x = bytearray(1 << 34)", "CFM103"),
}


@pytest.mark.parametrize("way", WAYS)
def test_how_a_command_ends_is_a_result(way: str, tmp_path: Path) -> None:
    code, rule = WAYS[way]
    script = tmp_path / "exporter.py"
    script.write_text(code)
    command = f"{sys.executable} -I -S {script} {{in}} {{out}}"
    exporter = exporter_of(command, STAGE.name, Limits(1.0, 1000), STAGE.reference)
    outcome = conform(exporter, STAGE, [TINY], most=0)
    assert [one.failure.finding.rule for one in outcome.shown] == [rule]


def test_no_process_of_an_exporter_is_left(tmp_path: Path) -> None:
    script, mark = tmp_path / "exporter.py", tmp_path / "pid"
    script.write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
    )
    command = f"{sys.executable} {script} {{in}} {{out}}"
    exporter = exporter_of(command, STAGE.name, Limits(), STAGE.reference)
    conform(exporter, STAGE, [TINY], most=0)
    state = Path(f"/proc/{mark.read_text()}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


ERRORS: Mapping[str, tuple[Sequence[str], str]] = {
    "no exporter": (["--exporter", "msprov"], "no such exporter or program"),
    "no out": (["--exporter", "true {in}"], "the command has no {out}"),
    "no in": (["--exporter", "true {out}"], "the command has no {in}"),
    "no list": (["--exporter", "reference", "--expected", "absent.yaml"], "absent.yaml: No such"),
    "no reason": (["--exporter", "reference", "--expected", "{list}"], "has no reason"),
    "no stage": (["--exporter", "reference", "--stage", "database-to-txt"], "did you mean"),
    "nothing": ([], "expected --exporter"),
    "saved twice": (["--replay", "absent", "-o", "saved"], "saves nothing"),
    "no saved": (["--replay", "absent"], "expected a saved failure"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_one_line(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = tmp_path / "known.yaml"
    listed.write_text("expected: [{rule: CFM206, reason: ' '}]")
    words, said = ERRORS[case]
    code = main(["conform", *(one.replace("{list}", str(listed)) for one in words)])
    error = capsys.readouterr().err
    assert code == 2
    assert said in error
    assert len(error.splitlines()) == 1


def test_the_verb_prints_a_matrix_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "saved"
    words = ["--exporter", "reference", "--exporter", "true {in} {out}", "--scenarios", "1"]
    assert main(["conform", *words, "-o", str(out)]) == 1
    first, run_row, *_ = capsys.readouterr().out.splitlines()
    assert first.split() == ["reference", "true"]
    assert run_row.split("  ")[0] == "run"
    assert "1 failure" in run_row
    (saved,) = (out / "true").iterdir()
    assert main(["conform", "--replay", str(saved), "-q"]) == 1
    assert main(["conform", "--replay", str(saved), "--exporter", "reference", "-q"]) == 0
