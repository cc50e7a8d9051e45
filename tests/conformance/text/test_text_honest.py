"""Recomputation is honest: a true or ordinarily rounded figure is no violation, a wrong one is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from text_folders import Table, changed, copied, judged

from ascend_conformance.media.text.agreeing import faults
from ascend_conformance.media.text.disagreement import broken, mutations
from ascend_conformance.media.text.rules import load_text_rules
from ascend_conformance.media.text.selecting import reading_of
from ascend_conformance.media.text.selftest import open_specimen
from ascend_conformance.media.text.sources import Sources
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection


def verdicts(path: Path, *rules: str) -> dict[str, str]:
    """Verdicts of the findings of some rules."""
    options = Options(selection=Selection(select=rules), workers=1)
    return {one.rule: one.verdict for file in judged(path, options) for one in file.findings}


def column(
    name: str, change: Callable[[list[str], dict[str, int]], str]
) -> Callable[[Table], None]:
    """A change of a column: of each row, whose cells are known by header."""

    def apply(table: Table) -> None:
        places = {header: place for place, header in enumerate(table[0])}
        for row in table[1:]:
            row[places[name]] = change(row, places)

    return apply


@pytest.mark.parametrize(
    ("file", "mean", "total"),
    [
        ("op_statistic.csv", "Avg Time(us)", "Total Time(us)"),
        ("api_statistic.csv", "Avg(us)", "Time(us)"),
    ],
)
def test_means_may_be_cut_but_not_be_of_other_runs(
    file: str, mean: str, total: str, tmp_path: Path
) -> None:
    def cut(row: list[str], places: dict[str, int]) -> str:
        ns = round(float(row[places[total]]) * 1000) // int(row[places["Count"]])
        return f"{ns / 1000:.3f}"

    def of_one_run_more(row: list[str], places: dict[str, int]) -> str:
        return f"{float(row[places[total]]) / (int(row[places['Count']]) + 1):.3f}"

    sound = changed(tmp_path / "cut", file, column(mean, cut))
    assert verdicts(sound, "CSV280", "CSV281") == {}
    wrong = changed(tmp_path / "wrong", file, column(mean, of_one_run_more))
    assert verdicts(wrong, "CSV281") == {"CSV281": "violation"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("step", "found"), [(0.25, {}), (5.0, {"XLR304": "violation"})])
def test_a_stage_need_not_be_the_sum_of_doubles(
    step: float, found: dict[str, str], tmp_path: Path
) -> None:
    folder = copied(tmp_path, "step_trace_time.csv", "trace_view.json", "kernel_details.csv")
    assert verdicts(folder, "XLR304") == {}
    path = folder / "step_trace_time.csv"
    stated = path.read_text(encoding="utf-8")
    path.write_text(stated.replace("136581.0", str(136581.0 + step)), encoding="utf-8")
    assert verdicts(folder, "XLR304") == found


@pytest.mark.parametrize(
    ("category", "verdict"), [("async_npu", "advice"), ("async_task_queue", "violation")]
)
def test_only_arrows_within_one_clock_must_not_point_back(
    category: str, verdict: str, tmp_path: Path
) -> None:
    folder = copied(tmp_path, "trace_view.json")
    path = folder / "trace_view.json"
    events = json.loads(path.read_text(encoding="utf-8"))
    start, end = (
        next(one for one in events if (one.get("cat"), one["ph"]) == (category, ph)) for ph in "sf"
    )
    end = next(
        one
        for one in events
        if (one.get("cat"), one["ph"], one.get("id")) == (category, "f", start["id"])
    )
    start["ts"] = f"{float(end['ts']) + 3:.3f}"
    path.write_text(json.dumps(events), encoding="utf-8")
    rule = {"advice": "TRC223", "violation": "TRC222"}[verdict]
    assert verdicts(folder, "TRC222", "TRC223").get(rule) == verdict
    assert ("TRC222" in verdicts(folder, "TRC222")) == (verdict == "violation")


def remark_of_changed(rule: str, subject: str, column: str) -> tuple[str, object]:
    """What a finding says of a changed value of the left side, and the value."""
    found = load_text_rules()[rule].search.agreement
    assert found is not None
    agreement = found.instances[0]
    with open_specimen(subject) as folder:
        sources = Sources(folder.facts)
        changes = mutations(sources, agreement)
        (number,) = (one for one in changes if (one.which, one.columns) == ("left", (column,)))
        with broken(sources, [number]):
            (fault, *_) = faults(folder, reading_of(sources, agreement), Options())
    assert fault.remark is not None
    return fault.remark, number.statements[0].value


@pytest.mark.exhaustive
def test_a_finding_quotes_the_file_and_not_what_it_is_compared_as() -> None:
    remark, stated = remark_of_changed("XLR503", "adapter", "number")
    assert isinstance(stated, int)
    assert f"{stated} (compared as {stated - 1342177280})" in remark


def test_times_that_no_clock_explains_are_advice_and_one_wrong_time_a_violation(
    tmp_path: Path,
) -> None:
    def other(row: list[str], places: dict[str, int]) -> str:
        shown = row[places["aicore_time(us)"]]
        time = 0.0 if shown == "N/A" else float(shown)
        return f"{time * (1 + len(row[places['Name']]) % 7 + time % 1):.3f}" if time else shown

    def doubled(row: list[str], places: dict[str, int]) -> str:
        time = row[places["aicore_time(us)"]]
        return f"{float(time) * 2:.3f}" if row[places["aic_total_cycles"]] == "8990318" else time

    name = "kernel_details.csv"
    strange = changed(tmp_path / "strange", name, column("aicore_time(us)", other))
    assert verdicts(strange, "XLR115", "XLR119") == {"XLR119": "advice"}
    wrong = changed(tmp_path / "wrong", name, column("aicore_time(us)", doubled))
    assert verdicts(wrong, "XLR115", "XLR119") == {"XLR115": "violation"}


@pytest.mark.exhaustive
def test_a_number_worked_out_of_many_rows_is_no_cell_of_one() -> None:
    remark, _ = remark_of_changed("XLR202", "python", "runs")
    assert remark.startswith("Count ")
    assert "compared as" not in remark
