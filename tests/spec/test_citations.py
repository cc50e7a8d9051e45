"""Every citation of a document of evidence leads to a section or an entry of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EVIDENCE = ROOT / "docs" / "evidence"
DOCUMENTS = sorted(path.stem for path in EVIDENCE.glob("*.md") if path.stem != "index")
PLACES = ("spec", "ascend_ref", "simulator", "conformance", "tests", "benchmarks", "docs")
CITATION = re.compile(
    rf"\b({'|'.join(DOCUMENTS)})(?:\.md)?,? (?:§ ?)?"
    r"((?:[A-Z]+\d+[a-z]?|\d+(?:\.\d+)*)(?:(?:, | and )(?:[A-Z]+\d+[a-z]?|\d+(?:\.\d+)*)\b)*)"
)


def _cited() -> Iterator[tuple[str, str, str]]:
    """Document, place in it and the file that cites it."""
    for folder in PLACES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in {".py", ".yaml", ".md"} or EVIDENCE in path.parents:
                continue
            text = re.sub(r"\s*\n\s*(?:#\s*)?", " ", path.read_text(encoding="utf-8"))
            for match in CITATION.finditer(text):
                for place in re.split(r", | and ", match[2]):
                    yield match[1], place, str(path.relative_to(ROOT))


@cache
def cited() -> tuple[tuple[str, str, str], ...]:
    """All of them."""
    return tuple(_cited())


@cache
def text_of(document: str) -> str:
    return (EVIDENCE / f"{document}.md").read_text(encoding="utf-8")


def holds(document: str, place: str) -> bool:
    """Whether a document has a section of this number, or an entry with this id."""
    if place[0].isdigit():
        return (
            re.search(rf"^#+ {re.escape(place)}\.? ", text_of(document), re.MULTILINE) is not None
        )
    return re.search(rf"\b{place}[a-z]?\b", text_of(document)) is not None


def test_hundreds_of_citations_are_found() -> None:
    assert len(cited()) > 800


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_citation_leads_to_its_place(document: str) -> None:
    lost = {
        f"{file}: {one} {place}"
        for one, place, file in cited()
        if one == document and not holds(one, place)
    }
    assert lost == set()


def test_each_source_can_be_opened() -> None:
    """A source is a page of this repository, or a public document or repository, by its name."""
    (path,) = (ROOT / "spec" / "ascend_spec").rglob("sources.yaml")
    for source in yaml.safe_load(path.read_text(encoding="utf-8")):
        where = source["where"]
        assert (ROOT / where).is_file() or where.startswith(("https://", "Huawei, "))
