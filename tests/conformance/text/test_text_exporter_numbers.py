"""Simulated folders with numbers that msprof writes beyond what their units suggest."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from text_folders import judged

from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("numbers") / "run"
    scenario = override(preset("observed-everything"), steps=1, ranks=1)
    write_run(scenario, 0, target, ("msprof-db", "csv", "timeline"))
    return next(target.glob("PROF_*"))


@pytest.fixture
def profile(simulated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(simulated, tmp_path / simulated.name))


def found(profile: Path, *rules: str) -> set[str]:
    reports = judged(profile, Options(selection=Selection(select=rules), workers=1))
    return {one.rule for report in reports for one in report.findings}


def rewrite(profile: Path, name: str, change: Callable[[dict[str, str]], None]) -> None:
    (path,) = profile.rglob(f"{name}_2*.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        change(row)
    with path.open("w", newline="") as file:
        written = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        written.writeheader()
        written.writerows(rows)


def component_of_releases(profile: Path, stored: int, printed: str) -> None:
    """One component has more releases than allocations, in the database and in the text."""
    with closing(sqlite3.connect(next(profile.glob("*.db")))) as database, database:
        database.execute("UPDATE NPU_MODULE_MEM SET totalReserved = ? WHERE moduleId = 0", [stored])

    def change(row: dict[str, str]) -> None:
        if row["Component"] == "SLOG":
            row["Total Reserved(KB)"] = printed

    rewrite(profile, "npu_module_mem", change)


MODULES = ("CSV024", "DB203", "DB837", "XLR608")


@pytest.mark.exhaustive
def test_a_component_of_which_only_releases_were_seen_has_no_amount(profile: Path) -> None:
    """npu_module_mem_parser.py stores -1, which the C++ engine reads as 64 unsigned bits."""
    component_of_releases(profile, -1, "18014398509481983")
    assert found(profile, *MODULES) == set()


@pytest.mark.exhaustive
def test_an_amount_below_zero_is_found(profile: Path) -> None:
    component_of_releases(profile, -4096, "18014398509481980")
    assert found(profile, *MODULES) == {"CSV024", "DB203", "XLR608"}


def network(profile: Path, usage: float, peak: Callable[[float], float]) -> None:
    (timeline,) = profile.rglob("msprof_2*.json")
    events = json.loads(timeline.read_bytes())
    for event in events:
        if event["name"] == "Network Usage":
            event["args"]["Usage(%)"] = usage
    timeline.write_text(json.dumps(events))

    def change(row: dict[str, str]) -> None:
        row["Peak Used Speed(KB/s)"] = str(peak(float(row["Netcard Speed(KB/s)"])))

    rewrite(profile, "host_network_usage", change)


@pytest.mark.exhaustive
def test_a_network_carries_both_directions_at_a_time(profile: Path) -> None:
    """host_network_usage_presenter.py adds received and sent, and divides by the card's speed."""
    network(profile, 170.5, lambda speed: 1.7 * speed)
    assert found(profile, "CSV418", "TRC015") == set()
    network(profile, -1.0, lambda speed: 2.1 * speed)
    assert found(profile, "CSV418", "TRC015") == {"CSV418", "TRC015"}


def add_loads_of_cores(profile: Path, first: float, later: float) -> None:
    """The layer of the cores, as get_msvp_summary.py computes it from the samples."""
    with closing(sqlite3.connect(next(profile.glob("*.db")))) as database, database:
        (kind,) = database.execute("SELECT id FROM STRING_IDS WHERE value = 'AIC'").fetchone()
        database.execute(
            "DELETE FROM SAMPLE_PMU_TIMELINE WHERE coreType <> ? OR coreId > 0", [kind]
        )
        database.execute("UPDATE SAMPLE_PMU_TIMELINE SET usage = 101.5")
        query = "SELECT timestampNs FROM SAMPLE_PMU_TIMELINE WHERE deviceId = 0 ORDER BY 1"
        times = [time for (time,) in database.execute(query)]
        database.execute(
            "UPDATE SAMPLE_PMU_TIMELINE SET usage = 5e8 WHERE timestampNs = ?", times[:1]
        )
    (timeline,) = profile.rglob("msprof_2*.json")
    events = json.loads(timeline.read_bytes())
    hardware = next(one for one in events if one.get("args") == {"name": "Ascend Hardware"})
    pid = (hardware["pid"] >> 10 << 10) + (10 << 5)
    events += [
        {
            "name": "process_name",
            "pid": pid,
            "tid": 0,
            "args": {"name": "AI Core Utilization"},
            "ph": "M",
        },
        {"name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": "NPU 0"}, "ph": "M"},
    ]
    for time in times:
        load = first if time == times[0] else later
        row = {"ts": f"{time // 1000}.{time % 1000:03}", "pid": pid, "tid": 0}
        for name in ("Core 0", "Average"):
            events.append(
                {"name": name, **row, "args": {"Utilization(%)": f"{load:.6f}"}, "ph": "C"}
            )
    timeline.write_text(json.dumps(events))


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("cores") / "run"
    scenario = override(preset("text-museum"), steps=1, ranks=1)
    write_run(scenario, 0, target, ("msprof-db", "timeline"))
    return next(target.glob("PROF_*"))


@pytest.mark.exhaustive
def test_the_load_of_a_core_is_not_limited_and_its_first_is_by_a_second(
    sampled: Path, tmp_path: Path
) -> None:
    """calculate_utilization starts with an interval of 1 s, unified_pmu_processor.cpp of 1 ns."""
    right = Path(shutil.copytree(sampled, tmp_path / "right" / sampled.name))
    add_loads_of_cores(right, 0.5, 101.5)
    assert found(right, "TRC015", "XLR701") == set()
    wrong = Path(shutil.copytree(sampled, tmp_path / "wrong" / sampled.name))
    add_loads_of_cores(wrong, 0.5, -101.5)
    assert found(wrong, "TRC015", "XLR701") == {"TRC015", "XLR701"}
