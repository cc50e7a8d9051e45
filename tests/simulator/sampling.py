"""Sampled tables of a run built by hand, for the tests of the samplers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tiny_timeline import scene

from ascend_ref.capture import Switches, Texts
from ascend_simulator.choices import FaultChoice, ProductName
from ascend_simulator.memory import record_memory
from ascend_simulator.program.model import Collective, Launch
from ascend_simulator.samples import Flow, Traffic, record_samples
from ascend_simulator.world.timeline import RankTimeline

ALL = Switches(
    memory=True,
    sys_hardware_mem=50,
    sys_io=100,
    sys_interconnection=50,
    aic_mode="sample-based",
    host_sys=("cpu", "mem", "disk", "network"),
)
Table = dict[str, np.ndarray[Any, Any]]
SEED = 7


def sample(
    run: RankTimeline,
    traffic: Traffic,
    switches: Switches = ALL,
    faults: Sequence[FaultChoice] = (),
    product: ProductName = "A2",
    seed: int = SEED,
) -> tuple[dict[str, Table], Texts]:
    texts = Texts()
    seen = scene(run, switches, faults, texts, product, seed)
    tables = record_samples(seen, traffic, record_memory(seen, 1).footprint)
    return {name: dict(columns) for name, columns in tables.items()}, texts


def flow_of(run: RankTimeline, read: int, written: int, kind: type = Launch) -> Flow:
    """So many Byte per us while the items of a kind are on the device."""
    places = [place for place, item in enumerate(run.program.items) if isinstance(item, kind)]
    start, end = run.start[:, places].reshape(-1), run.end[:, places].reshape(-1)
    length = (end - start) // 1_000
    return Flow(start, end, length * read, length * written)


def busy(run: RankTimeline) -> Traffic:
    """Traffic everywhere, of other amounts in each place."""
    return Traffic(
        memory=flow_of(run, 900_000, 500_000),
        hccs=flow_of(run, 17_000, 19_000, Collective),
        sio=flow_of(run, 90_000, 80_000, Collective),
        roce=flow_of(run, 13_000, 11_000, Collective),
        pcie=flow_of(run, 3_000, 1_000),
        ports=(flow_of(run, 17_000, 0, Collective), flow_of(run, 0, 19_000, Collective)),
    )
