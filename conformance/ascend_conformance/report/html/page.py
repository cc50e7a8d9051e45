"""The page: what of the gathered findings it has room for, in the words of all reports."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from ascend_conformance.finding import VERDICTS, Report
from ascend_conformance.ruleset import Rule

from ..detail import Detail, Rules, within
from ..escape import visible
from ..namesets import below, common_folder
from ..phrases import conclusion, conformity_by, counted
from ..seen_lines import seen_lines
from ..sentences import names as enumerate_names
from ..sentences import unreadable
from .cards import Card, Files, cards
from .extent import EXTENTS, LARGEST, Extent
from .gather import Gathered, gather, in_all
from .matrices import Matrix, by_rank, by_rule
from .picture import Picture
from .shown import MEDIA, Shown, shown_entities

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

_CODE_SPAN = re.compile(r"`([^`]*)`")


class Action(NamedTuple):
    """What somebody can do, how grave its gravest cause is, and the causes; ``left``: not named."""

    do: str
    verdict: str
    cards: Sequence[Card]
    left: int


class Looked(NamedTuple):
    """A file or folder that was looked at. ``found``: places per verdict in words.

    ``counts``: rows, rules that were judged, their places, and checks that were skipped.
    """

    name: str
    conformity: str
    found: str
    counts: Sequence[int]
    lines: Sequence[tuple[str, str]]
    unreadable: str


class Skips(NamedTuple):
    """Rules that could not be judged in some files, and why."""

    reason: str
    rules: str
    files: int


class RulePage(NamedTuple):
    """A rule that found something, made harmless; ``search`` is its query."""

    key: str
    rule: str
    name: str
    parts: Sequence[tuple[str, str]]
    search: str


def render(report: Report, rules: Rules, picture: Picture | None = None) -> str:
    """The whole page; equal reports and pictures give equal bytes."""
    gathered = gather(report, EXTENTS[0].rows)
    root = common_folder(file.file for file in gathered.files)
    names = [below(file.file, root) for file in gathered.files]
    described = Files(gathered, names)
    steady = {
        "report": report,
        "conclusion": conclusion(report),
        "conformity": conformity_by(gathered.tally, report.files),
        "media": MEDIA,
        "picture": picture,
        "script": _asset("report.js"),
        "sheet": _asset("report.css"),
        "policy": _policy(),
        "verdicts": VERDICTS,
    }
    entities = shown_entities(report.files)

    def pieces(extent: Extent) -> Iterator[str]:
        detail = extent.detail
        listed = cards(gathered, described, rules, extent)
        of_rules = _rule_pages(gathered, rules, extent)
        skips = _skips(gathered, detail)
        return _template().generate(
            **steady,
            root=visible(str(root), detail.path) if root else "",
            actions=_actions(listed, detail),
            cards=listed,
            rule_keys={one.rule: one.key for one in of_rules},
            rules=of_rules,
            filter_files=[visible(name, detail.path) for name in names[: extent.files]],
            filter_ranks=gathered.ranks[: extent.files],
            filter_rules=sorted({one.rule for one in _with_others(listed)}),
            looked=list(_looked(gathered, names, extent)),
            skips=skips[: detail.entries],
            entities=[_entity(one, detail) for one in entities],
            matrices=[
                (
                    "Rules and ranks" if gathered.ranks else "Rules and files",
                    _seen(by_rule(gathered, names), detail),
                ),
                ("Ranks and files", _seen(by_rank(gathered), detail)),
            ],
            left_out=list(_left_out(gathered, listed, of_rules, len(skips), rules, extent)),
        )

    return within(LARGEST, EXTENTS, pieces)


def _actions(listed: Sequence[Card], detail: Detail) -> list[Action]:
    """What to do, by what is to be done, for the gravest first."""
    found: dict[str, list[Card]] = {}
    for card in listed:
        found.setdefault(card.action, []).append(card)
    most = detail.entries
    return [
        Action(do, of[0].verdict, of[:most], max(0, len(of) - most)) for do, of in found.items()
    ]


def _with_others(listed: Iterable[Card]) -> Iterator[Card]:
    for card in listed:
        yield card
        yield from card.others


def _looked(gathered: Gathered, names: Sequence[str], extent: Extent) -> Iterator[Looked]:
    for number, file in enumerate(gathered.files[: extent.files]):
        tallied = gathered.tallies[number]
        found = [counted(count, verdict) for verdict, count in tallied.items() if count]
        yield Looked(
            name=visible(names[number], extent.detail.path),
            conformity=conformity_by(tallied, (file,)),
            found=", ".join(found),
            counts=(
                sum(file.seen.rows.values()) if file.seen else 0,
                file.rules_run,
                file.places_checked,
                len(file.skipped),
            ),
            lines=list(seen_lines(file, extent.detail)),
            unreadable="" if file.unreadable is None else unreadable(file, extent.detail),
        )


def _skips(gathered: Gathered, detail: Detail) -> list[Skips]:
    """Over all files, in the order of their first rule."""
    rules: dict[str, set[str]] = {}
    where: dict[str, set[int]] = {}
    for number, file in enumerate(gathered.files):
        for skip in file.skipped:
            rules.setdefault(skip.reason, set()).add(skip.rule)
            where.setdefault(skip.reason, set()).add(number)
    return [
        Skips(
            visible(reason, detail.prose),
            enumerate_names(sorted(of), detail, "rule"),
            len(where[reason]),
        )
        for reason, of in sorted(rules.items(), key=lambda one: (sorted(one[1]), one[0]))
    ]


def _entity(one: Shown, detail: Detail) -> tuple[str, str, Sequence[str]]:
    """Its name, its summary, and the cell of each medium."""
    cells = []
    for medium in MEDIA:
        places = [f"{name} ({rows:,})" for name, rows in sorted(one.places.get(medium, {}).items())]
        cells.append(enumerate_names(places, detail, "place"))
    return one.entity, one.summary, cells


def _seen(matrix: Matrix, detail: Detail) -> Matrix:
    """A matrix whose heads are harmless."""
    return matrix._replace(
        heads=[visible(head, detail.name) for head in matrix.heads],
        rows=[(visible(head, detail.name), cells) for head, cells in matrix.rows],
    )


def _rule_pages(gathered: Gathered, rules: Rules, extent: Extent) -> list[RulePage]:
    """Of the rules that found something, those for which there is room."""
    found = sorted({one.rule for one in in_all(gathered.causes)} & rules.keys())
    return [
        _rule_page(f"r{number}", rules[name], extent.detail)
        for number, name in enumerate(found[: extent.rules])
    ]


def _rule_page(key: str, rule: Rule[Any], detail: Detail) -> RulePage:
    parts = {
        "": rule.summary,
        "Why": rule.why,
        "Fix": rule.fix,
        "Example": rule.example,
        "Expected": rule.expected,
        "Verdict": f"{rule.verdict}, {rule.grade}",
        "Source": "; ".join(rule.source),
    }
    return RulePage(
        key,
        visible(rule.id, detail.name),
        visible(rule.name, detail.name),
        [(label, visible(text, detail.prose)) for label, text in parts.items() if text],
        visible(" ".join((rule.row or rule.select or "").split()), detail.sql),
    )


def _left_out(
    gathered: Gathered,
    listed: Sequence[Card],
    of_rules: Sequence[RulePage],
    skips: int,
    rules: Rules,
    extent: Extent,
) -> Iterator[str]:
    """What the page has no room for, in words."""
    rows = [row for card in _with_others(listed) for row in card.rows]
    every = list(in_all(gathered.causes))
    known = {one.rule for one in every} & rules.keys()
    for count, noun, where in (
        (len(gathered.causes) - len(listed), "cause", "with all of their places"),
        (sum(len(one.names) for one in every) - len(rows), "place", "of any cause"),
        (sum(row.left for row in rows), "example", "of listed places"),
        (len(gathered.files) - extent.files, "file", "in the list of files and in the filter"),
        (len(known) - len(of_rules), "rule", "in the pages of rules"),
        (skips - extent.detail.entries, "reason", "why rules were skipped"),
    ):
        if count > 0:
            yield f"{counted(count, noun)} {where}"


def _prose(text: str) -> Markup:
    """Harmless text with its code spans as code."""
    from markupsafe import Markup

    parts = _CODE_SPAN.split(text)
    return Markup().join(
        Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy() -> str:
    """Nothing is fetched, and nothing runs but the page's own script."""
    script, sheet = (
        b64encode(sha256(_asset(name).encode()).digest()).decode("ascii")
        for name in ("report.js", "report.css")
    )
    return (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{sheet}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined  # slow

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = _prose
    return environment.from_string(_asset("report.html"))
