"""How profiler_info spells the groups of core counters."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_spec import per_spec, text_catalog


@per_spec
def aic_metrics() -> Mapping[str | None, str]:
    """Options of the framework's profiler by the group that they count; ``None`` counts none."""
    found: dict[str | None, str] = {None: "ACL_AICORE_NONE"}
    for group in text_catalog().pmu.groups.values():
        found.update((group.name, name) for name in group.spelled if name.startswith("ACL_"))
    return found
