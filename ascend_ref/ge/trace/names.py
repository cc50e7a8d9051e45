"""Names and numbers of the insertion, by what they are to it."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_ref.raw.vocabulary import numbered_pairs
from ascend_spec import ge_catalog, per_spec
from ascend_spec.db.model import Reading
from ascend_spec.ge import LogId


@per_spec
def names(role: str, reading: Reading) -> frozenset[str]:
    """The names of types or nodes that have a role in a reading."""
    return frozenset(
        one.name
        for one in ge_catalog().graph_names.values()
        if role in one.roles and reading in one.readings
    )


@per_spec
def mark(role: str) -> str:
    """The name of the attribute that has a role."""
    (name,) = (one.name for one in ge_catalog().graph_names.values() if role in one.roles)
    return name


@per_spec
def log_id(name: str) -> LogId:
    """A number that marks a point, by the name that the document gives it."""
    return ge_catalog().log_ids[name]


@per_spec
def _bounds() -> Mapping[str, tuple[int, int, int]]:
    """Each kind of numbers: the first, the last and the distance of two operators."""
    return {
        one.log_id: (
            one.value,
            one.value + (numbered_pairs() - 1) * one.step if one.step else one.value,
            one.step or 1,
        )
        for one in ge_catalog().log_ids.values()
    }


def name_of(number: int) -> str | None:
    """What the document calls a number, with the count of the operator; ``None`` for no point."""
    for name, (first, last, step) in _bounds().items():
        if first <= number <= last and (number - first) % step == 0:
            return name if number == first else f"{name} + {number - first}"
    return None
