"""Raw files of two sides, of CANN's profiler or MindSpore's: record by record, by meaning.

A file belongs to that of the same name in the same folder; folders of devices to those of the same
device, or where none is the same by their turn. What the spec does not know is compared by bytes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from ascend_ref.mindspore.show import elements_of as elements_of_mindspore
from ascend_ref.mindspore.show import kind_of as kind_of_mindspore
from ascend_ref.raw.damage import Damage, Unreadable
from ascend_ref.raw.show import elements_of as elements_of_raw
from ascend_ref.raw.tree import kind_of as kind_of_raw

from ..engine.candidate import Candidate
from ..finding import Skipped
from ..options import Options
from .answer import Answer
from .files import have_same_bytes
from .json_values import unlike_values
from .pairing import Difference, broken_file
from .records import Pair, Record, differences
from .stating import SIDES, rule_of

Read: TypeAlias = Callable[[Path, list[Damage]], tuple[str, Iterator[Any]]]
FRAMEWORK = "FRAMEWORK"
_DEVICE = re.compile(r"device_[0-9]+")
_SLICE = re.compile(r"\.slice_([0-9]+)$")
MOST_BYTES = 1 << 26
"""Of a document that is compared value by value."""


def differences_of_raw(
    left: Sequence[Candidate], right: Sequence[Candidate], options: Options
) -> Answer:
    """What the raw files of two sides do not agree in; several profiles of a side by their turn."""
    answer = Answer()
    for one, other in zip(left, right, strict=False):
        _compare(_files(one), _files(other), answer, max(options.max_examples, 1))
    for side, longer, shorter in (("A", left, right), ("B", right, left)):
        for candidate in longer[len(shorter) :]:
            what, lacking = ("absent", "B") if side == "A" else ("added", "A")
            words = f"{lacking} has no such profile"
            place = candidate.path.name
            answer.differences.append(Difference(f"{what} file", place, place, None, 1, 1, words))
    return answer


def _files(candidate: Candidate) -> Mapping[str, Sequence[Path]]:
    """The slices of each file, by the name of the file below the folder."""
    folder = candidate.path if candidate.path.is_dir() else candidate.path.parent
    found: dict[str, list[Path]] = {}
    for path in candidate.files or (candidate.path,):
        name = PurePosixPath(path.relative_to(folder)).as_posix()
        found.setdefault(_SLICE.sub("", name), []).append(path)
    above = folder.parent / FRAMEWORK
    if above.is_dir() and above != folder:
        for path in sorted(above.iterdir()):
            if path.is_file() and kind_of_raw(path) is not None:
                found.setdefault(f"{FRAMEWORK}/{path.name}", []).append(path)
    return {name: sorted(paths, key=_turn) for name, paths in found.items()}


def _turn(path: Path) -> tuple[int, str]:
    found = _SLICE.search(path.name)
    return (int(found[1]) if found else 0, path.name)


def _compare(
    left: Mapping[str, Sequence[Path]],
    right: Mapping[str, Sequence[Path]],
    answer: Answer,
    examples: int,
) -> None:
    right = _renamed(left, right)
    for name in sorted({*left, *right}):
        answer.places += 1
        if name not in left or name not in right:
            what, lacking = ("absent", "B") if name in left else ("added", "A")
            words = f"{lacking} has none"
            answer.differences.append(Difference(f"{what} file", name, name, None, 1, 1, words))
        elif not have_same_bytes(left[name], right[name]):
            _compare_files(name, left[name], right[name], answer, examples)


def _renamed(
    left: Mapping[str, Sequence[Path]], right: Mapping[str, Sequence[Path]]
) -> Mapping[str, Sequence[Path]]:
    """The files of the right side, devices under the numbers of the left where none is common."""
    ours, theirs = (sorted({*map(_device, some)} - {""}) for some in (left, right))
    if not ours or len(ours) != len(theirs) or set(ours) & set(theirs):
        return right
    names = dict(zip(theirs, ours, strict=True))
    found = {}
    for name, paths in right.items():
        device = _device(name)
        own, new = (one.removeprefix("device_") for one in (device, names.get(device, "")))
        if device:
            rest = re.sub(rf"\.{own}(?=$|\.)", f".{new}", name.removeprefix(device))
            found[names[device] + rest] = paths
        else:
            found[name] = paths
    return found


def _device(name: str) -> str:
    first = name.partition("/")[0]
    return first if _DEVICE.fullmatch(first) else ""


def _compare_files(
    name: str, left: Sequence[Path], right: Sequence[Path], answer: Answer, examples: int
) -> None:
    read = _reader(left[0])
    if read is None:
        words = _first_byte(left, right)
        answer.differences.append(Difference("value", name, name, None, 1, 1, words))
        why = f"{name}: compared byte by byte, as nothing is known of what it holds"
        answer.skipped.append(Skipped(rule_of("value").id, name, why))
        return
    damage: list[Damage] = []
    try:
        keys = {read(path, damage)[0] for path in (left[0], right[0])}
        if keys == {"content"}:
            found = list(_of_documents(name, read, left[0], right[0]))
        else:
            sides = [partial(_gathered, read, paths, damage) for paths in (left, right)]
            noun = "line" if keys == {"lines"} else "record"
            found = list(differences(Pair(name, sides[0], sides[1], noun), SIDES, examples))
    except (Unreadable, OSError, ValueError, RecursionError) as problem:
        found = [broken_file(name, name, str(problem))]
    broken = dict.fromkeys(map(str, damage))
    found += [broken_file(name, name, one) for one in list(broken)[:1]]
    answer.differences += found


def _gathered(read: Read, paths: Sequence[Path], damage: list[Damage]) -> Iterator[Record]:
    for path in paths:
        yield from map(_as_record, read(path, damage)[1])


def _as_record(value: Any) -> Record:
    """A record with texts in place of their numbers, and its times as they were recorded."""
    if not isinstance(value, dict):
        return {"value": value}
    found = dict(value)
    for name, text in value.items():
        own = name.removesuffix("_text")
        if own != name and own in value:
            del found[name]
            found[own] = value[own] if text is None else text
        elif name.endswith("_ns") and name.removesuffix("_ns") in value:
            del found[name]
    return found


def _of_documents(name: str, read: Read, left: Path, right: Path) -> Iterator[Difference]:
    contents = []
    for path in (left, right):
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"{path}: too large to be compared value by value")
        contents.append(next(read(path, [])[1], None))
    yield from differences_of_documents(name, *contents)


def differences_of_documents(place: str, left: Any, right: Any) -> Iterator[Difference]:
    """What two JSON values do not agree in, by their places in them."""
    for one in unlike_values(left, right):
        what = "order" if one.left == "the same items" else "value"
        words = f"{one.left} of {SIDES[0]}, {one.right} of {SIDES[1]}"
        at = f" at {one.pointer}{f' ({one.name})' if one.name else ''}"
        yield Difference(what, place, place, one.kind or "/", one.count, one.count, f"{words}{at}")


def _reader(path: Path) -> Read | None:
    """How what a file holds is read; ``None`` where only its bytes are known."""
    kind = kind_of_raw(path)
    if kind is not None and kind.form != "unknown":
        return elements_of_raw
    if kind_of_mindspore(path) is not None:
        return elements_of_mindspore
    if path.suffix == ".csv":
        return _rows_of_csv
    return _lines_of_text if path.suffix in (".txt", ".log") else None


def _rows_of_csv(path: Path, damage: list[Damage]) -> tuple[str, Iterator[Any]]:
    def rows() -> Iterator[Record]:
        with path.open(encoding="utf-8", errors="backslashreplace", newline="") as file:
            try:
                for row in csv.DictReader(file, restkey="further", restval=None):
                    yield {str(name): value for name, value in row.items()}
            except csv.Error as problem:
                damage.append(Damage(path, f"no CSV: {problem}"))

    return "records", rows()


def _lines_of_text(path: Path, _damage: list[Damage]) -> tuple[str, Iterator[Any]]:
    def lines() -> Iterator[Record]:
        with path.open(encoding="utf-8", errors="backslashreplace") as file:
            for number, line in enumerate(file, start=1):
                yield {"line": number, "text": line.rstrip("\r\n")}

    return "lines", lines()


def _first_byte(left: Sequence[Path], right: Sequence[Path]) -> str:
    sizes = [sum(path.stat().st_size for path in some) for some in (left, right)]
    return f"other bytes: {sizes[0]:,} of {SIDES[0]}, {sizes[1]:,} of {SIDES[1]}"
