"""Adds the reference pages to the site while it is built: none of them is a file in the repository.

The pages come from the spec, the rules and the command's own definitions, so they cannot differ
from what the checker does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from ascend_conformance.fixtures.support import support_page
from ascend_conformance.media import load_rules
from ascend_conformance.pages import demands, rule_pages, rule_targets
from ascend_conformance.schema.pages import change_rule_pages
from ascend_ref.cli.reference import command_page
from ascend_ref.tools.spec.lookup import subjects
from ascend_ref.tools.spec.site import ALONE, SiteStyle, spec_pages, spec_targets
from ascend_spec import Catalog, catalog

sys.path.append(str(Path(__file__).parent))  # mkdocs reads this file as one of no package.
from statements import statements_page

ROOT = Path(__file__).parents[1]
EVIDENCE = (
    "index",
    "db-schema",
    "text-outputs",
    "bin-blocks",
    "consumers",
    "raw-prof",
    "mindspore-profiler",
    "mindspore-present",
    "ge-profiling",
)

STATEMENTS = (
    ("statements.md", "002", "Statements about MindSpore's profiler"),
    ("statements-ge.md", "003", "Statements about the graph engine's profiling"),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add every generated page, and lay out the navigation over them."""
    facts = catalog()
    pages = generated_pages(facts)
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    config.nav = navigation(facts, pages)
    return files


def generated_pages(facts: Catalog) -> dict[str, str]:
    """Path below the site's root to Markdown."""
    rules = load_rules()
    targets = {**spec_targets(), **rule_targets(rules.values())}
    style = SiteStyle(depth=1, targets=targets)
    pages = {**spec_pages(targets), **rule_pages(rules, targets), **change_rule_pages(targets)}
    found = demands(rules.values(), style)
    alone = {one.page: one.address for one in subjects().values() if one.kind in (*ALONE, "table")}
    for path, address in alone.items():
        pages[path] += f"\n{found.get(address, '')}"
    pages["timeline/index.md"] += f"\n{found['timeline/timeline']}"
    for address, text in found.items():
        kind, _, name = address.partition("/")
        if kind == "document":
            pages["timeline/documents.md"] += f"\n{text.replace('hold', f'hold of {name}.json', 1)}"
    pages["command.md"] = command_page()
    pages["support.md"] = support_page(SiteStyle(depth=0, targets=targets))
    for path, document, title in STATEMENTS:
        pages[path] = statements_page(document, title)
    for name in ("CONTRIBUTING", "CHANGELOG"):
        pages[f"{name.lower()}.md"] = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    return pages


def navigation(facts: Catalog, pages: dict[str, str]) -> list[Any]:
    """Tasks first, then the reference, tables by the database that holds them, blocks by code."""
    msprof, pytorch, analysis = (
        [f"tables/{name}.md" for name in _tables_first_held_by(facts, carrier)]
        for carrier in ("msprof", "pytorch", "analysis")
    )
    return [
        {
            "Guide": [
                "index.md",
                "check.md",
                "schema.md",
                "migrate.md",
                "conform.md",
                "lookup.md",
                "drafts.md",
                "simulate.md",
                "fixtures.md",
                "support.md",
                "operators.md",
                "raw.md",
                "mindspore.md",
                "ge.md",
                "write.md",
                "by-hand.md",
                "texts.md",
                "command.md",
                "glossary.md",
                "architecture.md",
                "contributing.md",
                "changelog.md",
            ]
        },
        {
            "Tables": [
                "tables/index.md",
                {"msprof": msprof},
                {"pytorch only": pytorch},
                {"analysis.db": analysis},
            ]
        },
        {"Enums": _section("enums", pages)},
        {"Blocks": [path for path in pages if path.startswith("blocks/")]},
        {"CSV files": _section("csv", pages)},
        {"Timelines": _section("timeline", pages)},
        {"API": _section("api", pages)},
        {"Raw files": _section("raw", pages)},
        {
            "MindSpore": [
                path
                for folder in ("mindspore", "intermediate", "analyser", "rest")
                for path in _section(folder, pages)
            ]
            + ["statements.md"]
        },
        {"Graph engine": [*_section("ge", pages), "statements-ge.md"]},
        {"Recording": _section("recording", pages)},
        {"Rules": _section("rules", pages)},
        {"Rules of changes": _section("changes", pages)},
        {
            "Facts": [
                "errata.md",
                "revisions.md",
                "value-types.md",
                "switches.md",
                "products.md",
                "capabilities.md",
                "data.md",
                "levels.md",
                "carriers.md",
                "cluster.md",
                "layout.md",
                "exchange.md",
                "vocabularies.md",
                "additions.md",
                "sources.md",
            ]
        },
        {"Evidence": [f"evidence/{name}.md" for name in EVIDENCE]},
    ]


def _tables_first_held_by(facts: Catalog, carrier: str) -> list[str]:
    return sorted(
        table.name
        for table in facts.tables.values()
        if next(iter(sorted(table.carriers))) == carrier and table.name not in facts.enums
    )


def _section(folder: str, pages: dict[str, str]) -> list[str]:
    return sorted(
        (path for path in pages if path.startswith(f"{folder}/")),
        key=lambda path: (not path.endswith("/index.md"), path),
    )
