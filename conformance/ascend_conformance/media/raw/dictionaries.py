"""The dictionaries of a host as facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ascend_ref.derive.text_hash import name_id
from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.dictionaries import TEXTS, TYPES
from ascend_ref.raw.lines import LONGEST
from ascend_spec import ge_catalog, raw_catalog

from ...engine.sqlite_facts import SqlValue
from .reading import Folder

DIGITS = 20
"""Of the largest number that a record can hold."""


def gather_dictionaries(folder: Folder) -> None:
    """Texts and names of types, as facts and for what follows."""
    host = folder.host
    if host is None:
        return
    texts: dict[int, str] = {}
    types: dict[tuple[int, int], str] = {}
    for one in host.folder.files.get(TEXTS, ()):
        folder.facts.add("hash_entry", _texts(folder, one.path, texts, {}))
    for one in host.folder.files.get(TYPES, ()):
        folder.facts.add("type_entry", _types(folder, one.path, types))
    folder.texts, folder.types = texts, types


def _texts(
    folder: Folder, path: Path, texts: dict[int, str], numbers: dict[str, int]
) -> Iterator[tuple[SqlValue, ...]]:
    for line, parts in _entries(folder, path, TEXTS):
        number, text = int(parts["hash"]), parts["text"]
        made = {name_id(text, signed=True), name_id(text, signed=False)}
        fits = number in made or number == name_id(text, small_device=True)
        text_before, number_before = (
            texts.setdefault(number, text),
            numbers.setdefault(text, number),
        )
        yield (
            folder.number(path),
            line,
            None,
            str(number),
            text[:200],
            " or ".join(map(str, sorted(made))),
            int(fits),
            text_before[:200] if text_before != text else None,
            str(number_before) if number_before != number else None,
        )


def _types(
    folder: Folder, path: Path, types: dict[tuple[int, int], str]
) -> Iterator[tuple[SqlValue, ...]]:
    for line, parts in _entries(folder, path, TYPES):
        level, value, name = int(parts["level"]), int(parts["type"]), parts["name"]
        types.setdefault((level, value), name)
        wanted = ge_catalog().enumerated.get((level, value))
        shown = (min(level, 1 << 62), min(value, 1 << 62), name[:200], wanted)
        yield folder.number(path), line, None, *shown


def _entries(folder: Folder, path: Path, name: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The lines with their numbers; others are damage."""
    grammar, kind = raw_catalog().grammars[name], raw_catalog().files[name]
    count, damage = 0, list[Damage]()
    with few(damage) as stated:
        for line, text in _lines(path, stated):
            found = grammar.line_of(text)
            is_small = found is not None and all(
                len(part) <= DIGITS or not part.isdecimal()
                for key, part in found[1].items()
                if key not in ("text", "name")
            )
            if found is None or not is_small:
                shown = text if len(text) <= 60 else f"{text[:57]}..."
                stated.append(Damage(path, f"no line of {name}: {shown!r} (line {line:,})"))
            else:
                count += 1
                yield line, found[1]
    folder.damage += [(one, kind) for one in damage]
    folder.records[path] = count


def _lines(path: Path, damage: Damaged) -> Iterator[tuple[int, str]]:
    line = 0
    try:
        with path.open("rb") as file:
            while content := file.readline(LONGEST):
                line += 1
                if len(content) == LONGEST and not content.endswith(b"\n"):
                    text = f"a line of more than {LONGEST:,} bytes (line {line:,})"
                    damage.append(Damage(path, text))
                    return
                try:
                    text = content.decode().rstrip("\r\n")
                except UnicodeDecodeError:
                    damage.append(Damage(path, f"no UTF-8 (line {line:,})"))
                    continue
                if text.strip():
                    yield line, text
    except OSError as error:
        damage.append(Damage(path, error.strerror or str(error)))
