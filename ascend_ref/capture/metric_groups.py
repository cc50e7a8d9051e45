"""How profiler_info spells the groups of core counters."""

from __future__ import annotations

from collections.abc import Mapping

AIC_METRICS: Mapping[str | None, str] = {
    None: "ACL_AICORE_NONE",
    "PipeUtilization": "ACL_AICORE_PIPE_UTILIZATION",
    "ArithmeticUtilization": "ACL_AICORE_ARITHMETIC_UTILIZATION",
    "Memory": "ACL_AICORE_MEMORY_BANDWIDTH",
    "MemoryL0": "ACL_AICORE_L0B_AND_WIDTH",
    "MemoryUB": "ACL_AICORE_MEMORY_UB",
    "ResourceConflictRatio": "ACL_AICORE_RESOURCE_CONFLICT_RATIO",
    "L2Cache": "ACL_AICORE_L2_CACHE",
    "MemoryAccess": "ACL_AICORE_MEMORY_ACCESS",
}
"""Names of the metric groups in profiler_info (Ascend/pytorch, profiler constants)."""
