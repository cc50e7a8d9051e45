"""The switches of a capture as the collector's ``sample.json`` states them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ascend_ref.capture import Switches
from ascend_ref.db.encode.collection import SWITCHED
from ascend_spec import catalog

OF_RECORDS: Mapping[str, Callable[[Switches], bool]] = {
    "aicpu": lambda switches: switches.aicpu,
    "l2-cache": lambda switches: switches.l2,
    "sys-devices": lambda switches: switches.sys_profiling > 0,
    "sys-pid": lambda switches: switches.sys_pid > 0,
    "sys-cpu": lambda switches: switches.sys_cpu > 0,
    "instr": lambda switches: switches.instr > 0,
    "dvpp": lambda switches: switches.dvpp > 0,
    "host-usage-cpu": lambda switches: "cpu" in switches.host_sys_usage,
    "host-usage-mem": lambda switches: "mem" in switches.host_sys_usage,
}
"""The same as SWITCHED of what no database holds."""
_SAMPLE = "sample.json"
_ON, _OFF = "on", "off"


def stated_switches(switches: Switches) -> dict[str, str]:
    """The keys by which the spec's switches are stated, of those that a capture has."""
    found: dict[str, list[str]] = {}
    silent: dict[str, str] = {}
    for name, is_on in {**SWITCHED, **OF_RECORDS}.items():
        for key, value in catalog().documents.switches[name].stated.get(_SAMPLE, {}).items():
            parts = found.setdefault(key, [])
            silent[key] = _OFF if value == _ON else ""
            if is_on(switches) and str(value) not in parts:
                parts.append(str(value))
    return {key: ",".join(parts) or silent[key] for key, parts in found.items()}
