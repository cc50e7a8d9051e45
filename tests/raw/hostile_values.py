"""What side files, logs and dictionaries hold that no collector writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

NUMBERS = (
    "-1",
    "0",
    str(1 << 62),
    str(1 << 63),
    str(1 << 64),
    "9" * 5000,
    "NaN",
    "-1e308",
    "1e999",
)
"""Numbers of JSON, and what other writers take for one."""
TEXTS = (
    *("", "-5", "nan", "inf", "1/3", "1_0", " 1 ", "\uff11\uff12", "\u00b2", "9" * 5000),
    # As a number, one of a billion digits, which takes longer than anybody waits.
    *("1e999999999", "1e-999999999"),
    *("<script>alert(1)</script>", "../../../../etc/passwd", "/etc/passwd", "..", "a\nb", "\0"),
    *("x" * 300, "=1+2", "\ud800"),
)
SHAPES = ("null", "true", "[]", "{}", "[1]", "[null]", "[[]]", '["a", {}]', '{"a": 1}')
VALUES = (*NUMBERS, *(json.dumps(text) for text in TEXTS), *SHAPES)
"""Values as JSON spells them."""

_MARK = "value that is changed"
_WORD = re.compile(r"[0-9.]+|[A-Za-z_./]+")
_LINES = 4


def variants(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Other contents of a file of text, each with what is strange about it.

    Of JSON each value is another one, or is missing; of lines each number and word is another one.
    Of a file of records there are none.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return
    if "\0" in text or not text:
        return
    yield "UTF-16", text.encode("utf-16")
    yield "mark of its order of bytes", b"\xef\xbb\xbf" + content
    yield "Latin-1", content + b"\xe9\n"
    yield "nothing", b""
    yield "deep", b"[" * 100_000
    yield "a long line", b"9" * (1 << 21)
    yield "twice", content + content
    try:
        document = json.loads(text)
    except ValueError:
        yield from _lines(text.splitlines())
    else:
        yield from _documents(document)


def _documents(document: Any) -> Iterator[tuple[str, bytes]]:
    for value in VALUES:
        yield f"a document that is {value[:30]}", value.encode()
    for place in _places(document):
        where = "/".join(map(str, place))
        absent = deepcopy(document)
        del _holder(absent, place)[place[-1]]
        yield f"no {where}", json.dumps(absent).encode()
        marked = deepcopy(document)
        _holder(marked, place)[place[-1]] = _MARK
        head, _, tail = json.dumps(marked).partition(json.dumps(_MARK))
        for value in VALUES:
            yield f"{where}: {value[:30]}", f"{head}{value}{tail}".encode()


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of lists the first two; the others are read as these."""
    keys = value if isinstance(value, dict) else range(min(len(value), 2))
    for key in keys:
        place = (*at, key)
        yield place
        if isinstance(value[key], dict | list):
            yield from _places(value[key], place)


def _holder(document: Any, place: tuple[Any, ...]) -> Any:
    for key in place[:-1]:
        document = document[key]
    return document


def _lines(lines: list[str]) -> Iterator[tuple[str, bytes]]:
    for number, line in enumerate(lines[:_LINES]):
        for word in _WORD.finditer(line):
            for value in (*NUMBERS, *TEXTS):
                changed = f"{line[: word.start()]}{value}{line[word.end() :]}"
                every = [*lines[:number], changed, *lines[number + 1 :]]
                content = "\n".join(every).encode("utf-8", "surrogatepass")
                yield f"line {number}: {value[:30]!r} for {word[0]!r}", content + b"\n"
