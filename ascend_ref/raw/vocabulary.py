"""Sets of values of the spec by name and by number."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_spec import ge_catalog, per_spec, raw_catalog


@per_spec
def named(values: str) -> Mapping[int, str]:
    """What exporters call the numbers of a set."""
    return {
        one.value: one.label or one.name or one.summary
        for one in raw_catalog().vocabularies[values].members
        if isinstance(one.value, int)
    }


@per_spec
def numbered(values: str) -> Mapping[str, int]:
    """The number of each name of a set; of several the first."""
    found: dict[str, int] = {}
    for number, name in named(values).items():
        found.setdefault(name, number)
    return found


@per_spec
def enumerated_calls(level: int) -> Mapping[str, int]:
    """The numbers of calls of a layer that the graph engine's enumerations have, by name."""
    every = ge_catalog().enumerated
    return {name: value for (of, value), name in every.items() if of == level}


def names_of(values: str) -> tuple[str, ...]:
    """The names of a set that numbers from 0 on have."""
    every = named(values)
    return tuple(every[number] for number in range(len(every)))


@per_spec
def level(name: str) -> int:
    """The number of a layer by what source code calls it; ``KeyError`` for an unknown one."""
    found = {one.name: one.value for one in raw_catalog().vocabularies["levels"].members}
    return int(found[name])


@per_spec
def numbered_pairs() -> int:
    """How many pairs of points of a kind have tags of their own: those of the next kind follow."""
    tags = numbered("step_tags")
    return (tags["get-next"] - tags["all-reduce"]) // 2
