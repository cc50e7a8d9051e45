"""Each generation of a writer is right in its own form, and the newest is never demanded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from text_folders import DATA, judged, needs_data

from ascend_conformance.finding import FileReport, Finding
from ascend_ref.recorded import from_captures
from ascend_ref.text import write_csv_files
from ascend_ref.text.headers import recognise
from ascend_ref.timeline import write_timeline
from ascend_simulator import simulate
from ascend_simulator.scenario import override, preset
from ascend_spec import text_catalog

GENERATIONS = DATA.parent / "generations"
ORDER_BEFORE_JUNE_2026 = {"Communication": 0, "Communication(Not Overlapped)": 1, "Computing": 2}
"""msprof, overlap_analysis_assembler.h before commit 1fb466431."""


@pytest.fixture(scope="module")
def msprof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the present C++ engine writes of one step."""
    folder = tmp_path_factory.mktemp("generations") / "mindstudio_profiler_output"
    folder.mkdir()
    scenario = override(preset("observed-everything"), steps=1, ranks=1)
    recorded = from_captures([simulate(scenario).capture(0)], "msprof")
    write_csv_files(recorded, folder, writer="cpp", timestamp="20260721120000")
    write_timeline(recorded, folder, writer="cpp", timestamp="20260721120000")
    return folder


def violations(path: Path) -> list[Finding]:
    return violations_in(judged(path))


def violations_in(reports: Sequence[FileReport]) -> list[Finding]:
    assert all(report.unreadable is None for report in reports)
    return [one for report in reports for one in report.findings if one.verdict == "violation"]


@pytest.mark.parametrize("engine", ["cpp", "python"])
@pytest.mark.parametrize("group", [None, *text_catalog().pmu.groups])
def test_op_summary_with_block_dim_is_known(engine: str, group: str | None) -> None:
    file = text_catalog().csv["op_summary"]
    for family in file.writers[engine].families:
        for level in (0, 1, 2):
            try:
                header = file.header(writer=engine, family=family, level=level, metrics=group)
            except ValueError:
                continue  # these counters do not go with the product
            older = [name.replace("Block Num", "Block Dim") for name in header]
            found = recognise(file, older)
            assert found.exact
            assert f"{engine}-2025" in {one.writer for one in found.circumstances}


def overlap(path: Path, numbers: dict[str, int], *, of: int | None = None) -> None:
    """Give the intervals of the overlap analysis other threads; all, or the first so many."""
    events = json.loads(path.read_text())
    (pid,) = {one["pid"] for one in events if one.get("args", {}).get("name") == "Overlap Analysis"}
    names = {
        one["tid"]: one["args"]["name"]
        for one in events
        if one["name"] == "thread_name" and one["pid"] == pid
    }
    left = len(events) if of is None else of
    for one in events:
        name = names.get(one["tid"]) if one["ph"] == "M" else one["name"]
        of_thread = one["name"] != "process_name" and one["name"][:8] != "process_"
        if one["pid"] == pid and of_thread and name in numbers and left > 0:
            left -= one["ph"] == "X"
            if one["name"] == "thread_sort_index":
                one["args"]["sort_index"] = numbers[name]
            if of is None or one["ph"] == "X":
                one["tid"] = numbers[name]
    path.write_text(json.dumps(events, separators=(",", ":")))


@pytest.mark.exhaustive
def test_threads_of_the_overlap_analysis_before_june_2026(msprof: Path, tmp_path: Path) -> None:
    (path,) = msprof.glob("msprof_2*.json")
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    assert violations(copy) == []
    overlap(copy, ORDER_BEFORE_JUNE_2026)
    (report,) = judged(copy)
    assert [one for one in report.findings if one.verdict == "violation"] == []
    assert report.seen is not None
    assert report.seen.revision == "cpp-2026-01"


@pytest.mark.exhaustive
def test_one_file_does_not_mix_both_orders(msprof: Path, tmp_path: Path) -> None:
    (path,) = msprof.glob("msprof_2*.json")
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    overlap(copy, {"Computing": 2}, of=3)
    assert {one.rule: one.count for one in violations(copy)}["TRC330"] == 3


@pytest.mark.exhaustive
def test_an_older_folder_of_msprof_conforms(msprof: Path, tmp_path: Path) -> None:
    for path in msprof.iterdir():
        content = path.read_bytes()
        if path.suffix == ".csv":
            head, _, rows = content.partition(b"\n")
            content = head.replace(b"Block Num", b"Block Dim") + b"\n" + rows
        (tmp_path / path.name).write_bytes(content)
    (timeline,) = tmp_path.glob("msprof_2*.json")
    overlap(timeline, ORDER_BEFORE_JUNE_2026)
    (report,) = judged(tmp_path)
    assert [one for one in report.findings if one.verdict == "violation"] == []
    assert report.seen is not None
    assert report.seen.revision == "cpp-2025, python-2025"


