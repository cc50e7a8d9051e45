"""The report in short: what is wrong, how bad it is and what to do, over all files at once.

The text has at most :data:`MOST_LINES` lines, whatever the files hold. What is not spelled out is
counted; :mod:`.text` has everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from ascend_conformance.finding import (
    API,
    BLOCK_FILE,
    MINDSPORE,
    RAW,
    SOURCE,
    SPEC,
    VERDICTS,
    FileReport,
    Finding,
    Report,
    Verdict,
)

from .collapse import collapse, places
from .detail import FULL, Detail, Rules
from .escape import visible
from .layout import BLANK, CONCLUSION_STYLE, STYLE, Layout, Paragraph
from .namesets import below, common_folder, in_few_words, spans
from .owner import what_to_do
from .phrases import conclusion, conformity, counted, enumerated, in_words
from .sentences import examples, fact, place, unreadable

MOST_LINES = 40
"""Before a terminal wraps them."""

SIZES = ((3, 8), (3, 5), (2, 4), (1, 3), (1, 1))
"""Rules with a message, an example and a remedy each, and those of a verdict with a line; the first
size that fits counts."""

FILES = 6
"""Kinds of files, and files that cannot be judged."""

_COUNTED = {
    BLOCK_FILE: "block",
    API: "answer",
    MINDSPORE: "file",
    RAW: "record",
    SPEC: "change",
    SOURCE: "fact",
}
"""What the rows of a carrier are; those of any other are rows."""

NAMES = 1
"""Names of files in a line, those that differ in a number joined."""


def render(
    report: Report,
    rules: Rules,
    detail: Detail = FULL,
    *,
    width: int | None = None,
    colour: bool = False,
) -> Iterator[str]:
    """The summary, ``width`` columns wide if there is a width."""
    layout, found = Layout(width, colour), _groups(report)
    sizes = (list(_paragraphs(report, found, rules, detail, *size)) for size in SIZES)
    paragraphs: list[Paragraph] = []
    for paragraphs in sizes:
        if len(paragraphs) <= MOST_LINES:
            break
    yield from map(layout.lines, paragraphs)


def _paragraphs(
    report: Report,
    found: Mapping[Verdict, Sequence[_Group]],
    rules: Rules,
    detail: Detail,
    spelled: int,
    most: int,
) -> Iterator[Paragraph]:
    yield headline(report)
    root = common_folder(file.file for file in report.files)
    yield from _files(report.files, root, detail)
    explained = _explained(report)
    for verdict, groups in found.items():
        yield BLANK
        number = counted(sum(one.places for one in groups), in_words(report, verdict))
        yield Paragraph("", ((f"{number}:", STYLE[verdict]),))
        full = 0 if verdict in ("advice", "note") else spelled
        for one in groups[:full]:
            yield from _spelled(one, rules, root, detail)
            yield from _others(explained.get(one.head.rule, ()), detail)
        spelled -= min(full, len(groups))
        for one in groups[full : full + most]:
            yield _line(one, root, detail)
        if len(groups) > full + most:
            yield Paragraph("  ", (counted(len(groups) - full - most, "further rule"),))
    if report.findings:
        yield BLANK
        more = "-v lists every file, place and example; ascend-ref explain RULE says why."
        yield Paragraph("", (more,))


def quiet(
    report: Report,
    rules: Rules,
    detail: Detail = FULL,
    *,
    width: int | None = None,
    colour: bool = False,
) -> Iterator[str]:
    """The headline alone."""
    yield Layout(width, colour).lines(headline(report))


def statistics(
    report: Report,
    rules: Rules,
    detail: Detail = FULL,
    *,
    width: int | None = None,
    colour: bool = False,
) -> Iterator[str]:
    """A line for each rule that found something, with its places, rows and files."""
    layout = Layout(width, colour)
    yield layout.lines(headline(report))
    for verdict, groups in _groups(report).items():
        for one in groups:
            rows = sum(finding.count + sum(finding.elsewhere.values()) for finding in one.findings)
            label = f"{visible(one.head.rule, detail.name)} {visible(one.head.name, detail.name)}"
            count = f"{counted(one.places, 'place')}, {counted(rows, 'row')}, "
            count += counted(len(one.files), "file")
            yield layout.lines(Paragraph(f"  {verdict:<9} ", (label, f": {count}")))


def headline(report: Report) -> Paragraph:
    """``conforms: no violation, 3 advice, 2 notes``."""
    return Paragraph("", ((conclusion(report), CONCLUSION_STYLE[conformity(report.files)]),))


@dataclass(frozen=True)
class _Group:
    """All findings of a rule with one verdict."""

    findings: Sequence[Finding]

    @cached_property
    def head(self) -> Finding:
        """The one with most rows, which says most."""
        return max(self.findings, key=lambda one: one.count)

    @cached_property
    def places(self) -> int:
        return sum(map(places, self.findings))

    @cached_property
    def files(self) -> Sequence[str]:
        return list(dict.fromkeys(_place_of_file(one) for one in self.findings))


def _place_of_file(finding: Finding) -> str:
    """The file, or its folder where the place names the file."""
    return str(PurePath(finding.file).parent) if finding.in_text else finding.file


def _groups(report: Report) -> Mapping[Verdict, Sequence[_Group]]:
    """By verdict, gravest first, the rules that found something, causes first."""
    found: dict[Verdict, dict[str, list[Finding]]] = {}
    for one in collapse(report).findings:
        if one.cause is None:
            found.setdefault(one.verdict, {}).setdefault(one.rule, []).append(one)
    causes = {one.cause for one in report.findings}
    return {
        verdict: [_Group(of[rule]) for rule in sorted(of, key=lambda one: (one not in causes, one))]
        for verdict in VERDICTS
        if (of := found.get(verdict))
    }


def _explained(report: Report) -> Mapping[str, Sequence[str]]:
    """By cause the rules whose findings it explains."""
    found: dict[str, dict[str, None]] = {}
    for one in report.findings:
        if one.cause is not None:
            found.setdefault(one.cause, {})[one.rule] = None
    return {cause: sorted(rules) for cause, rules in found.items()}


def _others(rules: Sequence[str], detail: Detail) -> Iterator[Paragraph]:
    """The rules whose findings the one before explains."""
    if rules:
        shown = enumerated(
            [visible(rule, detail.name) for rule in rules[: detail.entries]],
            max(0, len(rules) - detail.entries),
            "rule",
        )
        text = f"{counted(len(rules), 'rule')} found this in other words: {shown}"
        yield Paragraph("    ", (text,), hang=2)


def _title(one: _Group, root: PurePath | None, detail: Detail) -> list[str | tuple[str, str]]:
    rule = visible(one.head.rule, detail.name), STYLE[one.head.verdict]
    name = visible(one.head.name, detail.name), "bold"
    return [rule, " ", name, ", in ", _names(one.files, root, detail)]


def _spelled(
    one: _Group, rules: Rules, root: PurePath | None, detail: Detail
) -> Iterator[Paragraph]:
    head = one.head
    yield Paragraph("  ", tuple(_title(one, root, detail)), hang=2)
    further = f"; and at {counted(one.places - 1, 'further place')}" if one.places > 1 else ""
    yield Paragraph("    ", ((place(head, detail), "bold"), ": ", fact(head, detail), further))
    first = next(examples(head, detail), None)
    if first:
        yield Paragraph("      - ", (first,))
    if head.expected:
        yield Paragraph("    expected: ", (visible(head.expected, detail.prose),))
    for change in head.changes:
        yield Paragraph("    changed: ", (visible(change, detail.prose),))
    if head.rule in rules:
        yield Paragraph("    exporter: ", (visible(rules[head.rule].fix, detail.prose),))
    yield Paragraph("    you: ", (visible(what_to_do(head), detail.prose),))


def _line(one: _Group, root: PurePath | None, detail: Detail) -> Paragraph:
    head = one.head
    at = place(head, detail)
    count = f" and {counted(one.places - 1, 'further place')}" if one.places > 1 else ""
    rows = f" ({head.count:,})" if head.count > 1 else ""
    return Paragraph(
        "  ",
        (
            *_title(one, root, detail),
            f": {at}{rows}{count}; ",
            visible(what_to_do(head), detail.prose),
        ),
        hang=2,
    )


def _files(
    files: Sequence[FileReport], root: PurePath | None, detail: Detail
) -> Iterator[Paragraph]:
    """The kinds of files that were judged, and those that could not be."""
    kinds: dict[tuple[str, ...], list[FileReport]] = {}
    for file in files:
        if file.seen:
            kinds.setdefault(_kind(file, detail), []).append(file)
    for words, members in list(kinds.items())[:FILES]:
        yield Paragraph(
            "  ",
            (_names([one.file for one in members], root, detail), ": ", _seen(words, members)),
            hang=2,
        )
    if len(kinds) > FILES:
        left = sum(map(len, list(kinds.values())[FILES:]))
        yield Paragraph("  ", (counted(left, "further file"),))
    unjudged = [file for file in files if file.unreadable is not None]
    for file in unjudged[:FILES]:
        lead = (_shown(file.file, root, detail), ": ", ("cannot be judged: ", "bold red"))
        yield Paragraph("  ", (*lead, unreadable(file, detail)), hang=2)
    if len(unjudged) > FILES:
        yield Paragraph(
            "  ", (f"{counted(len(unjudged) - FILES, 'further file')} cannot be judged",)
        )


def _kind(file: FileReport, detail: Detail) -> tuple[str, ...]:
    """What files that share a line have in common."""
    if file.seen is None:
        return ()
    level = file.seen.level and f"level {file.seen.level}"
    known = (file.seen.carrier, file.seen.revision, file.seen.product, level)
    return tuple(visible(one.partition(" (")[0], detail.name) for one in known if one)


def _seen(words: Sequence[str], members: Sequence[FileReport]) -> str:
    every = [file.seen for file in members if file.seen]
    ranks = sorted({rank for seen in every for rank in seen.ranks})
    texts = [f"{len(members):,} files"] if len(members) > 1 else []
    texts += words
    if ranks:
        texts.append(f"{'rank' if len(ranks) == 1 else 'ranks'} {spans(ranks)}")
    of = every[0].carrier if every else ""
    rows = sum(sum(seen.rows.values()) for seen in every)
    texts.append(counted(rows, _COUNTED.get(of, "row")))
    bad = sum(conformity((file,)) != "conforms" for file in members)
    if bad and len(members) > 1:
        texts.append(f"{bad:,} not conforming")
    return ", ".join(texts)


def _names(files: Iterable[str], root: PurePath | None, detail: Detail) -> str:
    shown = in_few_words(_shown(file, root, detail) for file in files)
    return enumerated(shown[:NAMES], max(0, len(shown) - NAMES), "file")


def _shown(file: str, root: PurePath | None, detail: Detail) -> str:
    return visible(below(file, root), detail.path)
