"""ClusterStepTraceTime: the times of each step of each rank, and the longest of each stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from .communication import constant, summed
from .groups import set_of
from .ranks import RANK, Rank, durations, fact_of_any, joined

ARGUMENTS = "distributed_args"
PLACES = ("dp_index", "pp_index", "tp_index")
NO_PLACE = "NA"


def steps(ranks: Sequence[Rank], found: Sequence[tuple[int, ...]]) -> pa.Table:
    """A row for each row of StepTraceTime; ``found``: the stages, with a row for each step."""
    single = joined(ranks, "StepTraceTime")
    stage_of = {rank: set_of(stage) for stage in found for rank in stage}
    stage = pa.array([stage_of.get(rank) for rank in single[RANK].to_pylist()], pa.string())
    staged = single.append_column("index", stage).filter(stage.is_valid())
    longest = summed(staged, ["step", "index"], dict.fromkeys(durations("StepTraceTime"), "max"))
    places = places_of(fact_of_any(ranks, ARGUMENTS), [rank.number for rank in ranks])
    for number, name in enumerate(PLACES):
        own = [places[rank][number] if places else "0" for rank in single[RANK].to_pylist()]
        single = single.append_column(name, pa.array(own, pa.string()))
        longest = longest.append_column(name, constant(longest, NO_PLACE if places else "0"))
    single = single.append_column("index", single[RANK].cast(pa.string()))
    single = single.append_column("type", constant(single, "rank"))
    longest = longest.append_column("type", constant(longest, "stage"))
    return pa.concat_tables([single.select(longest.column_names), longest])


def places_of(
    arguments: Mapping[str, Any], numbers: Sequence[int]
) -> dict[int, tuple[str, str, str]]:
    """Data, pipeline and tensor index of each rank, nothing where the sizes do not fit.

    Ranks of one tensor group follow one another, then those of one data-parallel group, then the
    stages. Source: the parallel algorithm of msprof-analyze, which is that of Megatron.
    """
    tensor, pipeline, data = (
        arguments.get(f"{name}_parallel_size", 1) or 1
        for name in ("tensor_model", "pipeline_model", "data")
    )
    world = arguments.get("world_size")
    sizes = (tensor, pipeline, data, world)
    if not all(isinstance(one, int) and one > 0 for one in sizes):
        return {}
    if world != tensor * pipeline * data or len(numbers) > world:
        return {}
    found = {}
    for rank in numbers:
        places = rank // tensor % data, rank // (tensor * data), rank % tensor
        known = 0 <= rank < world
        dp, pp, tp = map(str, places) if known else [NO_PLACE] * len(PLACES)
        found[rank] = dp, pp, tp
    return found
