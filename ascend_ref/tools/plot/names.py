"""Operators by their type, where a deliverable has only their names."""

from __future__ import annotations

import re
from typing import Final

UNKNOWN: Final = ("", "N/A")

_COLLECTIVE: Final = re.compile(r"hcom_([A-Za-z]+)_")
_NODE: Final = re.compile(r"(?:.*/)?([^/]+?)-op\d+(?:_\d+)?")
_ACLNN: Final = re.compile(r"aclnn.*_([A-Za-z]\w*?)", re.DOTALL)


def operator_type(name: str) -> str:
    """The type in the name of an operator, else the name itself.

    ``hcom_allReduce__586_3_1`` and ``hcom_allReduce_`` are of the type ``allReduce`` (db-schema.md
    7.5), ``Default/network/MatMul-op12`` of ``MatMul``, ``aclnnAdd_AddAiCore_Add`` of ``Add``.
    """
    for pattern in (_COLLECTIVE, _NODE, _ACLNN):
        found = pattern.match(name) if pattern is _COLLECTIVE else pattern.fullmatch(name)
        if found:
            return found[1]
    return name
