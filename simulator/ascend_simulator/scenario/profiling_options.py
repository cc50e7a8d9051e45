"""Scenarios that are collected as options of the graph engine's profiling ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast, get_args

from ascend_ref.capture import Switches
from ascend_ref.capture.switches import HostSampler, HostUsage
from ascend_ref.ge.options.explain import recording_of
from ascend_ref.ge.options.given import Given, decide
from ascend_ref.ge.options.settings import Settings, settings_of
from ascend_ref.ge.options.text import refusal
from ascend_spec import ge_catalog

from ..choices import Scenario
from ..documents.text import ScenarioError

MOST_OFTEN = 100
"""Samples per second that a scenario may have."""
PERIOD = 1_000
"""Cycles between two samples of groups of cores, where an option is on that has no period."""


def asked_by(scenario: Scenario, options: str) -> tuple[Scenario, Sequence[str]]:
    """The scenario as options have it collected, and warnings about these.

    Raises :class:`ScenarioError` for options that are refused on its product, and for events by
    number, which are not simulated.
    """
    mode = ge_catalog().entry.mode.on
    if not options:
        raise ScenarioError(f"{scenario.name}: no options; expected an object in JSON")
    settings = settings_of(decide(Given(mode, options)), scenario.hardware.product)
    if settings.problems:
        raise ScenarioError(f"{scenario.name}: {refusal(settings.problems)}")
    return replace(scenario, capture=switches_of(settings, scenario.name)), settings.warnings


def switches_of(settings: Settings, name: str) -> Switches:
    """The switches of a capture that settings turn on. name: of the scenario, for messages.

    Raises :class:`ScenarioError` for events by number.
    """
    recording = recording_of(settings)
    on = recording.switches

    def often(switch: str, option: str) -> int:
        value = settings.options[option].value
        return min(value, MOST_OFTEN) if switch in on and isinstance(value, int) else 0

    def parts(option: str, known: Sequence[str]) -> tuple[str, ...]:
        value = str(settings.options[option].value or "").split(",")
        return tuple(one for one in known if one in value)

    period = settings.options["instr_profiling_freq"].value
    return Switches(
        level=recording.level,
        cpu=False,
        task_time="task-time" in on,
        hccl="hccl" in on,
        runtime_api="runtime-api" in on,
        aic_metrics=_group(recording.metrics, name),
        memory="task-memory" in on,
        record_shapes=False,
        mstx="msproftx" in on,
        l2="l2-cache" in on,
        sys_hardware_mem=often("sys-hardware-mem", "sys_hardware_mem_freq"),
        sys_io=often("sys-io", "sys_io_sampling_freq"),
        sys_interconnection=often("sys-interconnection", "sys_interconnection_freq"),
        host_sys=cast(tuple[HostSampler, ...], parts("host_sys", get_args(HostSampler))),
        aicpu="aicpu" in on,
        sys_cpu=often("sys-cpu", "sys_cpu_freq"),
        dvpp=often("dvpp", "dvpp_freq"),
        instr=(period if isinstance(period, int) else PERIOD) if "instr" in on else 0,
        host_sys_usage=cast(tuple[HostUsage, ...], parts("host_sys_usage", get_args(HostUsage))),
    )


def _group(metrics: str | None, name: str) -> str | None:
    if metrics is None:
        return None
    found = {one.text: one.group for one in ge_catalog().metrics.values() if one.text}
    group = found.get(metrics)
    if group is None:
        raise ScenarioError(
            f"{name}: aic_metrics is {metrics!r}, which is not simulated; expected a group"
        )
    return group
