"""The referee finds nothing in databases that hold simulated memory and samples, and only those."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sampling import ALL, busy
from slices import some
from tiny_timeline import START, kernel, operator, program, random_program, scene, timeline

from ascend_conformance.check import check
from ascend_ref.capture import Capture, Texts
from ascend_ref.capture.model import Origin
from ascend_ref.db.encode import encode
from ascend_ref.db.writer import write_database
from ascend_simulator.choices import FaultChoice
from ascend_simulator.memory import record_memory
from ascend_simulator.program.model import Launch
from ascend_simulator.samples import Flow, Traffic, record_host_samples, record_samples
from ascend_simulator.world.timeline import RankTimeline
from ascend_spec import catalog

REVISIONS = [revision.id for revision in catalog().revisions]
PRODUCTS = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
DATABASES = {"pytorch": "ascend_pytorch_profiler_0.db", "msprof": "msprof_20260101170000.db"}


def capture_of(
    run: RankTimeline,
    traffic: Traffic,
    product: str = "A2",
    faults: tuple[FaultChoice, ...] = (),
) -> Capture:
    texts = Texts()
    seen = scene(run, ALL, faults, texts, product)  # type: ignore[arg-type]
    memory = record_memory(seen, 4_242)
    tables = record_samples(seen, traffic, memory.footprint)
    start, end = run.session
    abnormal = any(fault.kind == "abnormal-end" for fault in faults)
    return Capture(
        Origin(
            0, 1, (0,), seen.machine.chip.name, 4_000, "node", 5, start, None if abnormal else end
        ),
        ALL,
        texts,
        memory_blocks=memory.blocks,
        memory_totals=memory.totals,
        workspace_events=memory.workspaces,
        samples={**tables, **record_host_samples(seen)},
    )


def findings(capture: Capture, folder: Path, revisions: list[str]) -> Iterator[str]:
    for revision in revisions:
        for carrier, name in DATABASES.items():
            schema = catalog().at(revision, carrier)  # type: ignore[arg-type]
            path = folder / revision / name
            path.parent.mkdir(exist_ok=True)
            write_database(path, schema, encode(capture, schema))
            for judged in check([path]).files:
                assert judged.unreadable is None
                yield from (f"{revision} {carrier} {each.message}" for each in judged.findings)


def run_of(steps: int = 3, lead: int = 25_000_000, **changes: object) -> RankTimeline:
    return timeline(random_program(11, 400), steps, lead, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("product", "revision"),
    some([(product, revision) for product in PRODUCTS for revision in REVISIONS], every=48),
)
def test_every_product_at_every_revision(product: str, revision: str, tmp_path: Path) -> None:
    run = run_of(frequency=[1_000, 700, 900])
    assert list(findings(capture_of(run, busy(run), product), tmp_path, [revision])) == []


def little() -> Traffic:
    """One Byte on every path."""
    one, at = np.array([1], np.int64), np.array([START + 30_000_000])
    flow = Flow(at, at + 2_000, one, one)
    return Traffic(flow, flow, flow, flow, flow)


@pytest.mark.parametrize("product", some(["A3", "910A"], every=2))
@pytest.mark.parametrize("traffic", [Traffic(), little()])
def test_a_device_that_moves_nothing_or_almost_nothing(
    product: str, traffic: Traffic, tmp_path: Path
) -> None:
    assert list(findings(capture_of(run_of(), traffic, product), tmp_path, REVISIONS[-1:])) == []


def test_a_session_as_short_as_one_kernel(tmp_path: Path) -> None:
    run = timeline(program([operator()], [Launch(0, (kernel(),))]), 1, lead=3_000)
    assert list(findings(capture_of(run, busy(run)), tmp_path, REVISIONS[-1:])) == []


def test_paths_that_carry_more_than_32_bits_tell(tmp_path: Path) -> None:
    run = run_of()
    start, end = run.step_starts[0], run.step_ends[-1]
    amount = np.array([(end - start) * 30], np.int64)
    flow = Flow(np.array([start]), np.array([end]), amount, amount)
    traffic = Traffic(Flow(flow.start, flow.end, amount * 30, amount * 20), flow, flow, flow, flow)
    assert list(findings(capture_of(run, traffic, "A3"), tmp_path, REVISIONS[-1:])) == []


SAMPLED = [
    name
    for name, table in catalog().tables.items()
    if table.sample and table.writer == "msprof" and name != "NPU_OP_MEM"
]


@pytest.mark.parametrize("table", some(SAMPLED, every=24))
@pytest.mark.parametrize("steps", [(1, 1), None])
def test_samples_that_are_lost(table: str, steps: tuple[int, int] | None, tmp_path: Path) -> None:
    run = run_of(pause=30_000_000, frequency=[1_800, 900, 1_000])
    fault = FaultChoice("lost-samples", sampler=table, steps=steps)
    captured = capture_of(run, busy(run), "A3" if table != "DDR" else "910A", (fault,))
    found = list(findings(captured, tmp_path, REVISIONS[-1:]))
    assert all("likely cause: samples were not read in time (device)" in one for one in found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["memory-leak", "fragmentation"])
def test_memory_that_is_lost(kind: str, tmp_path: Path) -> None:
    run = run_of()
    captured = capture_of(run, busy(run), "A2", (FaultChoice(kind, megabytes=300),))  # type: ignore[arg-type]
    assert list(findings(captured, tmp_path, [REVISIONS[0], REVISIONS[-1]])) == []


def test_of_an_abnormal_end_only_the_end_is_missing(tmp_path: Path) -> None:
    run = run_of()
    captured = capture_of(run, busy(run), "A2", (FaultChoice("abnormal-end"),))
    found = list(findings(captured, tmp_path, REVISIONS[-1:]))
    assert all("The session has no real end" in finding for finding in found)
    assert len(found) == len(DATABASES)
