"""Performance counters of the compute tasks."""

from __future__ import annotations

from .world import FREQUENCY_MHZ, Row

AIC_PIPES = ("mac", "scalar", "mte1", "mte2", "fixpipe")
AIV_PIPES = ("vec", "mac", "scalar", "mte1", "mte2", "mte3")
AIV_IDLE_PIPES = ("mac", "mte1")
AIC_CORES = ("AI_CORE", "MIX_AIC")
AIV_CORES = ("AI_VECTOR_CORE", "MIX_AIV")


def metrics(task: Row, kernel: Row) -> dict[str, float]:
    """28 metrics of a task that uses cores, by name; times are ns. Empty for other tasks.

    Cycles over all blocks are whole; a time is cycles / (MHz x blocks), a ratio time / total.
    """
    blocks = kernel["blocks"]
    if not blocks:
        return {}
    cycles = (task["end"] - task["start"]) * FREQUENCY_MHZ * blocks * 17 // 20_000
    scale = 1000 / (FREQUENCY_MHZ * blocks)
    found: dict[str, float] = {}
    for prefix, cores, pipes, idle in (
        ("aic", AIC_CORES, AIC_PIPES, ()),
        ("aiv", AIV_CORES, AIV_PIPES, AIV_IDLE_PIPES),
    ):
        own_cycles = cycles if kernel["core"] in cores else 0
        total = own_cycles * scale
        found[f"{prefix}_total_time"] = total
        found[f"{prefix}_total_cycles"] = own_cycles
        for place, pipe in enumerate(pipes):
            share = 0 if pipe in idle else own_cycles * (place + 2) // 9
            time = share * scale
            found[f"{prefix}_{pipe}_time"] = time
            found[f"{prefix}_{pipe}_ratio"] = time / total if total else 0
        found[f"{prefix}_icache_miss_rate"] = 0.0625 if own_cycles else 0
    return found
