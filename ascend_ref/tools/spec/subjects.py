"""Everything that the spec itself gives an address to."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_spec import Catalog

from .api_pages import api_subjects
from .blocks import bin_subjects
from .csv_pages import csv_subjects
from .disagreements import erratum_subjects
from .document_pages import document_subjects
from .layout_pages import layout_subjects
from .lexicon import lexicon_subjects
from .pages import schema_subjects
from .recording_pages import recording_subjects
from .subject import Subject
from .timeline_pages import timeline_subjects


def spec_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Tables, files, layers, blocks, messages and the words that describe them."""
    yield from schema_subjects(catalog)
    yield from csv_subjects(catalog)
    yield from timeline_subjects(catalog)
    yield from document_subjects(catalog)
    yield from bin_subjects(catalog)
    yield from api_subjects(catalog)
    yield from recording_subjects()
    yield from layout_subjects(catalog)
    yield from lexicon_subjects(catalog)
    yield from erratum_subjects(catalog)
