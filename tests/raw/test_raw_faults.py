"""Damaged raw files: what is lost, what a reader states, and that the rest is exported.

Three oracles that know nothing of each other: the truth that the simulator states; a tree that was
written whole and from which the lost records were taken out cleanly, in one slice; and the database
of the recording that stands next to the raw files.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_capture import plain
from slices import some

from ascend_conformance.check import check
from ascend_ref.capture import Capture
from ascend_ref.profile.raw import export_raw
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.view import raw_view
from ascend_simulator.choices import (
    LOSSES_OF_RAW,
    LOSSES_OF_SLICES,
    FaultChoice,
    FaultKind,
    ModelChoice,
    ProductName,
    Scenario,
    Schedule,
)
from ascend_simulator.draws import Draws
from ascend_simulator.loss import damage_raw
from ascend_simulator.run import simulate, write_run
from ascend_simulator.scenario import RUN
from ascend_simulator.scenario.damageable import raw_kinds
from ascend_simulator.truth import schema

FORMS = ("raw", "msprof-db")
PRODUCTS: tuple[ProductName, ...] = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


class Run(NamedTuple):
    """A damaged run."""

    damages: list[dict[str, Any]]
    prof: Path


def scenario_of(product: ProductName, operators: str = "cnn") -> Scenario:
    """A small run that records as much as raw files can hold."""
    base = RUN.preset("observed-everything")
    model = ModelChoice("cnn", image=32, channels=16, batch=1)
    if operators != "cnn":
        model = ModelChoice("single-operator", operator=operators, shape=(64, 64, 64))
    return replace(
        base,
        hardware=replace(base.hardware, product=product),
        model=model,
        schedule=Schedule(active=1),
        parallelism=replace(base.parallelism, ranks=1, devices_per_process=1),
        capture=replace(base.capture, memory=True, aic_metrics="PipeUtilization"),
        faults=(),
    )


def written(folder: Path, scenario: Scenario, seed: int, *faults: FaultChoice) -> Run:
    shutil.rmtree(folder / "run", ignore_errors=True)
    run = write_run(replace(scenario, faults=faults), seed, folder / "run", FORMS)
    truth = json.loads(run.truths[0].read_text(encoding="utf-8"))
    jsonschema_rs.validate(schema(), truth)
    damages = [one for fault in truth["faults"] for one in fault["effect"]["damages"]]
    return Run(damages, run.profiles[0])


Wholes = Callable[[ProductName, int], Path]


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> Wholes:
    """Undamaged runs of a product and a seed, each written once; to be copied, not changed."""

    @cache
    def whole(product: ProductName, seed: int) -> Path:
        folder = tmp_path_factory.mktemp("whole") / "run"
        return write_run(scenario_of(product), seed, folder, FORMS).profiles[0]

    return whole


def tables_of(prof: Path) -> dict[str, int]:
    (database,) = prof.glob("msprof_*.db")
    with closing(sqlite3.connect(database)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        return {
            name: connection.execute(f"SELECT count(*) FROM [{name}]").fetchone()[0]
            for name in names
            if not name.startswith(("ENUM_", "sqlite_")) and "Index" not in name
        }


def states(raw: RawCapture, damage: dict[str, Any], folder: Path) -> bool:
    """Whether a reader states a damage in the file and at the byte of the truth."""
    place = folder / damage["reported_in"]
    return any(
        one.file == place and (damage["reported_at"] is None or one.offset == damage["reported_at"])
        for one in raw.damage
    )


SIZES = {"api_event": 40, "compact": 64, "additional": 256}
SIZES |= {"stars_soc": 64, "hwts": 64, "ffts_profile": 128, "aicore": 128}
"""Bytes of the records that can be torn, by what their file's name has (raw-prof 2.1, 2.2)."""


