"""How MindSpore sorts communication operators (mindspore-present.md 2.6)."""

from __future__ import annotations

import re

from .communication_report import CLASSES

P2P, COLLECTIVE = CLASSES
WORDS = ("Send", "Receive")
"""Operators between two ranks have one of these in their names, so written."""
BETWEEN_RANKS = re.compile("receive|send")
KINDS = re.compile("invalid|broadcast|allreduce|reduce|allgather|reducescatter|scatter|alltoall")
"""The first that stands in a name is the kind of the operator: reduceScatter is a reduce."""


def class_of(operator: str) -> str:
    """Whether an operator is one between two ranks."""
    return P2P if any(word in operator for word in WORDS) else COLLECTIVE


def kind_of(operator: str) -> str:
    """The kind of an operator, of which links are chosen."""
    known = BETWEEN_RANKS if class_of(operator) == P2P else KINDS
    found = known.search(operator.lower())
    return found[0] if found else operator.lower().rpartition("/")[2].partition("-op")[0]
