"""An estimate of how much a scenario writes, before anything of it is simulated.

The figures are orders of magnitude: they only distinguish an honest mistake (10^9 steps) from a
run that a machine can finish.
"""

from __future__ import annotations

from ..choices import ModelChoice, Scenario

MOST_ROWS = 2_000_000_000
MOST_ROWS_PER_RANK = 100_000_000
"""A rank is laid out in memory, at some hundred bytes for each row."""
BYTES_PER_ROW = 60

_HOST_ROWS = 8
"""Rows of calls, queue entries and their texts for each kernel that a host launches."""
_COUNTERS = 28
_COLLECTIVE_ROWS = 6
"""Small tasks of a collective for each rank of its group, on either side of TASK."""


def kernels_per_step(model: ModelChoice) -> int:
    """About how many kernels run on one device of the whole, unsplit model in one step."""
    match model.kind:
        case "dense-transformer":
            return (60 * model.layers + 60) * model.microbatches
        case "moe":
            return (90 * model.layers + 60) * model.microbatches
        case "llm-inference":
            return (25 * model.layers + 20) * (1 + model.generate)
        case "recommendation":
            return 12 * model.tables + 40 * model.layers + 60
        case "cnn":
            return 300
        case "single-operator":
            return 10


def rows_per_step(scenario: Scenario) -> int:
    """About how many rows one rank writes in one step."""
    capture, parallelism = scenario.capture, scenario.parallelism
    model = scenario.model
    kernels = max(kernels_per_step(model) // parallelism.pipeline, 1)
    per_kernel = 2
    if capture.cpu:
        per_kernel += _HOST_ROWS
    if capture.level and capture.aic_metrics and capture.aic_mode == "task-based":
        per_kernel += _COUNTERS
    per_dimension = 4 * model.layers * model.microbatches // parallelism.pipeline
    small = sum(
        _COLLECTIVE_ROWS * size * collectives
        for size, collectives in (
            (parallelism.data, 4),
            (parallelism.tensor, per_dimension),
            (parallelism.expert, per_dimension),
        )
        if size > 1
    )
    return kernels * per_kernel + small


def rows_per_rank(scenario: Scenario) -> int:
    """About how many rows one rank writes."""
    return rows_per_step(scenario) * scenario.schedule.active * scenario.schedule.repeat
