"""Changes: the differences of two states of a spec, each under the rule that names it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ascend_ref.states import Found, State, differences_between, size_of

from .bump import BUMPS, Bump
from .rule import Breaks, ChangeRule, change_rules, rule_of

REWRITTEN = "CHG123"
"""More than half of the tables of a database are gone or have other names."""

GONE = frozenset(("CHG102", "CHG103", "CHG172", "CHG173"))
"""Tables that are removed or renamed."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the formats.

    ``address`` is the address of the thing that changed (``column/TASK.startNs``), as it is
    afterwards, of what was removed as it was; ``place`` where in it, if the place has no address of
    its own. ``before`` and ``after`` are texts, empty where there was or is nothing. ``carriers``:
    the databases that it concerns, of other families the writers, if there are several.
    ``family``: the folder of the spec that the formats stand in.
    """

    rule: str
    address: str
    before: str
    after: str
    place: str = ""
    carriers: tuple[str, ...] = ()
    family: str = "db"

    @property
    def named(self) -> ChangeRule:
        """The rule that names it."""
        return change_rules()[self.rule]

    @property
    def breaks(self) -> Breaks:
        """Who is broken by it."""
        return self.named.breaks

    @property
    def bump(self) -> Bump:
        """The part of a version that the documents' rule raises for it."""
        return self.named.bump

    def is_about(self, table: str, column: str | None = None) -> bool:
        """Whether it is about a table of a database as a whole, or about a column or a member of
        it: with a ``column`` about that one, or about the table. Names are those before or after.
        """
        name = self.address.partition("/")[2]
        owner, _, part = name.partition("." if self.address.startswith("column/") else "/")
        names = {part, self.before} if self.named.event == ("renamed",) else {part}
        if not part:
            return table in ({owner, self.before} if self.rule in GONE else {owner})
        return owner == table and (column is None or column in names)


def changes_between(old: State, new: State) -> list[Change]:
    """Every change from one state to another, family by family, in the order of the new one.

    Raises ``StateError`` for states of two axes, ``SpecError`` for documents that cannot be used.
    """
    changes = [named(one) for one in differences_between(old, new)]
    return [*_rewritten(old, changes), *changes]


def required_bump(changes: Iterable[Change]) -> Bump:
    """What the documents' rule for the version demands of changes together."""
    return max((one.bump for one in changes), key=BUMPS.index, default="none")


def named(found: Found) -> Change:
    """A difference under the rule that names it."""
    one = found.difference
    return Change(
        rule_of(one).id,
        one.element.address,
        one.before,
        one.after,
        one.element.place,
        found.scopes,
        found.family,
    )


def _rewritten(old: State, changes: Iterable[Change]) -> Iterator[Change]:
    """The databases of which more than half of the tables are gone."""
    gone = Counter(carrier for one in changes if one.rule in GONE for carrier in one.carriers)
    for carrier, lost in gone.items():
        count = size_of(old, carrier)
        if 2 * lost > count:
            left = f"{count - lost} of them"
            yield Change(REWRITTEN, f"carrier/{carrier}", f"{count} tables", left, "", (carrier,))
