"""Rules as Markdown pages: the same text for the site and for ``explain``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ascend_ref.markdown import PLAIN, Style, page, table
from ascend_ref.tools.spec.pages import citations, in_force
from ascend_ref.tools.spec.site import SiteStyle, Targets
from ascend_spec import Catalog
from ascend_spec.db.model import CARRIERS

from .media import medium_of
from .media.db.places import instances
from .ruleset import Rule

THE_FINDING = "what the finding states"
"""Stands for the expectation that only a finding can state."""


def rule_page(rule: Rule[Any], style: Style = PLAIN) -> str:
    """One rule: what it finds, why that matters, how to mend it, and the SQL on both sides."""
    described = medium_of(rule).describe(rule, style)
    return style.page(
        f"{rule.id} {rule.name}",
        rule.summary,
        ("Verdict", rule.verdict),
        ("Grade", rule.grade),
        ("Where", described.where),
        *described.facts,
        ("In force", in_force(rule.since, rule.until)),
        ("Expected", style.prose(rule.expected.replace("{expected}", THE_FINDING))),
        ("Erratum", style.link("erratum", rule.erratum) if rule.erratum else ""),
        ("Invariant", rule.invariant or ""),
        ("Source", citations(rule.source, style)),
        "## Why",
        style.prose(rule.why),
        "## Fix",
        style.prose(rule.fix),
        "## Example",
        style.prose(rule.example),
        "## How it is found",
        described.search,
        *described.mutation,
    )


def rules_index(rules: Iterable[Rule[Any]], style: Style = PLAIN) -> str:
    """Every rule with its verdict and what it finds."""
    rows = (
        (style.link("rule", rule.id), rule.name, rule.verdict, style.prose(rule.summary))
        for rule in rules
    )
    return page("# Rules", table(("rule", "name", "verdict", "what it finds"), rows))


def rule_targets(rules: Iterable[Rule[Any]]) -> dict[tuple[str, str], str]:
    """Where on the site each rule is explained."""
    return {("rule", rule.id): f"rules/{rule.id}.md" for rule in rules}


def rule_pages(rules: Mapping[str, Rule[Any]], targets: Targets) -> dict[str, str]:
    """The rules' pages by their path below the site's root."""
    style = SiteStyle(depth=1, targets=targets)
    return {
        "rules/index.md": rules_index(rules.values(), style),
        **{f"rules/{rule.id}.md": rule_page(rule, style) for rule in rules.values()},
    }


def rules_by_table(catalog: Catalog, rules: Iterable[Rule[Any]]) -> dict[str, list[str]]:
    """Ids of the rules that look at each table, at any revision and in any carrier."""
    found: dict[str, dict[str, None]] = {}
    schemas = [
        catalog.at(revision.id, carrier) for revision in catalog.revisions for carrier in CARRIERS
    ]
    for rule in rules:
        for schema in schemas if rule.medium == "db" else ():
            for instance in instances(rule, schema, catalog):
                looked_at = {use.partition(".")[0]: None for use in instance.uses}
                for name in (instance.table, *looked_at):
                    if name and name in catalog.tables:
                        found.setdefault(name, {})[rule.id] = None
    return {name: list(identifiers) for name, identifiers in found.items()}