@pytest.mark.exhaustive
def test_a_renamed_column_is_one_finding(msprof: Path, tmp_path: Path) -> None:
    (path,) = msprof.glob("op_summary*.csv")
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes().replace(b"HF32 Eligible", b"HF32 Allowed", 1))
    (found,) = (one for one in violations(copy) if one.rule.startswith("CSV01"))
    assert (found.rule, found.column) == ("CSV011", "HF32 Eligible")
    assert "HF32 Allowed stands where it should" in found.message
    (report,) = judged(copy)
    assert "CSV012" not in {one.rule for one in report.findings}


def test_kernel_details_before_hf32_are_known() -> None:
    """The header of 2023-11-09 of msprof-analyze lacks HF32 Eligible alone."""
    header = needs_data(DATA / "msinsight_small/test_rank_0/kernel_details.csv")
    names = header.read_text().splitlines()[0].split(",")
    names.remove("HF32 Eligible")
    found = recognise(text_catalog().csv["kernel_details"], names)
    assert found.exact
    assert {one.writer for one in found.circumstances} == {"adapter-2023-08"}


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        pytest.param(
            *("text_910a_2024_level1_rank0", {"no Device_id", "OP State"}),
            marks=pytest.mark.exhaustive,
        ),
        ("text_llm_2025_level2_rank0", {"Device_id", "Block Dim"}),
        ("db_910a_2024_level1_rank0", {"SCHEMA_VERSION 1.0.0"}),
    ],
)
def test_real_files_of_other_generations_conform(name: str, reasons: set[str]) -> None:
    """And the report states which facts decided the generation."""
    reports = judged(needs_data(GENERATIONS / name))
    assert violations_in(reports) == []
    seen = next(one for one in reports if "analysis" not in one.file).seen
    assert seen is not None
    assert {one.partition(" in ")[0] for one in seen.reasons} == reasons


def test_a_bin_of_the_oldest_generation_conforms() -> None:
    assert violations(needs_data(GENERATIONS / "memory_data.bin")) == []


@pytest.mark.exhaustive
def test_the_timeline_of_910a_is_known_in_full(tmp_path: Path) -> None:
    """DDR, MemcopyAsync and -1 as connection_id are no advice either; hit rates in their bounds."""
    path = needs_data(GENERATIONS / "text_910a_2024_level1_rank0" / "ASCEND_PROFILER_OUTPUT")
    copy = tmp_path / "trace_view.json"
    text = (path / copy.name).read_text()
    copy.write_text(text)
    (report,) = judged(copy)
    rules = {one.rule for one in report.findings}
    assert rules.isdisjoint({"TRC012", "TRC013", "TRC015", "TRC343"})
    for rate, rule in (("1.011", "TRC343"), ("1.2", "TRC015"), ("-0.1", "TRC015")):
        place = text.index('"Hit Rate(%)": ') + len('"Hit Rate(%)": ')
        copy.write_text(text[:place] + rate + text[text.index("}", place) :])
        (report,) = judged(copy)
        verdicts = {one.rule: one.verdict for one in report.findings}
        assert verdicts.get(rule) == ("advice" if rule == "TRC343" else "violation")


@pytest.mark.exhaustive
def test_task_time_shows_the_whole_of_a_mixed_task(msprof: Path, tmp_path: Path) -> None:
    """Older msprof: it begins 1.1 us before the sub-task of the timeline and is 2 us longer."""
    for path in msprof.iterdir():
        if path.name.startswith(("task_time", "msprof_2")):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (path,) = tmp_path.glob("task_time*.csv")
    head, *rows = path.read_text().splitlines()
    columns = head.split(",")
    kind, start, length = map(columns.index, ("kernel_type", "task_start(us)", "task_time(us)"))
    place = next(n for n, row in enumerate(rows) if row.split(",")[kind].startswith("MIX"))
    cells = rows[place].split(",")
    cells[start] = f"{Decimal(cells[start].strip()) - Decimal('1.1')}\t"
    cells[length] = f"{Decimal(cells[length]) + Decimal('2.0')}"
    rows[place] = ",".join(cells)
    path.write_text("\n".join([head, *rows]) + "\n")
    (report,) = judged(tmp_path)
    found = {one.rule: one.verdict for one in report.findings}
    assert "XLR103" not in found
    assert found["XLR120"] == "advice"
