"""The documents of a draft: addresses, each with what is new or different there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascend_spec.core import Document, SpecError, parse

from .places import KINDS, similar

DOCUMENT = ".yaml"

LONGEST = 4 << 20
"""Bytes of a document of a draft; a spec has far fewer in all."""


class DraftError(SpecError):
    """A draft that cannot be used: the file, the line, the address, what is expected."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What a draft says of the thing at one address; ``line`` is where that begins.

    ``kind`` is empty where the address is the name of a document.
    """

    file: str
    line: int
    address: str
    kind: str
    name: str
    content: Document

    def fault(self, text: str) -> DraftError:
        """An error at this place."""
        return DraftError(f"{self.file}:{self.line}: {self.address}: {text}")


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft: the documents of a file or folder as ``texts``, by their paths.

    Nothing is read again after that, so that a command and its processes see one state.
    """

    name: str
    texts: tuple[tuple[str, str], ...]

    def pieces(self) -> Iterator[Piece]:
        """What stands in the documents, in their order; raises :class:`DraftError`."""
        seen: dict[str, Piece] = {}
        for file, text in self.texts:
            for piece in _pieces(file, text):
                if piece.address in seen:
                    first = seen[piece.address]
                    raise piece.fault(f"expected once, stands in {first.file}:{first.line} as well")
                seen[piece.address] = piece
                yield piece


def is_draft(path: Path) -> bool:
    """Whether a path is a draft: a file, or a folder with YAML documents directly in it.

    The documents of a spec lie in folders of their families.
    """
    return path.is_file() or any(_documents(path))


def read_draft(path: Path) -> Draft:
    """The draft of a file, or of the YAML documents of a folder; raises :class:`DraftError`."""
    files = [path] if path.is_file() else sorted(_documents(path))
    if not files:
        raise DraftError(f"{path}: expected a YAML document, or a folder with some")
    return Draft(path.name, tuple((str(file), _text(file)) for file in files))


def _documents(folder: Path) -> Iterator[Path]:
    return (one for one in folder.glob("*.yaml") if one.is_file())


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(LONGEST + 1)
        if len(content) > LONGEST:
            raise DraftError(f"{file}: expected a draft of at most {LONGEST >> 20} MiB")
        return content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no UTF-8"
        raise DraftError(f"{file}: cannot be read: {reason}") from error


def _pieces(file: str, text: str) -> Iterator[Piece]:
    try:
        rows: Any = parse(text)
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise DraftError(f"{file}: no YAML: {reason}") from error
    if not isinstance(rows, dict) or not rows:
        raise DraftError(f"{file}: expected a mapping of addresses, such as column/TASK.taskId")
    lines = _lines(text)
    for address, content in rows.items():
        yield _piece(file, lines.get(str(address), 1), address, content)


def _piece(file: str, line: int, address: Any, content: Any) -> Piece:
    if not isinstance(address, str) or not all(address.partition("/")):
        raise DraftError(f"{file}:{line}: expected an address, kind/name, got {address!r:.80}")
    kind, _, name = address.partition("/")
    if address.endswith(DOCUMENT):
        kind, name = "", address
    piece = Piece(file, line, address, kind, name, content)
    if kind and kind not in KINDS:
        meant = similar(kind, KINDS) or f"; known: {', '.join(KINDS)}"
        raise piece.fault(f"unknown kind {kind!r}{meant}")
    if content is None:
        raise piece.fault("expected a mapping of facts; what disappears gets until: DAY")
    if not isinstance(content, dict) or not content:
        raise piece.fault(f"expected a mapping of facts, got {content!r:.80}")
    return piece


def _lines(text: str) -> dict[str, int]:
    """The line of each key of the outermost mapping."""
    import yaml

    try:
        node = yaml.compose(text, yaml.CSafeLoader)
    except yaml.YAMLError:  # what YAML 1.1 does not know
        return {}
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return {str(key.value): key.start_mark.line + 1 for key, _ in pairs}
