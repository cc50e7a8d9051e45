"""The errata of all formats, each with the way in which its places are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from ascend_ref.markdown import Style, bullets, code, commas, page
from ascend_spec import (
    Schema,
    api_catalog,
    bin_catalog,
    catalog,
    ge_catalog,
    mindspore_catalog,
    raw_catalog,
    text_catalog,
)
from ascend_spec.core import Erratum

from .api_pages import message_place
from .blocks import bin_place
from .csv_pages import text_place
from .mindspore_pages import mindspore_place
from .pages import citations, place_link
from .raw_pages import raw_place
from .subject import Fields, Subject, things

Place = Callable[[Style, str], str]
"""Writes one of the places that an erratum is about."""


def disagreements() -> Iterator[tuple[Mapping[str, Erratum], Place]]:
    """The errata of every format and of products, by id."""
    yield catalog().errata, place_link
    yield bin_catalog().errata, bin_place
    yield api_catalog().errata, message_place
    yield text_catalog().errata, text_place
    yield raw_catalog().errata, raw_place
    yield mindspore_catalog().errata, mindspore_place
    yield ge_catalog().errata, lambda _, place: code(place)
    yield catalog().products.errata, lambda _, place: code(place)


def erratum_subjects() -> Iterator[Subject]:
    """Every erratum; those of the databases stand where one of their places does."""
    for errata, place in disagreements():
        yield from things(
            "erratum",
            errata,
            "errata.md#{anchor}",
            partial(_section, place),
            summary=lambda erratum: erratum.title,
            cells=lambda erratum: {"at": commas(erratum.at)},
            at=lambda erratum: partial(_held, erratum),
        )


def _held(erratum: Erratum, schema: Schema) -> Fields | None:
    held = any(place.partition(".")[0] in schema.tables for place in erratum.at)
    return {} if held and erratum.id in catalog().errata else None


def _section(place: Place, erratum: Erratum, style: Style) -> str:
    """One disagreement between sources: who says what, and what the spec does about it."""
    claims = (f"{citations((who,), style)}: {style.prose(claim)}" for who, claim in erratum.says)
    documented = [
        f"{place(style, where)}: {commas(f'{fact} {code(value)}' for fact, value in patch.items())}"
        for where, patch in erratum.documented.items()
    ]
    return page(
        style.heading(erratum.id),
        f"**{style.prose(erratum.title)}**",
        f"At: {commas(place(style, where) for where in erratum.at)}" if erratum.at else "",
        bullets(claims),
        f"**Resolution:** {style.prose(erratum.resolution)}",
        *(("Under the documented reading:", bullets(documented)) if documented else ()),
    )
