"""What the AI cores counted of each task, of which operations follow."""

from __future__ import annotations

import json

import numpy as np

from ascend_ref.derive.matching import counterparts
from ascend_ref.raw.counters import counts_of, sides_of
from ascend_ref.raw.machine import chip_of
from ascend_spec import raw_catalog
from ascend_spec.mindspore.records import TICK
from ascend_spec.raw.records import DEVICE_MAGIC

from .device import COUNTED
from .job import Job

KIND, MACHINE = "aicore", "device_info"
GROUP = "ArithmeticUtilization"
"""Of the counters that parsers take for what they count (M81)."""

_MEGAHERTZ = "100.000000"


def write_aicore(job: Job) -> None:
    """Write the counters of the device in the order in which tasks end, and its machine.

    Nothing on days without the file, of other groups, and of chips that have other records.
    """
    capture, graph = job.capture, job.graph
    sides = sides_of(capture) if job.writes(KIND) else ()
    chips = raw_catalog().files[KIND].chips
    known = chip_of(capture.origin) in chips and capture.switches.aic_metrics == GROUP
    if not sides or not known or capture.origin.facts is None:
        return
    task = counterparts(capture.counters.task, 0, capture.tasks.identity)
    counted = counts_of(capture, sides, TICK)[0]
    own = np.flatnonzero(capture.tasks.device[task] == job.device)
    own = own[np.lexsort((capture.tasks.start[task[own]], capture.tasks.end[task[own]]))]
    if not len(own):
        return
    rows = job.records(
        KIND,
        "AICORE_PMU",
        {
            "cnt": np.arange(len(own)) % COUNTED,
            "magic": np.full(len(own), DEVICE_MAGIC),
            "taskId": graph.number[task[own]],
            "streamId": graph.stream[task[own]],
            "totalCycle": counted.cycles[own],
        },
    )
    rows["pmuList"][:, : counted.events.shape[1]] = counted.events[own]
    job.write_rows(KIND, rows)
    facts = capture.origin.facts
    device = {
        "id": job.device,
        "hwts_frequency": _MEGAHERTZ,
        "ai_cpu_core_num": facts.ai_cpu_cores,
        "ai_core_num": facts.cube_cores,
        "aiv_num": facts.vector_cores,
        "aic_frequency": str(facts.frequency),
        "aiv_frequency": str(facts.frequency),
    }
    document = {"platform_version": str(chip_of(capture.origin)), "DeviceInfo": [device]}
    job.write_content(MACHINE, json.dumps(document).encode())
