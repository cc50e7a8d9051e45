"""Which data the switches of a scenario collect, by the rows of the spec's matrix of products."""

from __future__ import annotations

from collections.abc import Collection

from ascend_ref.capture import Switches
from ascend_spec import catalog

from ..choices import Scenario

COLLECTED = {
    "task_time": ("tasks", "iterations", "fusion"),
    "memory": ("static-memory",),
    "l2": ("l2-cache",),
    "sys_hardware_mem": (
        *("hbm", "ddr", "llc", "qos", "acc-pmu", "soc-bandwidth"),
        *("device-memory", "module-memory"),
    ),
    "sys_io": ("nic", "roce", "network-counters"),
    "sys_interconnection": ("hccs", "pcie", "sio", "ub", "ccu", "chip-links"),
    "host_sys.cpu": ("host-cpu",),
    "host_sys.mem": ("host-memory",),
    "host_sys.disk": ("host-disk",),
    "host_sys.network": ("host-network",),
    "aicpu": ("aicpu", "queues", "data-preparation"),
    "soc_pmu": ("soc-pmu",),
    "sys_profiling": ("system-load", "system-memory"),
    "sys_pid": ("process-load", "process-memory"),
    "sys_cpu": ("ai-cpu", "control-cpu", "scheduler-cpu"),
    "dvpp": ("dvpp",),
    "instr": ("biu-groups", "biu-perf"),
    "host_sys_usage.cpu": ("system-load", "process-load"),
    "host_sys_usage.mem": ("system-memory", "process-memory"),
}
"""By field of ``capture``, or member of one, the rows that the simulator makes for it."""


def collecting(data: Collection[str]) -> list[str]:
    """The fields that collect the data of some rows."""
    return [field for field, rows in COLLECTED.items() if not set(rows).isdisjoint(data)]


def frequency(switches: Switches, data: Collection[str]) -> int:
    """How often the switches sample the data of some rows, as the switch counts it.

    1 for what is collected without sampling, or without a switch of its own; 0 for what is off.
    """
    return max((setting(switches, field) for field in collecting(data)), default=1)


def idle_switches(scenario: Scenario) -> tuple[str, ...]:
    """The fields of ``capture`` that are on and whose data the product does not have."""
    collected = catalog().products.collected
    return tuple(
        field
        for field, rows in COLLECTED.items()
        if setting(scenario.capture, field) and scenario.hardware.product not in collected(rows)
    )


def setting(switches: Switches, field: str) -> int:
    """What a field is set to, 0 where it is off; a member of one is on with 1."""
    name, _, member = field.partition(".")
    value = getattr(switches, name)
    return int(member in value) if member else int(value)
