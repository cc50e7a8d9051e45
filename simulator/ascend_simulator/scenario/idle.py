"""Switches that a scenario turns on and that collect nothing on its product."""

from __future__ import annotations

from ascend_spec import catalog

from ..choices import Scenario

COLLECTED = {
    "l2": ("l2-cache",),
    "sys_hardware_mem": ("hbm", "ddr", "llc", "qos", "device-memory", "module-memory"),
    "sys_io": ("nic", "roce", "network-counters"),
    "sys_interconnection": ("hccs", "pcie", "sio"),
    "aicpu": ("aicpu", "queues", "data-preparation"),
    "soc_pmu": ("soc-pmu",),
    "sys_profiling": ("system-load", "system-memory"),
    "sys_pid": ("process-load", "process-memory"),
    "sys_cpu": ("ai-cpu", "control-cpu", "scheduler-cpu"),
    "dvpp": ("dvpp",),
    "instr": ("biu-groups",),
}
"""By field of ``capture`` the rows of the matrix of products that the simulator makes for it."""


def idle_switches(scenario: Scenario) -> tuple[str, ...]:
    """The fields of ``capture`` that are on and whose data the product does not have."""
    collected = catalog().products.collected
    return tuple(
        field
        for field, rows in COLLECTED.items()
        if getattr(scenario.capture, field) and scenario.hardware.product not in collected(rows)
    )
