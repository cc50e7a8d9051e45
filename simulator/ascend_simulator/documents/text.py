"""YAML text to plain values, with the line of each; hostile and ambiguous text is refused.

What a scenario never needs is not read at all: anchors and aliases (a few of them can stand for
gigabytes), tags, several documents, keys that stand twice, octal and sexagesimal numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, TypeAlias

import yaml

from ascend_ref.cli.guard import one_line


class ScenarioError(Exception):
    """A document that describes no possible scenario; the text is one clear line."""

    def __init__(self, text: str) -> None:
        """The text may quote the document: it is shortened and made safe to print."""
        super().__init__(one_line(text))


Path: TypeAlias = tuple[str | int, ...]

TEXT_BYTES = 1 << 18
NESTING = 8
"""The deepest place of a scenario, a number in a list of a fault, lies at 4."""

INTEGER_DIGITS = 40
OCTAL_OR_CLOCK = re.compile(r"[-+]?(0[0-9_]+|[0-9][0-9_]*(:[0-9]+)+(\.[0-9_]*)?)")
"""Numbers whose value surprises, and depends on the version of YAML: 010 is 8, and 1:30 is 90."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document. ``name`` says where it came from, ``lines`` where each value stands."""

    name: str
    value: Any
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int:
        """The line of a place, or of the nearest place around it; 0 where none is known."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 0)

    def error(self, path: Path, text: str) -> ScenarioError:
        """An error at a place."""
        line = self.line(path)
        return ScenarioError(f"{self.name}{f':{line}' if line else ''}: {text}")


def file_text(path: PurePath | str) -> str:
    """The text of a YAML file, as far as one may be. Raises :class:`ScenarioError`, ``OSError``."""
    with open(path, "rb") as file:
        content = file.read(TEXT_BYTES + 1)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f"{path}: byte {error.start} is not UTF-8; expected a YAML text"
        ) from None


def whole(value: Any) -> Any:
    """A checked value with integers for whole numbers that were written with a point."""
    if isinstance(value, Mapping):
        return {name: whole(one) for name, one in value.items()}
    if isinstance(value, list):
        return list(map(whole, value))
    return int(value) if isinstance(value, float) else value


def read(text: str, name: str) -> Document:
    """The document in a text. Raises :class:`ScenarioError`, naming the line."""
    if len(text.encode("utf-8", "replace")) > TEXT_BYTES:
        raise ScenarioError(f"{name}: the text is longer than 256 KiB; expected a scenario")
    try:
        _screen(text, name)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{name}:{mark.line + 1}" if mark else name
        raise ScenarioError(f"{place}: {error.problem or error.context}; expected YAML") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, int(error.position)) + 1
        raise ScenarioError(
            f"{name}:{line}: character U+{ord(text[error.position]):04X}; expected YAML"
        ) from None
    if node is None:
        raise ScenarioError(f"{name}: the document is empty; expected fields such as 'name: mine'")
    value = _value(node, (), name)
    lines: dict[Path, int] = {}
    for path, line in _lines(node, ()):
        lines.setdefault(path, line)
    return Document(name, value, lines)


def spell(path: Path) -> str:
    """``faults[0].ranks`` for a path; ``the document`` for the empty one."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the document"


def _screen(text: str, name: str) -> None:
    """Refuse what cannot be composed safely; parsing goes event by event, without recursion."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        fault = None
        if isinstance(event, yaml.AliasEvent):
            fault = f"an alias, *{event.anchor}; expected the value itself"
        elif isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            if event.anchor is not None:
                fault = f"an anchor, &{event.anchor}; expected the value alone"
            elif event.tag is not None:
                fault = f"a tag, {event.tag}; expected the value alone"
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            fault = "a second document; expected one" if documents > 1 else None
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > NESTING:
                fault = f"values nested {depth} deep; expected at most {NESTING}"
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if fault:
            mark = event.start_mark
            raise ScenarioError(f"{name}:{mark.line + 1 if mark else 1}: {fault}")


def _lines(node: yaml.Node, path: Path) -> Iterator[tuple[Path, int]]:
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*path, key.value), key.start_mark.line + 1
            yield from _lines(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            yield from _lines(value, (*path, place))


def _value(node: yaml.Node, path: Path, name: str) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, place), name) for place, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key, value in node.value:
            place = f"{name}:{key.start_mark.line + 1}"
            if not isinstance(key, yaml.ScalarNode):
                raise ScenarioError(f"{place}: a key that is a list or mapping; expected a name")
            inner = (*path, key.value)
            if key.value in found:
                raise ScenarioError(f"{place}: {spell(inner)} stands twice; expected it once")
            found[key.value] = _value(value, inner, name)
        return found
    return _scalar(node, path, name)


def _scalar(node: Any, path: Path, name: str) -> Any:
    kind = node.tag.rpartition(":")[2]
    if kind not in {"int", "float", "bool", "null"}:
        return node.value
    if kind == "int" and len(node.value) > INTEGER_DIGITS:
        raise ScenarioError(
            f"{name}:{node.start_mark.line + 1}: {spell(path)} is a number of {len(node.value)} "
            f"digits; expected at most {INTEGER_DIGITS}"
        )
    if OCTAL_OR_CLOCK.fullmatch(node.value):
        raise ScenarioError(
            f"{name}:{node.start_mark.line + 1}: {spell(path)} is {node.value}, which YAML reads "
            "as octal or as minutes and seconds; expected a decimal number"
        )
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except ValueError:
        return node.value  # "0b_" and the like look like numbers and are none
