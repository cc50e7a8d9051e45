"""Adds the reference pages to the site while it is built: none of them is a file in the repository.

The pages come from the spec, the rules and the command's own definitions, so they cannot differ
from what the checker does.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from ascend_conformance.fixtures.support import support_page
from ascend_conformance.media import load_rules
from ascend_conformance.pages import demands, rule_families, rule_pages, rule_targets
from ascend_conformance.schema.pages import change_rule_pages
from ascend_ref.cli.reference import command_page
from ascend_ref.tools.spec.lookup import of_kinds, subjects
from ascend_ref.tools.spec.site import ALONE, SiteStyle, spec_pages, spec_targets
from ascend_ref.tools.spec.subject import grouped
from ascend_spec import Catalog, catalog, recording_catalog

sys.path.append(str(Path(__file__).parent))  # mkdocs reads this file as one of no package.
from statements import statements_page

ROOT = Path(__file__).parents[1]
_REMARKS = re.compile(r'<h2 id="(what-must-hold|where-sources-disagree)"')
_QUERY = re.compile(r'<div class="highlight"')
_COLOURED = re.compile(r"```(sql|yaml)\n")
_LISTED = "---\nsearch:\n  exclude: true\n---\n"
_UNSEARCHED = r"\g<0> data-search-exclude"
_INDENTATION = re.compile(r"\n\s+")
LISTS_OF_RULES = ("rules/index.md", "rules/ledger.md", "changes/index.md")
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

LARGEST = 40_000_000
"""Bytes of the whole site."""

NEVER_READ = (".map", "tinyseg.js", "wordcut.js")
"""Files of the theme for debugging it, and for searching in languages that have no spaces."""

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
    return Files([one for one in files if not one.src_uri.endswith(NEVER_READ)])


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """Keep the theme's templates from leaving a blank line for each of their statements."""
    env.trim_blocks = env.lstrip_blocks = True
    return env


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave out of the search what is found elsewhere: remarks on rules and errata, and the queries
    of rules, since people look for what they are about.
    """
    marked = _REMARKS.sub(_UNSEARCHED, html)
    of_rules = page.file.src_uri.startswith(("rules/", "changes/"))
    return _QUERY.sub(_UNSEARCHED, marked) if of_rules else marked


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Take the indentation out of the theme's part of a page, which is the most of small ones."""
    before, article, rest = output.partition("<article")
    content, end, after = rest.rpartition("</article>")
    return "".join(
        (_INDENTATION.sub("\n", before), article, content, end, _INDENTATION.sub("\n", after))
    )


@event_priority(-50)
def _shorten_index(config: MkDocsConfig) -> None:
    """Take the marks of code out of the search index, before it is written for a disk as well."""
    index = Path(config.site_dir, "search", "search_index.json")
    text = index.read_text(encoding="utf-8")
    index.write_text(re.sub("</?code>", "", text), encoding="utf-8")


@event_priority(-200)
def _refuse_large_site(config: MkDocsConfig) -> None:
    """Refuse a site that has become too large, when all plugins have written theirs."""
    held = sum(one.stat().st_size for one in Path(config.site_dir).rglob("*") if one.is_file())
    if held > LARGEST:
        raise PluginError(f"the site has {held:,} bytes; {LARGEST:,} are allowed (docs/hooks.py)")


on_post_build = CombinedEvent(_shorten_index, _refuse_large_site)


def generated_pages(facts: Catalog) -> dict[str, str]:
    """Path below the site's root to Markdown."""
    rules = load_rules()
    targets = {**spec_targets(), **rule_targets(rules.values())}
    style = SiteStyle(depth=1, targets=targets)
    of_rules = {**rule_pages(rules, targets), **change_rule_pages(targets)}
    # With places in braces the queries are no SQL that could be coloured; edits are of one line.
    plain = {path: _COLOURED.sub("```\n", text) for path, text in of_rules.items()}
    # What these pages list is found where it stands.
    plain |= {path: _LISTED + plain[path] for path in LISTS_OF_RULES}
    pages = {**spec_pages(targets), **plain}
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
                "shrink.md",
                "conform.md",
                "who-reads.md",
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
        {
            "Raw files": [
                *("raw/index.md", "raw/chips.md", "raw/values.md"),
                *({side.capitalize(): names} for side, names in _raw_files().items()),
            ]
        },
        {
            "MindSpore": [
                *_section("mindspore", pages),
                {"Intermediate files": _section("intermediate", pages)},
                {"Analysers": _section("analyser", pages)},
                {"REST interface": _section("rest", pages)},
                "statements.md",
            ]
        },
        {"Graph engine": [*_section("ge", pages), "statements-ge.md"]},
        {"Recording": ["recording/index.md", *_entities()]},
        {
            "Rules": [
                "rules/index.md",
                "rules/ledger.md",
                *(
                    {medium: [{theme: path} for theme, path in themes.items()]}
                    for medium, themes in rule_families(load_rules().values()).items()
                ),
            ]
        },
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
                "readers.md",
                "behaviours.md",
                "layout.md",
                "exchange.md",
                "vocabularies.md",
                "additions.md",
                "sources.md",
            ]
        },
        {"Evidence": [f"evidence/{name}.md" for name in EVIDENCE]},
    ]


def _raw_files() -> dict[str, list[str]]:
    """The pages of raw files by the side that writes them."""
    by_side = grouped(of_kinds(["raw"]), lambda one: one.cells["side"])
    return {side: sorted(one.page for one in files) for side, files in by_side.items()}


def _entities() -> list[dict[str, list[str]]]:
    """The pages of what is recorded, and of what is computed from that."""
    pages = {one.name: one.page for one in of_kinds(["entity"])}
    entities = recording_catalog().entities
    return [
        {"Recorded": [pages[name] for name, one in entities.items() if not one.derived_by]},
        {"Computed": [pages[name] for name, one in entities.items() if one.derived_by]},
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
