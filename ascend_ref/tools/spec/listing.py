"""The short lists of ``spec list``: one line per subject."""

from __future__ import annotations

from collections.abc import Sequence

from ascend_ref.markdown import Style, table

from .lookup import of_kinds, subjects
from .subject import KINDS, Scope, Subject

EVERYTHING = "all"


def chosen(kind: str, scope: Scope) -> list[Subject]:
    """The subjects of a kind, or of every kind that the scope can narrow, in a scope."""
    every = subjects().values() if kind == EVERYTHING else of_kinds([kind])
    found = (one.within(scope) for one in every if scope.axes <= set(KINDS[one.kind].axes))
    return [one for one in found if one is not None]


def rows(listed: Sequence[Subject]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headers, and a row of text for each subject; of several kinds address and summary only."""
    alike = len({one.kind for one in listed}) == 1
    headers = tuple(listed[0].cells) if listed and alike else ()
    return (
        ("address", *headers, "what it is"),
        [(one.address, *(one.cells[name] for name in headers), one.summary) for one in listed],
    )


def index(kind: str, style: Style) -> str:
    """The subjects of a kind as a Markdown table."""
    listed = of_kinds([kind])
    headers, texts = rows(listed)
    links = (style.link(kind, one.name) for one in listed)
    return table(
        (kind, *headers[1:]),
        (
            (link, *cells, style.prose(summary))
            for link, (_, *cells, summary) in zip(links, texts, strict=True)
        ),
    )


def kinds() -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headers, and a row for each kind of address: what lists call it, and how many there are."""
    counts = dict.fromkeys(KINDS, 0)
    for one in subjects().values():
        counts[one.kind] += 1
    counted: list[tuple[str, ...]] = [
        (f"{kind}/…", facts.plural, str(counts[kind]), facts.summary)
        for kind, facts in KINDS.items()
    ]
    return ("address", "list", "number", "what one is"), counted
