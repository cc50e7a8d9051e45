"""The errata of all formats, each with the way in which its places are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ascend_ref.markdown import PLAIN, Style, code
from ascend_spec import Catalog, Schema, api_catalog, bin_catalog, text_catalog
from ascend_spec.core import Erratum

from .api_pages import message_place
from .blocks import bin_place
from .csv_pages import text_place
from .lexicon import erratum_section
from .pages import place_link
from .subject import Subject


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An erratum, and how the places that it is about are written."""

    erratum: Erratum
    place: Callable[[Style, str], str]

    def section(self, catalog: Catalog, style: Style = PLAIN, level: int = 1) -> str:
        """The erratum as a section of a page."""
        return erratum_section(catalog, self.erratum, style, level, self.place)


def disagreements(catalog: Catalog) -> Iterator[Disagreement]:
    """Every erratum: of databases, visualize_data.bin, the messages, text and products."""
    for erratum in catalog.errata.values():
        yield Disagreement(erratum, place_link)
    for erratum in bin_catalog().errata.values():
        yield Disagreement(erratum, bin_place)
    for erratum in api_catalog().errata.values():
        yield Disagreement(erratum, message_place)
    for erratum in text_catalog().errata.values():
        yield Disagreement(erratum, text_place)
    for erratum in catalog.products.errata.values():
        yield Disagreement(erratum, _product_place)


def erratum_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Every erratum; those of the databases stand where one of their places does."""
    for one in disagreements(catalog):
        yield _subject(catalog, one)


def _subject(catalog: Catalog, one: Disagreement) -> Subject:
    def at(schema: Schema) -> Subject | None:
        of_schema = one.erratum.id in catalog.errata
        held = any(place.partition(".")[0] in schema.tables for place in one.erratum.at)
        return found if of_schema and held else None

    found = Subject(
        kind="erratum",
        name=one.erratum.id,
        summary=one.erratum.title,
        page=f"errata.md#{one.erratum.id.lower()}",
        section=lambda style, level: one.section(catalog, style, level),
        fact=one.erratum,
        cells={"at": ", ".join(one.erratum.at)},
        at=at,
    )
    return found


def _product_place(_style: Style, place: str) -> str:
    return code(place)