def without_records(run: Run, whole: Path) -> RawCapture:
    """The whole tree, with the lost records taken out of its file, which stays one slice."""
    stem = run.damages[0]["path"].rpartition("slice_")[0]
    file = whole.joinpath(*Path(f"{stem}slice_0").parts[1:])
    taken = {int(one["path"].rpartition("_")[2]): one for one in run.damages}
    folder, name = run.prof.joinpath(*Path(stem).parts[1:-1]), Path(stem).name
    left = {int(one.name.rpartition("_")[2]): one for one in folder.glob(f"{name}slice_*")}
    content, kept = file.read_bytes(), b""
    for number in sorted(taken.keys() | left.keys()):
        length = left[number].stat().st_size if number in left else 0
        damage = taken.get(number)
        length += damage["bytes"] if damage else 0
        part, content = content[:length], content[length:]
        if damage and damage["gone"]:
            continue
        if damage:
            size = next(size for word, size in SIZES.items() if word in name)
            first = damage["offset"] // size * size
            part = part[:first] + part[first + size :]
        kept += part
    assert not content
    file.write_bytes(kept)
    (found,) = read_raw(whole)
    return found


def assert_slices(
    folder: Path, wholes: Wholes, product: ProductName, fault: FaultChoice, seed: int
) -> None:
    run = written(folder, scenario_of(product), seed, fault)
    if not run.damages:
        return
    (raw,) = read_raw(run.prof)
    root = run.prof.parent
    for damage in run.damages:
        assert states(raw, damage, root), (damage, raw.damage)
        assert damage["gone"] == (not (root / damage["path"]).exists())
    target, whole = folder / "exported", folder / "whole" / run.prof.name
    for one in (target, whole):
        shutil.rmtree(one, ignore_errors=True)
    shutil.copytree(wholes(product, seed), whole)
    before = tables_of(whole)
    export_raw(run.prof, target, ("db",))
    after = tables_of(target)
    rows: dict[str, int] = {}
    for damage in run.damages:
        for table, count in damage["rows"].items():
            rows[table] = rows.get(table, 0) + count
    assert {one: before[one] - after.get(one, 0) for one in rows} == rows
    assert plain(raw.capture) == plain(without_records(run, whole).capture)


def slice_faults() -> st.SearchStrategy[FaultChoice]:
    """Any fault of slices of any kind of file that simulated trees have."""
    kinds = [
        *("api_event", "task_track", "node_basic_info", "tensor_info", "hccl_info"),
        *("memcpy_info", "msproftx", "task_memory_info", "context_id_info"),
        *("stars_soc", "hwts", "ffts_profile", "aicore", "ts_track"),
        *("hbm", "npu_mem", "npu_module_mem", "pcie", "qos", "stars_soc_profile"),
    ]
    return st.one_of(
        st.builds(
            FaultChoice,
            st.just(kind),
            raw=st.sampled_from([one for one in kinds if one in raw_kinds(kind)]),
            slices=st.integers(1, 9),
            cut=st.sampled_from(["middle", "end"] if kind == "raw-torn-record" else ["middle"]),
        )
        for kind in LOSSES_OF_SLICES
    )


SLICES: Sequence[tuple[ProductName, str]] = (
    ("A2", "stars_soc"),
    ("910A", "hwts"),
    ("A2", "api_event"),
    ("A2", "stars_soc_profile"),
)


@pytest.mark.parametrize(
    ("kind", "product", "raw"),
    some([(kind, *one) for kind in LOSSES_OF_SLICES for one in SLICES], every=10),
)
def test_lost_records_are_stated_and_the_rest_is_read(
    tmp_path: Path, wholes: Wholes, kind: Any, product: ProductName, raw: str
) -> None:
    assert_slices(tmp_path, wholes, product, FaultChoice(kind, raw=raw), 2)


@pytest.mark.campaign
@settings(max_examples=150, deadline=None, suppress_health_check=QUIET)
@given(product=st.sampled_from(PRODUCTS), fault=slice_faults(), seed=st.integers(0, (1 << 63) - 1))
def test_any_lost_records_are_stated_and_the_rest_is_read(
    tmp_path: Path, wholes: Wholes, product: ProductName, fault: FaultChoice, seed: int
) -> None:
    assert_slices(tmp_path, wholes, product, fault, seed)


# --- side files and dictionaries ------------------------------------------------------------------


class Whole(NamedTuple):
    """A run whose raw files are whole, and what they hold."""

    prof: Path
    held: Capture
    tables: dict[str, int]


@pytest.fixture(scope="module", params=["A2", pytest.param("910A", marks=pytest.mark.exhaustive)])
def whole(request: pytest.FixtureRequest, wholes: Wholes) -> Whole:
    prof = wholes(request.param, 2)
    held = raw_view(simulate(scenario_of(request.param), 2).capture(0)).capture
    return Whole(prof, held, tables_of(prof))


