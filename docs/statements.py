"""The statements of a document, each with its tests and its errata, as a page of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
_TEST = re.compile(r"^ *def (test_[mg][0-9]+_\w*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """``number``: of the statement, with the letter of its document (``M54``)."""

    number: str
    text: str
    errata: tuple[str, ...] = ()
    note: str = ""


def statements(document: str) -> list[Statement]:
    """The statements of a document of ``docs/statements``, in order."""
    found = yaml.safe_load((ROOT / f"docs/statements/{document}.yaml").read_text("utf-8"))
    return [
        Statement(
            f"{found['prefix']}{number}",
            one["text"],
            tuple(one.get("errata", ())),
            one.get("note", ""),
        )
        for number, one in found["statements"].items()
    ]


@cache
def numbered_tests() -> Mapping[str, list[tuple[Path, str]]]:
    """The tests whose names carry the number of a statement, by the number."""
    found: dict[str, list[tuple[Path, str]]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in _TEST.findall(path.read_text("utf-8")):
            for number in _numbers(name):
                found.setdefault(number, []).append((path.relative_to(ROOT), name))
    return found


def _numbers(test: str) -> Iterator[str]:
    """Those at the beginning of the name of a test: ``m1_m5_``, or ``g52_to_g73_`` for a range."""
    last = 0
    is_range = False
    for part in test.split("_")[1:]:
        if part == "to":
            is_range = True
            continue
        if not re.fullmatch(r"[mg][0-9]+", part):
            return
        letter, number = part[0].upper(), int(part[1:])
        yield from (f"{letter}{one}" for one in range(last + 1 if is_range else number, number + 1))
        last, is_range = number, False


def statements_page(document: str, title: str) -> str:
    """A table of the statements: what shows each of them to hold, or answers it."""
    tests = numbered_tests()
    lines = [
        f"# {title}",
        "",
        "Every statement of the document in short, the tests that carry its number in their names,",
        "and the errata that answer it.",
        "",
        "| | states | shown by |",
        "| --- | --- | --- |",
    ]
    for one in statements(document):
        shown = [f"[{erratum}](errata.md#{erratum.lower()})" for erratum in one.errata]
        shown += [f"`{path.name}`: `{name}`" for path, name in tests.get(one.number, ())]
        shown += [one.note] if one.note else []
        lines.append(f"| {one.number} | {one.text} | {'<br>'.join(shown)} |")
    return "\n".join(lines) + "\n"
