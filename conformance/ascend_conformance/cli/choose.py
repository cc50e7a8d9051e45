"""Rules named on the command line: by ids, beginnings of ids, or names, in any capitals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from ascend_ref.cli.options import separated
from ascend_ref.cli.suggest import unknown

from ..media import load_rules
from ..ruleset import Rule, Selection


class RulePatterns(click.ParamType[str]):
    """Ids of rules, beginnings of ids (DB2) or names, separated by commas."""

    name = "rules"

    def __init__(self, rules: Callable[[], Mapping[str, Rule[Any]]] = load_rules) -> None:
        self.rules = rules

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The rules whose ids begin like the last of them."""
        before, comma, last = incomplete.rpartition(",")
        return [
            CompletionItem(f"{before}{comma}{rule.id}", help=rule.name)
            for rule in self.rules().values()
            if rule.id.startswith(last.upper())
        ]


AnyVerb = TypeVar("AnyVerb", bound=Callable[..., Any])


def selecting(
    what: str, beginning: str, rules: Callable[[], Mapping[str, Rule[Any]]] = load_rules
) -> Callable[[AnyVerb], AnyVerb]:
    """The options ``--select`` and ``--ignore``. what: the rules in words; beginning: of an id."""
    words = (
        f"Only these {what}: ids, beginnings of ids ({beginning}) or names, separated by commas."
    )
    metavar, kind = "RULES", RulePatterns(rules)

    def add(verb: AnyVerb) -> AnyVerb:
        for name, shown in (("--ignore", "Leave these rules out."), ("--select", words)):
            verb = click.option(name, type=kind, multiple=True, metavar=metavar, help=shown)(verb)
        return verb

    return add


def patterns(
    texts: Iterable[str], rules: Callable[[], Mapping[str, Rule[Any]]] = load_rules
) -> tuple[str, ...]:
    """The patterns in comma-separated texts, spelled as the rules are.

    Each must fit a rule, so that no typo hides: else ``click.UsageError``.
    """
    return tuple(_spelled(one, rules().values()) for one in separated(texts))


def _spelled(pattern: str, known: Collection[Rule[Any]]) -> str:
    for text in (pattern.upper(), pattern.lower()):
        if any(map(Selection((text,)).wants, known)):
            return text
    names = [name for rule in known for name in (rule.id, rule.name)]
    raise click.UsageError(f"{unknown('rule', pattern, names)}; all: ascend-ref rules")


def rule_of(name: str) -> Rule[Any]:
    """The rule of an id or a name. Raises ``click.UsageError``."""
    rules = load_rules()
    found = next(
        (one for one in rules.values() if name.upper() == one.id or name == one.name), None
    )
    if found is None:
        names = [text for one in rules.values() for text in (one.id, one.name)]
        raise click.UsageError(f"{unknown('rule', name, names)}; all: ascend-ref rules")
    return found
