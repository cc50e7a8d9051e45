"""``check --as``: a file judged by another state than its own, with the changes that explain it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from profiles import REAL
from slices import marked

from ascend_conformance.check import check
from ascend_conformance.finding import Finding
from ascend_conformance.media.db.selftest import file_name, make_specimen
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_conformance.schema import change_rules
from ascend_ref.cli import main
from ascend_ref.migrate.database import migrate_database
from ascend_ref.states import AxisName, Target
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import catalog

BIN = REAL.parent / "bin"
OF_THE_SCHEMA = ("DB101", "DB103", "DB104", "DB106", "DB122", "DB125")
"""Tables, columns and members that a file has or lacks."""


def specimen(folder: Path, revision: str) -> Path:
    path = folder / file_name("msprof")
    path.write_bytes(make_specimen("msprof", revision).content)
    return path


def judged(path: Path, revision: str | None = None) -> tuple[Finding, ...]:
    target = Target("revision", revision) if revision else None
    return check([path], Options(target=target, workers=1)).findings


def changes(path: Path, revision: str) -> Mapping[tuple[str, str], tuple[str, ...]]:
    return {(one.rule, one.place): one.changes for one in judged(path, revision)}


def test_findings_name_the_change_and_its_day(tmp_path: Path) -> None:
    """Known answers of db-schema.md 5.3."""
    found = changes(specimen(tmp_path, "1.2.0-2025-12"), "1.2.0-2026-07")
    renamed = "COMPUTE_TASK_INFO.blockNum: column renamed, blockDim to blockNum, on 2026-01-28"
    assert found["DB104", "COMPUTE_TASK_INFO.blockNum"] == (f"{renamed} (CHG134)",)
    (rank,) = found["DB104", "COMMUNICATION_OP.rankSize"]
    assert rank.startswith("COMMUNICATION_OP.rankSize: column added")
    assert "on 2026-05-19" in rank
    (table,) = found["DB101", "ENUM_OVERLAP_ANALYSIS_TYPE"]
    assert "on 2026-06-17" in table
    assert (
        "ENUM_HCCL_LINK_TYPE 7: id reused, UB, on 2026-05-13 (CHG186)"
        in (found["DB122", "ENUM_HCCL_LINK_TYPE.id"])
    )


def test_an_older_state_is_explained_by_the_same_changes(tmp_path: Path) -> None:
    found = changes(specimen(tmp_path, "1.2.0-2026-02"), "1.2.0-2025-12")
    (renamed,) = found["DB104", "COMPUTE_TASK_INFO.blockDim"]
    assert "blockDim to blockNum, on 2026-01-28" in renamed


PAIRS = (("1.0.0-2025-01", "1.2.0-2026-07"), ("1.2.0-2026-07", "1.0.0-2025-01"))
MORE = [
    (old.id, new.id)
    for old in catalog().revisions
    for new in catalog().revisions
    if old is not new and (old.id, new.id) not in PAIRS and old.grade == new.grade == "observed"
]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        PAIRS[0],
        *(
            marked(one, pytest.mark.exhaustive if at % 10 == 0 else pytest.mark.campaign)
            for at, one in enumerate([PAIRS[1], *MORE])
        ),
    ],
)
def test_whatever_the_schema_lacks_or_has_is_explained(old: str, new: str, tmp_path: Path) -> None:
    path = specimen(tmp_path, old)
    found = [one for one in judged(path, new) if one.rule in OF_THE_SCHEMA]
    assert found
    for one in found:
        assert one.changes, one
        for text in one.changes:
            assert text.startswith("and ") or text.rpartition("(")[2].strip(")") in change_rules()


def test_a_file_judged_by_its_own_revision_is_judged_as_ever(tmp_path: Path) -> None:
    path = specimen(tmp_path, "1.0.0-2025-01")
    assert judged(path, "1.0.0-2025-01") == judged(path)


def test_a_migrated_file_is_one_of_the_target(tmp_path: Path) -> None:
    path = specimen(tmp_path, "1.2.0-2025-12")
    made = tmp_path / "made" / path.name
    made.parent.mkdir()
    migrate_database(path, catalog().revision("1.2.0-2026-07"), made)
    assert {one.verdict for one in judged(made, "1.2.0-2026-07")} <= {"advice", "note"}


def test_texts_are_judged_by_a_writer() -> None:
    folder = REAL.parent / "text" / "pytorch_level1_rank0" / "ASCEND_PROFILER_OUTPUT"
    if not folder.is_dir():
        pytest.skip(f"needs the real profiles of {REAL.parent}")
    target = Target("writer", "adapter")
    chosen = Selection(("CSV011",))
    report = check([folder], Options(target=target, selection=chosen, workers=1))
    (file,) = report.files
    assert file.seen is not None
    assert file.seen.revision == "adapter"
    missing = [one for one in file.findings if one.rule == "CSV011"]
    assert any("Block Num" in str(one.examples) for one in missing)


def test_blocks_are_judged_by_an_epoch() -> None:
    if not (BIN / "mix.bin").is_file():
        pytest.skip(f"needs the real files of {BIN}")
    for epoch in ("E0", "E2", "E3"):
        report = check([BIN / "mix.bin"], Options(target=Target("epoch", epoch), workers=1))
        assert report.files[0].seen is not None
        assert report.files[0].seen.revision == epoch


def explained(
    path: Path, axis: AxisName, state: str, *rules: str
) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """The changes that findings name, by rule and place; ``own``: what the file is of."""
    options = Options(target=Target(axis, state), selection=Selection(rules), workers=1)
    (file,) = check([path], options).files
    assert file.seen is not None
    found = {(one.rule, one.place): one.changes for one in file.findings}
    return {("own", ""): (file.seen.own or "",), **found}


def test_findings_on_texts_name_the_change_of_the_writer(tmp_path: Path) -> None:
    """Commit 14417d429 of msprof renamed Block Dim on 2026-01-28 (text-outputs.md)."""
    scenario = override(preset("single-op"), steps=1)
    folder = write_run(scenario, 0, tmp_path / "run", ("csv",)).folder
    found = explained(folder, "writer", "cpp-2025", "CSV011")
    assert found["own", ""][0].startswith("cpp")
    with_commit = "with cpp-2026-01 of 2026-01-28 (CHG224)"
    assert found["CSV011", "op_summary.csv"] == (
        f"op_summary Block Num: header renamed, Block Dim to Block Num, {with_commit}",
        f"op_summary Mix Block Num: header renamed, Mix Block Dim to Mix Block Num, {with_commit}",
    )


def test_findings_on_timelines_name_the_change_of_the_writer(tmp_path: Path) -> None:
    """The adapter of January 2025 called all events of the task queue Enqueue."""
    scenario = override(preset("single-op"), steps=1)
    run = write_run(scenario, 0, tmp_path / "run", ("pytorch-text",)).folder
    path = next(run.rglob("trace_view.json"))
    found = explained(path, "writer", "adapter-2025-01", "TRC013")
    queue = found["TRC013", "trace_view.json: Python"]
    assert [one.partition(",")[0] for one in queue] == [
        "Python named-enqueue: event kind added",
        "Python enqueue: event kind removed",
    ]


def test_findings_on_blocks_name_the_change_of_the_epoch() -> None:
    """Known answers of bin-blocks.md: pid and device_id came in September 2024."""
    if not (BIN / "base_info.bin").is_file():
        pytest.skip(f"needs the real files of {BIN}")
    found = explained(BIN / "base_info.bin", "epoch", "E3")
    assert found["own", ""] == ("E0",)
    for key, day in (("pid", "E2 of 2024-09-04"), ("cur_freq", "E3 of 2025-12-01")):
        (named,) = next(one for place, one in found.items() if place[1].endswith(f": /{key}"))
        assert named == f"0x05 {key}: key added, integer or string, with {day} (CHG401)"


def test_a_state_that_no_file_can_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = specimen(tmp_path, "1.0.0-2025-01")
    assert main(["check", str(path), "--as", "E2"]) == 2
    assert "E2 is an epoch" in capsys.readouterr().err
    assert main(["check", str(path), "--as", "1.0.3"]) == 2
    assert "unknown state '1.0.3'" in capsys.readouterr().err
