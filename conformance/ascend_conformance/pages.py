"""Rules as Markdown pages: the same text for the site and for ``explain``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ascend_ref.markdown import PLAIN, Style, page, table
from ascend_ref.tools.spec.pages import citations, in_force
from ascend_ref.tools.spec.site import SiteStyle, Targets
from ascend_ref.tools.spec.subject import grouped

from .ledger import ledger, ledger_page
from .media import medium_of
from .ruleset import Rule

THE_FINDING = "what the finding states"
"""Stands for the expectation that only a finding can state."""

MANY = 24
"""A rule about more things than these says nothing about any of them."""


def rule_page(rule: Rule[Any], style: Style = PLAIN) -> str:
    """One rule: what it finds, why that matters, how to mend it, and the SQL on both sides."""
    described = medium_of(rule).describe(rule, style)
    return style.page(
        f"{rule.id} {rule.name}",
        rule.summary,
        ("Verdict", _verdict(rule)),
        ("Grade", rule.grade),
        ("Where", described.where),
        *described.facts,
        ("In force", in_force(rule.since, rule.until)),
        ("Expected", style.prose(rule.expected.replace("{expected}", THE_FINDING))),
        ("Erratum", style.link("erratum", rule.erratum) if rule.erratum else ""),
        ("Invariant", rule.invariant or ""),
        ("Source", citations(rule.source, style)),
        style.part("Why"),
        style.prose(rule.why),
        style.part("Fix"),
        style.prose(rule.fix),
        style.part("Example"),
        style.prose(rule.example),
        style.part("How it is found"),
        described.search,
        *described.mutation,
    )


def _verdict(rule: Rule[Any]) -> str:
    if rule.systematic is None:
        return rule.verdict
    return f"{rule.verdict}; violation from {rule.systematic:.0%} of the rows on"


def rules_index(rules: Iterable[Rule[Any]], style: Style = PLAIN) -> str:
    """Every rule with its verdict and what it finds, those of a medium together."""
    headers = ("rule", "name", "verdict", "what it finds")
    sections = []
    for title, family in grouped(rules, _medium_title).items():
        rows = (
            (style.link("rule", rule.id), rule.name, rule.verdict, style.prose(rule.summary))
            for rule in family
        )
        sections += [f"## {title}", table(headers, rows)]
    held = "What each of them is held to stands in the [ledger](ledger.md)."
    return page("# Rules", held, *sections)


def _medium_title(rule: Rule[Any]) -> str:
    medium = medium_of(rule)
    return medium.title or medium.name


def rule_targets(rules: Iterable[Rule[Any]]) -> dict[tuple[str, str], str]:
    """Where on the site each rule is explained."""
    return {("rule", rule.id): rule.page for rule in rules}


def rule_pages(rules: Mapping[str, Rule[Any]], targets: Targets) -> dict[str, str]:
    """The rules' pages by their path below the site's root."""
    style = SiteStyle(depth=1, targets=targets)
    pages = {
        "rules/index.md": rules_index(rules.values(), style),
        "rules/ledger.md": ledger_page(ledger(), style),
    }
    by_path = grouped(rules.values(), lambda rule: rule.page.partition("#")[0])
    for path, family in by_path.items():
        title = f"{_medium_title(family[0])}: {family[0].theme.replace('_', ' ')}"
        pages[path] = page(f"# {title}", *(rule_page(rule, style.below()) for rule in family))
    return pages


def rule_families(rules: Iterable[Rule[Any]]) -> dict[str, dict[str, str]]:
    """By medium, in words, and by theme the path of the page of its rules."""
    found: dict[str, dict[str, str]] = {}
    for rule in rules:
        theme = rule.theme.replace("_", " ").capitalize()
        found.setdefault(_medium_title(rule), {})[theme] = rule.page.partition("#")[0]
    return {medium: dict(sorted(found[medium].items())) for medium in sorted(found, key=str.lower)}


def demands(rules: Iterable[Rule[Any]], style: Style = PLAIN) -> dict[str, str]:
    """The section of each thing's page on what the rules demand of it, by its address.

    Left out are rules that only follow a page column by column, and those about many things.
    """
    found: dict[str, list[Sequence[str]]] = {}
    for rule in rules:
        expected: dict[str, dict[str, None]] = {}
        for address, text in () if rule.structural else medium_of(rule).about(rule):
            expected.setdefault(address, {})[text.replace("{expected}", THE_FINDING)] = None
        for address, texts in expected.items() if len(expected) <= MANY else ():
            found.setdefault(address, []).append(
                (
                    style.link("rule", rule.id),
                    _verdict(rule),
                    style.prose(rule.summary),
                    style.prose("; ".join(texts)),
                    style.prose(rule.fix),
                )
            )
    headers = ("rule", "verdict", "what it finds", "what it expects", "how to be right")
    return {
        address: page("## What must hold", table(headers, rows)) for address, rows in found.items()
    }
