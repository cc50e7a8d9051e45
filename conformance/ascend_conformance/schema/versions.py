"""Whether the version of the databases admits the changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ascend_ref.states import State

from .bump import BUMPS, Bump, admits, declared_bump
from .change import Change, required_bump

NOT_ADMITTED = "CHG001"
NOT_STATED = "CHG002"
FAMILY = "db"
"""The only formats that state a version."""


def declared_between(old: State, new: State) -> Bump | None:
    """What SCHEMA_VERSION raises from one state to the other; ``None`` for states without one.

    Raises ``ValueError`` for a version that is not three numbers.
    """
    versions = old.schema_version, new.schema_version
    if versions[0] is None or versions[1] is None:
        return None
    return declared_bump(versions[0], versions[1])


def version_changes(old: State, new: State, changes: Iterable[Change]) -> Iterator[Change]:
    """That the version is not raised as the changes of the databases demand; at most one.

    Where something breaks that the version does not admit, what it does not state besides is not
    reported.
    """
    declared = declared_between(old, new)
    required = required_bump(one for one in changes if one.family == FAMILY)
    if declared is None or admits(declared, required):
        return
    rule = NOT_STATED if BUMPS.index(required) <= BUMPS.index("MICRO") else NOT_ADMITTED
    address = f"schema-version/{new.schema_version}"
    yield Change(rule, address, f"raises {declared}", f"{required} is demanded")
