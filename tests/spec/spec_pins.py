"""Pins: what evidence says of the spec's facts, and whether a set of documents agrees.

``pins/stands.csv`` names places, facts and the section of the evidence in which each value stands.
Its rows were proposed from the spec; one is kept only where :func:`pin_evidence.proves` finds that
other values would not stand there, which ``test_pins`` asks again. ``pins/read.yaml`` and
``pins/read/`` hold what a reader found in sections, sources and real files whose words are not
those of the spec.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pin_evidence import pair_stands, proves
from pin_facts import Facts, Places, documents, facts

PARTS = [
    "args",
    "carriers",
    "carriers_since",
    "changed",
    "columns",
    "copies",
    "fields",
    "keys",
    "modules",
    "names",
    "order",
    "requires",
    "written",
]
PAIRS = (("id", "name"), ("value", "name"), ("code", "name"), ("order", "value"))
PINS = Path(__file__).parent / "pins"


@dataclass(frozen=True)
class Pin:
    """The facts of one place and where the evidence has them."""

    place: str
    facts: Facts
    document: str
    section: str

    def pair(self) -> Facts:
        """A number and the name that it stands for, where the place has both; else nothing."""
        for number, name in PAIRS:
            if number in self.facts and name in self.facts:
                return {number: self.facts[number], name: self.facts[name]}
        return {}


@cache
def pins() -> Mapping[str, tuple[Pin, ...]]:
    """The pins by place."""
    found: dict[str, list[Pin]] = defaultdict(list)
    for pin in (*standing(), *read()):
        found[pin.place].append(pin)
    return {place: tuple(of) for place, of in found.items()}


@cache
def standing() -> tuple[Pin, ...]:
    """The pins of ``stands.csv``."""
    with (PINS / "stands.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Pin(row["place"], json.loads(row["facts"]), *_cited(row["evidence"]))
            for row in csv.DictReader(file)
        )


def unproved(pin: Pin) -> list[str]:
    """The facts of a standing pin that its section does not prove."""
    pair = pin.pair()
    rest = {
        fact: value
        for fact, value in pin.facts.items()
        if not (pair and fact in pair and pair_stands(pin.document, pin.section, *pair.values()))
    }
    return [
        f"{pin.place} {fact}: {value!r} does not stand in {pin.document} {pin.section}"
        for fact, value in rest.items()
        if not proves(
            pin.document, pin.section, pin.place, fact, value, others(pin.place, fact, value)
        )
    ]


def _cited(evidence: str) -> tuple[str, str]:
    document, _, section = evidence.partition(" ")
    return document, section


@cache
def read() -> tuple[Pin, ...]:
    """The pins of ``read.yaml`` and ``read/``, one for each place that is named."""
    return tuple(_of_patterns() + _of_names())


@cache
def unpinned() -> Mapping[tuple[str, str], str]:
    """The facts that ``open.yaml`` leaves without a pin, by place and fact, and the reason."""
    return {
        (place, fact): entry["reason"]
        for entry in _entries(PINS / "open.yaml")
        for fact, listed in entry["facts"].items()
        for place in listed
    }


def _entries(path: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = yaml.load(
        path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
    )
    return entries


def _of_names() -> list[Pin]:
    """The pins of ``read/``: one fact, its values and the places that have each."""
    found = []
    for path in sorted((PINS / "read").glob("*.yaml")):
        for entry in _entries(path):
            for one in entry["values"]:
                for name in one["places"]:
                    place = entry["under"].replace("{}", name)
                    if place not in places():
                        raise ValueError(f"pins/read/{path.name}: {place} leads nowhere")
                    fact = {entry["fact"]: one["value"]}
                    found.append(Pin(place, fact, *_cited(entry["evidence"])))
    return found


def _of_patterns() -> list[Pin]:
    """The pins of ``read.yaml``, one for each place that a pattern leads to."""
    found = []
    for entry in _entries(PINS / "read.yaml"):
        for pattern in entry["places"]:
            whole = _pattern(entry["under"].replace("{}", str(pattern)))
            reached = [
                place
                for place, own in places().items()
                if whole.fullmatch(place)
                and all(own.get(fact) == value for fact, value in entry.get("where", {}).items())
            ]
            if not reached:
                raise ValueError(f"pins/read.yaml: {pattern} of {entry['says']!r} leads nowhere")
            found += [Pin(place, entry["facts"], *_cited(entry["evidence"])) for place in reached]
    return found


def _pattern(text: str) -> re.Pattern[str]:
    """A star is any part of a name, slashes and all; it leads into no part of what is named."""
    any_part = rf"(?:(?!/(?:{'|'.join(PARTS)})(?:/|$)).)*"
    return re.compile(any_part.join(re.escape(part) for part in text.split("*")))


@cache
def places() -> Places:
    """The facts of the spec as it is."""
    return {
        place: own
        for name, document in documents().items()
        for place, own in facts(name, document).items()
    }


def denied(found: Places, asked: Iterable[str]) -> list[str]:
    """The pinned facts that a spec lacks at some places, as ``place fact: value, not value``."""
    return [
        f"{pin.place} {fact}: {found.get(pin.place, {}).get(fact)!r}, not {value!r}"
        for place in asked
        for pin in pins().get(place, ())
        for fact, value in pin.facts.items()
        if fact not in found.get(place, {}) or found[place][fact] != value
    ]


@cache
def _values() -> Mapping[tuple[str, str], tuple[Any, ...]]:
    """All values of a fact in the documents of one kind, in an order that is always the same."""
    seen: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for place, own in places().items():
        for fact, value in own.items():
            seen[place.split("/")[0], fact][json.dumps(value, ensure_ascii=False)] = value
    return {
        key: tuple(random.Random(key[1]).sample(list(of.values()), len(of)))
        for key, of in seen.items()
    }


def others(place: str, fact: str, value: Any) -> list[Any]:
    """Values that a fact has elsewhere; where there are few, neighbours of the value."""
    found = [one for one in _values()[place.split("/", maxsplit=1)[0], fact] if one != value]
    if len(found) >= 3:
        return found
    for element in value if isinstance(value, list) else [value]:
        if isinstance(element, int) and not isinstance(element, bool):
            found += [element + 1, element - 1, element * 10 + 1]
        elif isinstance(element, str) and len(element) > 8:
            found += [element + "x", element[:-1]]
    return found
