"""Which group of metrics was counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ascend_ref.arrays import dictionary
from ascend_ref.recorded import Recorded
from ascend_spec import text_catalog
from ascend_spec.text.model import Mode
from ascend_spec.text.pmu import PmuGroup

CUSTOM = "Custom"
"""The group of registers that the user chose."""
PREFIXES = ("aic_", "aiv_")
TOTALS = frozenset({"total_time", "total_cycles"})
"""Metrics that every group has."""
TABLES: Mapping[Mode, tuple[str, str]] = {
    "task-based": ("TASK_PMU_INFO", "name"),
    "sample-based": ("SAMPLE_PMU_SUMMARY", "metric"),
}
"""Where the names of metrics stand."""


class Counted(NamedTuple):
    """A group, by its name in the spec, and the registers of the group CUSTOM."""

    group: str | None
    registers: tuple[str, ...] = ()


def counted(recorded: Recorded, mode: Mode, family: str) -> Counted:
    """What was counted in a mode; no group without rows, or where the family does not have it.

    Where the recording does not say which group it was, the one most of whose metrics are there.
    """
    table, column = TABLES[mode]
    if table not in recorded.tables:
        return Counted(None)
    texts = dictionary(recorded.table(table)[column]).dictionary.to_pylist()
    names = tuple(dict.fromkeys(_bare(text) for text in texts if _bare(text) not in TOTALS))
    groups = text_catalog().pmu
    if recorded.switches.aic_metrics is not None:
        group = groups.group(recorded.switches.aic_metrics)
        if group is None or family not in group.families:
            return Counted(None)
        return Counted(group.name, names if group.name == CUSTOM else ())
    known = [group for group in groups.groups.values() if family in group.families]
    best = max(known, key=lambda group: _agreement(group, names))
    return Counted(best.name if _agreement(best, names) else None)


def _bare(name: str) -> str:
    """The name of a metric without its kind of core."""
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name


def _agreement(group: PmuGroup, names: tuple[str, ...]) -> float:
    """The share of the metrics of a group's fullest list that stand among the names."""
    metrics = text_catalog().pmu.metrics
    lower = {name.lower() for name in names}
    shown = [{metrics[one].shown.lower() for one in order.metrics} for order in group.orders]
    return max((len(one & lower) / len(one) for one in shown if one), default=0.0)
