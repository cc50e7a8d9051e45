"""Checks that no single SQL statement can make: of the schema, the file, folders.

Each is a function named in a rule's ``code``. It gets the session and the rule's instances and
yields faults; it never condemns on its own, since verdict and texts belong to the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from ....finding import Finding, Scalar
from ..places import Instance
from ..rules import DbRule

if TYPE_CHECKING:
    from ..session import Session


@dataclass(frozen=True, slots=True)
class Fault:
    """A place at which a Python check found its rule broken.

    ``what`` starts the message: the fact, without blame. ``count`` is the number of bad rows, or
    1 for a fault of the schema or file.
    """

    what: str
    table: str | None = None
    column: str | None = None
    expected: str | None = None
    count: int = 1
    first_rowid: int | None = None
    erratum: str | None = None
    context: Mapping[str, Scalar] = field(default_factory=dict)

    def finding(self, rule: DbRule, file: str) -> Finding:
        """The finding that this stands for."""
        first = f" (first: rowid {self.first_rowid})" if self.first_rowid else ""
        found = rule.finding(file, self.what + first)
        return replace(
            found,
            expected=self.expected or found.expected,
            table=self.table,
            column=self.column,
            count=self.count,
            first_rowid=self.first_rowid,
            context={"count": self.count, "first_rowid": self.first_rowid, **self.context},
            erratum=self.erratum or found.erratum,
        )


Places: TypeAlias = Sequence[Instance]
Check: TypeAlias = "Callable[[Session, Places], Iterator[Fault]]"


def registry() -> Mapping[str, Check]:
    """Every check by the name that rules use."""
    from . import configured, enums, files, folder, schema, task_numbers

    return {
        **files.CHECKS,
        **schema.CHECKS,
        **enums.CHECKS,
        **folder.CHECKS,
        **configured.CHECKS,
        **task_numbers.CHECKS,
    }