@pytest.mark.parametrize(
    ("kind", "raw"),
    some(
        [
            (kind, raw)
            for kind in LOSSES_OF_RAW
            if kind not in LOSSES_OF_SLICES
            for raw in raw_kinds(kind)
        ],
        every=2,
    ),
)
def test_a_side_file_that_is_lost_or_wrong_is_stated_and_costs_its_times(
    whole: Whole, tmp_path: Path, kind: Any, raw: str
) -> None:
    prof = tmp_path / whole.prof.name
    shutil.copytree(whole.prof, prof)
    (damage,) = damage_raw(prof, whole.held, FaultChoice(kind, raw=raw), {0}, Draws(5, raw))
    (found,) = read_raw(prof)
    shown = [(one.file, one.kind) for one in found.damage]
    if damage.reported_in is None:
        assert shown == []
    else:
        assert prof / damage.reported_in in [file for file, _ in shown]
    export_raw(prof, tmp_path / "out", ("db",))
    after = tables_of(tmp_path / "out")
    lost = {one: whole.tables[one] - after.get(one, 0) for one in damage.rows}
    assert lost == damage.rows
    assert bool(damage.rows) == (raw in TIMED), raw
    if kind == "raw-wrong-clock":
        assert damage.was != damage.became
        assert damage.became in (prof / damage.path).read_text(encoding="utf-8")


TIMED = (
    *("host_info", "host_start_info", "host_start"),
    *("device_info", "device_start_info", "device_host_start", "dev_start"),
)
"""Side files without which, or with other numbers in which, times are not known (raw-prof 3.5)."""


def test_a_wrong_clock_shifts_no_time_that_another_clock_counts(
    whole: Whole, tmp_path: Path
) -> None:
    prof = tmp_path / whole.prof.name
    shutil.copytree(whole.prof, prof)
    fault = FaultChoice("raw-wrong-clock", raw="dev_start")
    (damage,) = damage_raw(prof, whole.held, fault, {0}, Draws(1, "any"))
    (found,) = read_raw(prof)
    left, held = plain(found.capture), plain(whole.held)
    assert "tasks" not in left
    assert left["calls"] == held["calls"]
    for sampled in ("HBM", "NPU_MEM", "NPU_MODULE_MEM", "PCIE"):
        assert left.get(sampled) == held.get(sampled)
    assert damage.first_ns == min(int(whole.held.tasks.start.min()), damage.first_ns or 0)


# --- what check says of an export that is incomplete ----------------------------------------------


LOST_AND_NO_MORE: Sequence[tuple[FaultKind, str]] = (
    ("raw-lost-slice", "stars_soc"),
    ("raw-torn-record", "api_event"),
    ("raw-lost-side", "hash_dic"),
    ("raw-wrong-clock", "dev_start"),
)
NO_KERNELS = {"DB521", "XLR302"}
"""Without the host's clock there are no calls, so nobody knows which tasks are kernels: counters
lack their operators, and in the overlap nothing computes.
"""


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("fault", "violated"),
    [
        (FaultChoice("raw-wrong-clock", raw="host_start"), NO_KERNELS),
        *(
            pytest.param(
                FaultChoice(kind, raw=raw),
                set(),
                marks=pytest.mark.campaign if at else pytest.mark.exhaustive,
            )
            for at, (kind, raw) in enumerate(LOST_AND_NO_MORE)
        ),
    ],
    ids=lambda one: f"{one.kind} {one.raw}" if isinstance(one, FaultChoice) else "",
)
def test_an_incomplete_export_is_condemned_for_nothing_but_its_losses(
    tmp_path: Path, fault: FaultChoice, violated: set[str]
) -> None:
    run = written(tmp_path, scenario_of("A2"), 1, fault)
    export_raw(run.prof, tmp_path / "exported")
    assert (tmp_path / "exported" / "incomplete.txt").stat().st_size
    report = check([tmp_path / "exported"])
    assert not any(file.unreadable for file in report.files)
    found = {one.rule for one in report.findings if one.verdict in ("failure", "violation")}
    assert found == violated
