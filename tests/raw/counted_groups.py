"""The products that raw files are simulated for, and the groups of counters that each has."""

from __future__ import annotations

from ascend_spec import text_catalog

PRESETS = {
    "A2": "dense-8",
    "200I-500-A2": "edge-310b",
    "910A": "cnn-910a",
    "310P": "inference-310p",
    "950": "950-dense",
}
"""By product one of its presets."""
GROUPS = [
    (product, group.name)
    for product in PRESETS
    for group in text_catalog().pmu.groups.values()
    if product in group.families and group.programmed
]
