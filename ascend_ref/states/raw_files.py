"""Raw files of ``PROF_*`` and ``FRAMEWORK``: names, records, lines, side files, chips."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_spec import Spec
from ascend_spec.raw.model import RawFile
from ascend_spec.raw.text import Grammar

from .element import Element
from .facts import closed, own_facts, record_element, value_elements
from .json_nodes import json_elements


def raw_files(spec: Spec) -> Element:
    """What collectors leave, and what of it depends on the chip."""
    raw = spec.raw
    files = (_file(spec, one) for one in raw.files.values())
    chips = (
        Element(
            "chip", str(number), str(number), own_facts(one, without=("id",)), shown=one.constant
        )
        for number, one in raw.chips.items()
    )
    values = value_elements("raw-values", raw.vocabularies, lambda _: True)
    return Element("carrier", "raw", "raw", children=(*files, *chips, *values))


def _file(spec: Spec, file: RawFile) -> Element:
    children = [
        record_element(
            "raw",
            file.file,
            one.record,
            spec.raw.record(one.record),
            **{"selected by": tuple(map(str, one.values)), "chips": closed(one.chips)},
        )
        for one in file.members
    ]
    if file.grammar is not None:
        children += lines("raw", file.file, spec.raw.grammars[file.grammar])
    if file.document is not None:
        children += json_elements("raw", file.file, spec.raw.document_schema(file.document))
    stated = ("file", "chips", "switches", "members", "feeds", "data")
    return Element(
        "raw",
        file.file,
        file.file,
        facts={
            **own_facts(file, without=stated),
            "chips": closed(file.chips),
            "switches": frozenset(file.switches),
        },
        children=tuple(children),
        shown=file.name.template,
    )


def lines(kind: str, owner: str, grammar: Grammar) -> Iterator[Element]:
    """The lines of a file of text and the parts of them."""
    for name, line in grammar.lines.items():
        facts = own_facts(line, without=("line",))
        yield Element(kind, owner, name, facts, part="line", place=name, shown=line.form.template)
    for name, one in grammar.parts.items():
        facts = own_facts(one, without=("name", "shown", "hidden"))
        yield Element(kind, owner, name, facts, part="text", place=name, shown=one.type)
