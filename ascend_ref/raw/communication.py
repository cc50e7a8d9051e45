"""What exporters make of records of communication: names of collectives, and what is missing.

HCCL calls collectives by their kind; exporters number them within their group.
"""

from __future__ import annotations

import re

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import catalog

from .vocabulary import numbered

_NUMBERED = re.compile(
    r"(?P<item>.+)_(?P<group>[0-9]{1,3})_(?P<index>[0-9]+)_(?P<iteration>[0-9]+)"
)
_SUFFIX = 3
NOT_COLLECTED = 65_534
"""What enums of databases hold of a task without a record (db-schema 4.4)."""

_NO_TYPE = "INVALID_TYPE"
FIRST_ITERATION = 1
"""Iteration of everything where no step is recorded."""


def exported_name(item: str, group: int, index: int, iteration: int = FIRST_ITERATION) -> str:
    """The name that exporters give (raw-prof 5).

    item: what HCCL calls the operator. group: hash of its group. index: its place among those of
    the group, from 0.
    """
    return f"{item}_{str(group)[-_SUFFIX:]}_{index}_{iteration}"


def item_of(name: str) -> str | None:
    """What HCCL calls the operator of an exporter's name; ``None`` for a name of another form."""
    found = _NUMBERED.fullmatch(name)
    return found["item"] if found else None


def kind_of(op_type: str) -> str:
    """``allReduce`` of ``hcom_allReduce_``; any other type is its own kind."""
    found = re.fullmatch(r"hcom_(.+)_", op_type)
    return found[1] if found else op_type


def type_of(kind: str) -> str:
    """The other way round."""
    return f"hcom_{kind}_"


def recorded_types(values: Integers) -> Integers:
    """Numbers of ENUM_HCCL_DATA_TYPE and its like as records of tasks have them."""
    return np.where(values == no_type(), numbered("hccl_no_type")[_NO_TYPE], values)


def enum_types(recorded: Integers) -> Integers:
    """The reverse of :func:`recorded_types`."""
    return np.where(recorded == numbered("hccl_no_type")[_NO_TYPE], no_type(), recorded)


def no_type() -> int:
    """What databases hold for no type, which is the same in each enumeration of communication."""
    members = catalog().enums["ENUM_HCCL_DATA_TYPE"].members
    return next(int(one.id) for one in members if one.name == _NO_TYPE)
