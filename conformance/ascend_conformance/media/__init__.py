"""Media: databases, text deliverables, blocks, a server's answers, and what others register."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint
from typing import Any, Protocol

from ascend_ref.tools.spec.style import Style

from ..engine.failure import own_rules
from ..ruleset import Rule


class Medium(Protocol):
    """What a medium supplies. Its modules are read when something is asked of them."""

    @property
    def name(self) -> str:
        """What its rules are called for (:attr:`.Rule.medium`)."""

    def rules(self) -> Mapping[str, Rule[Any]]:
        """Its rules by id."""

    def where(self, rule: Rule[Any], style: Style) -> str:
        """Where a rule looks, for its page."""

    def search(self, rule: Rule[Any]) -> str:
        """How a rule finds what is wrong, for its page."""

    def mutation(self, rule: Rule[Any]) -> Iterable[str]:
        """The paragraphs on how something clean is broken, for the rule's page."""

    def facts(self, rule: Rule[Any], style: Style) -> Iterable[tuple[str, str]]:
        """Further lines of the rule's page, each with its label."""


class _Checker:
    """What the checker says of itself, on whatever it judges."""

    name = "any"

    def rules(self) -> Mapping[str, Rule[Any]]:
        return own_rules()

    def where(self, _rule: Rule[Any], _style: Style) -> str:
        return "every file that is judged"

    def search(self, _rule: Rule[Any]) -> str:
        return "The checker failed, and went on with what is left."

    def mutation(self, _rule: Rule[Any]) -> Iterable[str]:
        return ()

    def facts(self, _rule: Rule[Any], _style: Style) -> Iterable[tuple[str, str]]:
        return ()


_OURS = ("db", "bin", "text", "api")
_CHECKER = _Checker()
_REGISTERED: dict[str, Medium] = {}


def register(medium: Medium) -> None:
    """Add a medium to those of this process. Raises ``ValueError`` for a name that is taken."""
    if medium.name in media():
        raise ValueError(f"there is a medium {medium.name} already")
    _REGISTERED[medium.name] = medium


def withdraw(medium: Medium) -> None:
    """Take a registered medium back."""
    del _REGISTERED[medium.name]


def media() -> Mapping[str, Medium]:
    """Every medium by its name."""
    return {**{name: _ours(name) for name in _OURS}, _CHECKER.name: _CHECKER, **_REGISTERED}


def medium_of(rule: Rule[Any]) -> Medium:
    """The medium that a rule judges."""
    return media()[rule.medium]


def _ours(name: str) -> Medium:
    found: Medium = EntryPoint(name, f"{__name__}.{name}.medium:MEDIUM", "media").load()
    return found


def load_rules() -> Mapping[str, Rule[Any]]:
    """Every rule by id, in the order of the ids, those on the checker itself included."""
    found: dict[str, Rule[Any]] = {}
    for medium in media().values():
        found |= medium.rules()
    return dict(sorted(found.items()))
