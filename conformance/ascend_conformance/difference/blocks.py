"""Two ``visualize_data.bin``: block by block, each payload by meaning.

Blocks belong together by their type, and those of source files by the path; of several of a type
those with the same payload, the others by their turn. Their order in the file is of no meaning.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ascend_ref.bin import Unreadable
from ascend_ref.bin.container import BinFile, Entry, open_file
from ascend_ref.bin.folder import block_head
from ascend_ref.bin.show import show_block

from ..engine.candidate import Candidate
from ..options import Options
from .answer import Answer
from .pairing import Difference, broken_file
from .raw_files import differences_of_documents
from .records import Pair, Record, differences
from .stating import SIDES

_HEAD = ("offset", "bytes", "version")
"""What says how a block is packed, not what it holds."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of an open file. ``name``: what places call it, the same of all of its kind."""

    file: BinFile
    entry: Entry
    name: str

    def shown(self) -> dict[str, Any]:
        """The block as JSON, without how it is packed. Raises ``ValueError``."""
        target = io.StringIO()
        for problem in show_block(self.file, self.entry, target):
            raise ValueError(problem)
        found: dict[str, Any] = json.loads(target.getvalue())
        return {name: value for name, value in found.items() if name not in _HEAD}


def differences_of_blocks(
    left: Sequence[Candidate], right: Sequence[Candidate], options: Options
) -> Answer:
    """What the block files of two sides do not agree in; several of a side by their turn."""
    answer = Answer()
    ours, theirs = ([one.path for one in some] for some in (left, right))
    try:
        for one, other in zip(ours, theirs, strict=False):
            _compare(one, other, answer, max(options.max_examples, 1))
    except Unreadable as problem:
        answer.unreadable = str(problem)
    for what, lacking, rest in (
        ("absent", "B", ours[len(theirs) :]),
        ("added", "A", theirs[len(ours) :]),
    ):
        for path in rest:
            words = f"{lacking} has no such file"
            answer.differences.append(
                Difference(f"{what} file", path.name, path.name, None, 1, 1, words)
            )
    return answer


def _compare(left: Path, right: Path, answer: Answer, examples: int) -> None:
    with ExitStack() as stack:
        files = [stack.enter_context(open_file(path)) for path in (left, right)]
        for side, path, file in zip(SIDES, (left, right), files, strict=True):
            if file.damage:
                first = file.damage[0]
                words = f"{side}: byte {first.offset:,}: {first.message}"
                answer.differences.append(broken_file(path.name, path.name, words))
        ours, theirs = map(_by_name, files)
        for name in sorted({*ours, *theirs}):
            own, other = ours.get(name, []), theirs.get(name, [])
            answer.places += max(len(own), len(other))
            answer.differences += _of_kind(name, own, other, examples)


def _by_name(file: BinFile) -> Mapping[str, list[_Block]]:
    found: dict[str, list[_Block]] = {}
    for entry in file.entries:
        head = block_head(file, entry)
        path = f" {head['path']}" if "path" in head else ""
        name = f"{head['type']} {head['name']}{path}"
        found.setdefault(name, []).append(_Block(file, entry, name))
    return found


def _of_kind(
    name: str, left: Sequence[_Block], right: Sequence[_Block], examples: int
) -> Iterator[Difference]:
    """The differences of the blocks of a kind, those left out whose payload is the same."""
    prints = [[*map(_print, some)] for some in (left, right)]
    if Counter(prints[0]) == Counter(prints[1]):
        return
    rest = _beyond(left, prints[0], prints[1]), _beyond(right, prints[1], prints[0])
    total = max(len(left), len(right))
    for one, other in zip(*rest, strict=False):
        try:
            yield from _of_pair(name, one.shown(), other.shown(), examples)
        except (ValueError, RecursionError) as problem:
            yield broken_file(name, name, str(problem))
    missing = len(left) - len(right)
    if missing:
        what, lacking = ("absent row", "B") if missing > 0 else ("added row", "A")
        words = f"{lacking} has {min(len(left), len(right)):,} blocks of this kind"
        yield Difference(what, name, name, None, abs(missing), total, words)


def _beyond(some: Sequence[_Block], own: Sequence[bytes], other: Sequence[bytes]) -> list[_Block]:
    """The blocks that have no equal on the other side; of equal ones the first have one."""
    left = Counter(other)
    found = []
    for one, print_of in zip(some, own, strict=True):
        if left[print_of]:
            left[print_of] -= 1
        else:
            found.append(one)
    return found


def _print(one: _Block) -> bytes:
    return blake2b(one.file.payload(one.entry), digest_size=16).digest()


def _of_pair(
    name: str, left: dict[str, Any], right: dict[str, Any], examples: int
) -> Iterator[Difference]:
    records = [side.pop("records", None) for side in (left, right)]
    yield from differences_of_documents(name, left, right)
    if any(one is not None for one in records):
        ours, theirs = ([*map(_as_record, one or ())] for one in records)
        pair = Pair(name, lambda: iter(ours), lambda: iter(theirs))
        yield from differences(pair, SIDES, examples)


def _as_record(value: Any) -> Record:
    return value if isinstance(value, dict) else {"value": value}
