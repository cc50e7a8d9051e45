"""Checks that no single SQL statement can make: of the schema, the file, sequences, folders.

Each is a function named in a rule's ``code``. It gets the session and the rule's instances and
yields faults; it never condemns on its own, since verdict and texts belong to the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....finding import Scalar
from ..places import Instance
from ..rules import DbRule

if TYPE_CHECKING:
    from ..session import Session


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule broken at a place, as a Python check found it.

    ``what`` starts the message: the fact, without blame. ``count`` is the number of bad rows, or
    1 for a fault of the schema or file.
    """

    rule: DbRule
    table: str | None
    column: str | None
    what: str
    expected: str | None = None
    count: int = 1
    first_rowid: int | None = None
    erratum: str | None = None
    context: Mapping[str, Scalar] = field(default_factory=dict)


Check = Callable[["Session", DbRule, Sequence[Instance]], Iterator[Fault]]


def registry() -> Mapping[str, Check]:
    """Every check by the name that rules use."""
    from . import enums, files, folder, schema

    return {
        **files.CHECKS,
        **schema.CHECKS,
        **enums.CHECKS,
        **folder.CHECKS,
    }
