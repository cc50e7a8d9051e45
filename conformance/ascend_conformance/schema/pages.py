"""Rules of changes as Markdown pages: the same text for the site and for ``explain``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import yaml

from ascend_ref.markdown import PLAIN, Style, code, fenced, page, table
from ascend_ref.tools.spec.pages import citations
from ascend_ref.tools.spec.site import SiteStyle, Targets
from ascend_ref.tools.spec.subject import Subject, grouped

from .rule import BREAKS, ChangeRule, change_rules


def change_rule_page(rule: ChangeRule, style: Style = PLAIN) -> str:
    """One rule: what it names, whom that breaks and why, which bump it needs, and an example."""
    example = rule.example
    rows = [(code(example.address), example.place, example.before, example.after)]
    return style.page(
        f"{rule.id} {rule.name}",
        rule.summary,
        ("Breaks", rule.breaks),
        ("Bump", rule.bump),
        ("Grade", rule.grade),
        ("About", ", ".join(map(code, rule.of))),
        ("Source", citations(rule.source, style)),
        style.part("Why"),
        style.prose(f"{rule.why} {BREAKS[rule.breaks]}"),
        style.part("Fix"),
        style.prose(rule.fix),
        style.part("Example"),
        table(("address", "place", "before", "after"), rows),
        "An edit of the spec that makes this change:",
        fenced("yaml", _yaml(rule.edit)),
        "The nearest edit that does not:",
        fenced("yaml", _yaml(rule.keep)),
    )


def change_rules_index(rules: Iterable[ChangeRule], style: Style = PLAIN) -> str:
    """Every rule with whom it breaks, which bump it needs and what it names."""
    rows = (
        (
            style.link("change-rule", one.id),
            one.name,
            one.breaks,
            one.bump,
            style.prose(one.summary),
        )
        for one in rules
    )
    return page(
        "# Rules of changes",
        "`ascend-ref diff spec` names each change between two states of the formats by one of "
        "them.",
        table(("rule", "name", "breaks", "bump", "what it names"), rows),
    )


def change_rule_pages(targets: Targets) -> dict[str, str]:
    """The pages by their path below the site's root."""
    style = SiteStyle(depth=1, targets=targets)
    rules = change_rules()
    pages = {"changes/index.md": change_rules_index(rules.values(), style)}
    for theme, family in grouped(rules.values(), lambda rule: rule.theme).items():
        of_theme = (change_rule_page(rule, style.below()) for rule in family)
        pages[f"changes/{theme}.md"] = page(f"# Changes of {theme}", *of_theme)
    return pages


def change_rule_subjects() -> Iterator[Subject]:
    """Every rule of changes: ``change-rule/CHG134``."""
    for rule in change_rules().values():
        yield Subject(
            kind="change-rule",
            name=rule.id,
            summary=rule.summary,
            page=rule.page,
            section=partial(change_rule_page, rule),
            fact=rule,
            also=(rule.name,),
            cells={"breaks": rule.breaks, "bump": rule.bump, "name": rule.name},
        )


def _yaml(edits: Iterable[Mapping[str, Any]]) -> str:
    return yaml.safe_dump([dict(one) for one in edits], sort_keys=False, width=90)
