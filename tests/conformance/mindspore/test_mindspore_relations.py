"""Relations between entities, judged in the intermediate files of MindSpore's profiler."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from mindspore_files import counts, judged
from slices import some

from ascend_conformance.engine.relations.media import judged_in
from ascend_conformance.engine.relations.rule import load_relations
from ascend_conformance.engine.relations.selftest import try_relations
from ascend_conformance.media import media
from ascend_conformance.media.mindspore.specimens import SPECIMENS, write_specimen
from ascend_ref.mindspore.parse.parse import parse
from ascend_ref.mindspore.parse.shares import Shared

HERE = {name for name, one in load_relations().items() if "mindspore" in judged_in(one)}


@pytest.mark.parametrize("subject", some(SPECIMENS, every=2))
def test_each_relation_wakes_for_its_own_break_alone(subject: str) -> None:
    with media()["mindspore"].benches("mindspore")[subject]() as bench:
        found = try_relations(bench)
    assert found.unclean == []
    assert found.missed == []
    assert found.false_alarms == []
    broken = {one.rule for one in found.mutations}
    assert broken == ({"CSV330"} if subject == "GPU" else HERE)


def test_a_finding_names_the_column_and_the_line(tmp_path: Path) -> None:
    """Instants are units of 10 ns in the file, and ns in the relation."""
    sides = write_specimen("G1", tmp_path / "job")
    made = shutil.copytree(sides["intermediate files"], tmp_path / "made")
    (path,) = made.glob("step_trace_raw_*")
    lines = path.read_text().split("\n")
    cells = lines[2].split(",")
    cells[5] = str(int(cells[2]) + 7)
    path.write_text("\n".join([*lines[:2], ",".join(cells), *lines[3:]]), newline="\n")
    report = judged(made)
    assert counts(report)["CSV330"] == 1
    (found,) = (one for one in report.findings if one.rule == "CSV330")
    assert (found.table, found.column, found.line) == ("step_trace_raw", "bp_point", 3)
    assert found.examples[0]["bp_end"] == (int(cells[2]) + 7) * 10


def test_a_step_whose_export_has_no_backward_end_is_not_out_of_order(tmp_path: Path) -> None:
    """Parsers take ``N/A`` of step_trace for 0, which is no instant (mindspore-profiler 3.3)."""
    raw = write_specimen("G3m", tmp_path / "job")["raw files"]
    (path,) = raw.rglob("step_trace_*.csv")
    header, first, *others = path.read_text().split("\n")
    names, cells = header.split(","), first.split(",")
    for name in ("BP End(us)", "FP to BP Time(us)", "Iteration Refresh(us)"):
        cells[names.index(name)] = "N/A"
    path.write_text("\n".join([header, ",".join(cells), *others]), newline="\n")
    made = tmp_path / "made"
    parse(raw, made, SPECIMENS["G3m"][1], shared=Shared("data-parallel"))
    (steps,) = made.glob("step_trace_raw_*")
    assert steps.read_text().split("\n")[1].split(",")[5] == "0"
    assert "CSV330" not in counts(judged(made))
