"""The simulated runs that consumers are shown, and what is true of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from ascend_ref.capture import Switches
from ascend_simulator.choices import (
    FaultChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
)
from ascend_simulator.run import TRUTH

HEALTHY = Scenario(
    name="all-kinds-of-parallelism",
    model=ModelChoice(
        kind="moe",
        data_type="DT_BF16",
        layers=2,
        hidden=1024,
        heads=8,
        sequence=512,
        experts=8,
        microbatches=2,
    ),
    parallelism=Parallelism(ranks=8, pipeline=2, expert=2),
    schedule=Schedule(active=2),
    capture=Switches(level=2, memory=True, stack=True, mstx=True),
)
SLOW, THROTTLED, LINK = 3, 6, (4, 5)
DATA_PARALLEL = replace(
    HEALTHY,
    name="faults",
    model=ModelChoice(layers=2, hidden=1024, heads=8, sequence=512, batch=4),
    parallelism=Parallelism(ranks=8),
    schedule=Schedule(active=4),
    capture=Switches(level=1),
)
SMALL = replace(
    DATA_PARALLEL,
    name="small",
    parallelism=Parallelism(ranks=2),
    schedule=Schedule(active=1),
    capture=Switches(level=1, memory=True, stack=True),
)
FAULTS = {
    "slow-rank": FaultChoice("slow-rank", ranks=(SLOW,), factor=2000),
    "slow-link": FaultChoice("slow-link", link=LINK, factor=8000),
    "throttling": FaultChoice(
        "frequency-throttling", ranks=(THROTTLED,), steps=(2, 3), frequency=1200
    ),
}


def truth_of(run: Path) -> dict[str, Any]:
    """The truth of a run of one round."""
    found: dict[str, Any] = json.loads((run / TRUTH).read_text(encoding="utf-8"))
    return found
