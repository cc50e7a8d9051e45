"""Rules as Markdown pages: the same text for the site and for ``explain``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import yaml

from ascend_ref.markdown import PLAIN, Kind, Style, code, facts, page, table
from ascend_ref.tools.spec.pages import citations, in_force, place_link
from ascend_ref.tools.spec.site import SiteStyle, Targets
from ascend_spec import Catalog
from ascend_spec.db.model import CARRIERS

from .engine.relations import pages as relation_pages
from .engine.relations.rule import Relation
from .media.api.rules import ApiRule
from .media.bin import pages as bin_pages
from .media.bin.rules import BinRule
from .media.db.places import instances
from .media.text import pages as text_pages
from .media.text.rules import TextRule
from .ruleset import Rule

PLACES = {
    "file": "the file",
    "always-table": "every table that a database always holds",
    "optional-table": "every table that a database may lack",
    "one-row-table": "every table of exactly one row",
    "key-column": "every primary key",
    "plain-column": "every column but primary keys",
    "typed-column": "every column but primary keys",
    "never-null-column": "every column that is never NULL",
    "minimum-column": "every column with a least value",
    "maximum-column": "every column with a greatest value",
    "real-column": "every column of floating point numbers",
    "text-column": "every column of texts",
    "string-reference": "every reference into STRING_IDS",
    "enum-reference": "every reference into an enum table",
    "row-reference": "every reference to a row of another table",
    "soft-reference": "every reference that may lead nowhere",
    "member-column": "every column with a closed set of texts",
    "interval": "every table of intervals",
    "hard-interval": "every table of intervals in which none starts before the session",
    "time-text-column": "every column of times written as text",
    "sample": "every sampled table",
    "hard-sample": "every sampled table without a sample before the session",
    "other-table": "every table of another revision or database",
    "other-column": "every column of another revision",
    "foreign-table": "every table that another program adds",
    "foreign-column": "every column that another program adds",
}
"""The place selectors in words, where the name alone does not say it."""


THE_FINDING = "what the finding states"
"""Stands for the expectation that only a finding can tell."""


def rule_page(catalog: Catalog, rule: Rule, style: Style = PLAIN) -> str:
    """One rule: what it finds, why that matters, how to mend it, and the SQL on both sides."""
    carriers = " and ".join(rule.carriers)
    return page(
        f"# {rule.id} {rule.name}",
        style.prose(rule.summary),
        facts(
            (
                ("Verdict", rule.verdict),
                ("Grade", rule.grade),
                ("Where", _places(rule, style)),
                ("Databases", carriers),
                ("In force", in_force(rule.since, rule.until)),
                ("Expected", style.prose(rule.expected.replace("{expected}", THE_FINDING))),
                ("Reads", _reads(rule, style)),
                ("Erratum", style.link("erratum", rule.erratum) if rule.erratum else ""),
                ("Invariant", rule.invariant or ""),
                ("Source", citations(catalog, rule.source, style)),
            )
        ),
        "## Why",
        style.prose(rule.why),
        "## Fix",
        style.prose(rule.fix),
        "## Example",
        style.prose(rule.example),
        "## How it is found",
        _search(rule),
        *_mutation(rule),
    )


def rules_index(rules: Iterable[Rule], style: Style = PLAIN) -> str:
    """Every rule with its verdict and what it finds."""
    rows = (
        (style.link("rule", rule.id), rule.name, rule.verdict, style.prose(rule.summary))
        for rule in rules
    )
    return page("# Rules", table(("rule", "name", "verdict", "what it finds"), rows))


def rule_targets(rules: Iterable[Rule]) -> dict[tuple[Kind, str], str]:
    """Where on the site each rule is explained."""
    return {("rule", rule.id): f"rules/{rule.id}.md" for rule in rules}


def rule_pages(catalog: Catalog, rules: Mapping[str, Rule], targets: Targets) -> dict[str, str]:
    """The rules' pages by their path below the site's root."""
    style = SiteStyle(depth=1, targets=targets)
    return {
        "rules/index.md": rules_index(rules.values(), style),
        **{f"rules/{rule.id}.md": rule_page(catalog, rule, style) for rule in rules.values()},
    }


def rules_by_table(catalog: Catalog, rules: Iterable[Rule]) -> dict[str, list[str]]:
    """Ids of the rules that look at each table, at any revision and in any carrier."""
    found: dict[str, dict[str, None]] = {}
    schemas = [
        catalog.at(revision.id, carrier) for revision in catalog.revisions for carrier in CARRIERS
    ]
    for rule in rules:
        for schema in schemas if rule.format == "db" else ():
            for instance in instances(rule, schema, catalog):
                looked_at = {use.partition(".")[0]: None for use in instance.uses}
                for name in (instance.table, *looked_at):
                    if name and name in catalog.tables:
                        found.setdefault(name, {})[rule.id] = None
    return {name: list(identifiers) for name, identifiers in found.items()}


def _places(rule: Rule, style: Style) -> str:
    if isinstance(rule, BinRule):
        return bin_pages.where(rule)
    if isinstance(rule, TextRule):
        return text_pages.where(rule)
    if isinstance(rule, Relation):
        return relation_pages.where(rule)
    if isinstance(rule, ApiRule):
        return "the answers of a server, by ascend-ref probe"
    if isinstance(rule.places, str):
        return PLACES.get(rule.places, f"every {rule.places.replace('-', ' ')}")
    named = (
        ".".join(filter(None, (place.get("table"), place.get("column") or rule.column)))
        for place in rule.places
    )
    return ", ".join(place_link(style, name) for name in dict.fromkeys(named) if name)


def _reads(rule: Rule, style: Style) -> str:
    if isinstance(rule, Relation):
        return relation_pages.reads(rule, style)
    return ", ".join(_use(name, style) for name in rule.uses)


def _use(name: str, style: Style) -> str:
    return code(name) if "{" in name else place_link(style, name)


def _search(rule: Rule) -> str:
    if isinstance(rule, BinRule):
        return bin_pages.search(rule)
    if isinstance(rule, TextRule):
        return text_pages.search(rule)
    if isinstance(rule, Relation):
        return relation_pages.search(rule)
    if isinstance(rule, ApiRule):
        return f"The probe compares what came with what is due, and notices: {code(rule.finds)}."
    return _database_search(rule)


def _database_search(rule: Rule) -> str:
    if rule.row:
        return f"A row is bad where this holds:\n\n{_sql(rule.row)}"
    if rule.select:
        return f"Each row of this query is a bad one:\n\n{_sql(rule.select)}"
    return f"By the check {code(rule.code)} of the checker itself."


def _mutation(rule: Rule) -> tuple[str, ...]:
    if isinstance(rule, BinRule):
        return tuple(bin_pages.mutation(rule))
    if isinstance(rule, TextRule):
        return tuple(text_pages.mutation(rule))
    if isinstance(rule, Relation):
        return tuple(relation_pages.mutation(rule))
    if isinstance(rule, ApiRule):
        return tuple(_server_mutation(rule))
    if not rule.breaks:
        return ()
    return (
        "## How the self-test breaks it",
        "On a clean profile these statements wake this rule and no other:",
        _sql(";\n".join(statement.strip().rstrip(";") for statement in rule.breaks) + ";"),
    )


def _server_mutation(rule: ApiRule) -> Iterator[str]:
    if rule.breaks:
        yield "## How the tests break it"
        yield "In what a sound server sends, each of these changes wakes this rule and no other:"
        yield f"```yaml\n{yaml.safe_dump([dict(edit) for edit in rule.breaks], sort_keys=False)}```"


def _sql(text: str) -> str:
    return f"```sql\n{text.strip()}\n```"
