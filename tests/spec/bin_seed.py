"""The JSON examples of seed 004, read although most of them are no JSON.

They carry comments, trailing commas, names of types in place of values, and objects in the brackets
of a list. Every example is found by its form and given the block type that the heading before it
names, so none can be missed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SEED = Path(__file__).parents[2] / "../shared/seeds/004_ac24de716738f284.txt"

# What stands for the payload of a block type in the headings of the second half.
NAMES = {
    "API_FILE": 0x03,
    "API_INSTR": 0x04,
    "DETAILS_BASE_INFO": 0x05,
    "DETAILS_COMPUTE_LOAD_GRAPH": 0x06,
    "DETAILS_COMPUTE_LOAD_TABLE": 0x07,
    "DETAILS_MEMORY_GRAPH": 0x08,
    "DETAILS_MEMORY_TABLE": 0x09,
    "内存读写时序图数据结构(POC)": 0x0A,
    "Json 文件": 0x02,
    "compute_data_structure": 0x02,
}
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)
      | (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
      | (?P<word>[A-Za-z]\w*)
      | (?P<dots>\.{3,})
      | (?P<sign>[{}\[\]:,])
      | (?P<space>\s+)""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Word:
    """The name of a type where a value should stand, with the comment on its line."""

    name: str
    comment: str


class Bracketed(dict[str, Any]):
    """Keys and values between the brackets of a list, which is no JSON."""


@dataclass(frozen=True)
class Example:
    """One example: its first line in the seed, the block type of its payload, and its content.

    ``block`` is ``None`` for the messages of the viewer, whose content is their text.
    """

    line: int
    block: int | None
    content: Any

    @property
    def is_skeleton(self) -> bool:
        """Whether names of types stand in place of values."""
        return any(isinstance(value, Word) for value in leaves(self.content))


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def seed_lines() -> list[str]:
    if not SEED.is_file():
        pytest.skip("no seed 004 in ../shared/seeds")
    return SEED.read_text(encoding="utf-8").splitlines()


def examples() -> list[Example]:
    """Every example of the seed, from a bracket at the start of a line to the one that closes."""
    lines = seed_lines()
    found: list[Example] = []
    block: int | None = None
    number = 0
    while number < len(lines):
        heading = re.match(r"0x0([0-9A-F]) ", lines[number])
        if heading:
            block = int(heading[1], 16)
        block = NAMES.get(lines[number].strip(), block)
        first = number
        number += 1
        if lines[first][:1] in ("{", "["):
            closing = "}" if lines[first][0] == "{" else "]"
            while lines[number - 1] != closing:
                number += 1
            text = "\n".join(lines[first:number])
            if re.search(r'"type": "(request|response)"', text):
                found.append(Example(first + 1, None, text))
            else:
                found.append(Example(first + 1, block, parse(text)))
    return found


def parse(text: str) -> Any:
    """The content of an example that is not quite JSON."""
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        assert found, f"unexpected text in an example: {text[at : at + 30]!r}"
        at = found.end()
        if found.lastgroup in ("text", "number", "word", "sign"):
            comment = text[at:].split("\n", 1)[0].partition("//")[2].strip()
            tokens.append((found.lastgroup, found.group(), comment))
    parser = _Parser(tokens)
    content = parser.value()
    assert parser.at == len(parser.tokens), "text behind the end of an example"
    return content


Token = tuple[str, str, str]


class _Parser:
    """Recursive descent over the tokens; commas separate nothing that brackets do not."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = [token for token in tokens if token[1] != ","]
        self.at = 0

    def value(self) -> Any:
        kind, text, comment = self.tokens[self.at]
        self.at += 1
        if text == "{":
            return self.members("}", {})
        if text == "[":
            keyed = self.tokens[self.at][0] == "text" and self.tokens[self.at + 1][1] == ":"
            return self.members("]", Bracketed()) if keyed else self.elements()
        if kind in ("text", "number") or text in ("true", "false"):
            return json.loads(text)
        assert kind == "word", f"unexpected {text!r} in an example"
        return Word(text, comment)

    def members(self, closing: str, into: dict[str, Any]) -> dict[str, Any]:
        while self.tokens[self.at][1] != closing:
            key = self.value()
            assert self.tokens[self.at][1] == ":", key
            self.at += 1
            into[key] = self.value()
        self.at += 1
        return into

    def elements(self) -> list[Any]:
        values = []
        while self.tokens[self.at][1] != "]":
            values.append(self.value())
        self.at += 1
        return values
