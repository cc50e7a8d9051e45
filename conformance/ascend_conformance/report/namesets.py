"""Many names in few words: ``rank_{0-7}/kernel_details.csv``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import PurePath

_DIGITS = re.compile(r"(\d+)")


def in_few_words(names: Iterable[str]) -> list[str]:
    """The names, those joined that differ in one number only, or in several that rise together."""
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for name in names:
        parts = _DIGITS.split(name)
        groups.setdefault(tuple(parts[::2]), []).append(parts)
    return [text for members in groups.values() for text in _joined(members)]


def _joined(members: Sequence[list[str]]) -> list[str]:
    columns = [list(map(int, column)) for column in list(zip(*members, strict=True))[1::2]]
    varying = {place: column for place, column in enumerate(columns) if len(set(column)) > 1}
    rises = [[number - column[0] for number in column] for column in varying.values()]
    if not varying or any(rise != rises[0] for rise in rises):
        return ["".join(parts) for parts in members]
    text = members[0].copy()
    for place, column in varying.items():
        text[2 * place + 1] = "{" + spans(sorted(column)) + "}"
    return ["".join(text)]


def common_folder(files: Iterable[str]) -> PurePath | None:
    """The folder that holds all files, which the names of several leave out."""
    folders = {PurePath(file).parent for file in files}
    if len(folders) < 2:
        return None
    try:
        return PurePath(os.path.commonpath(sorted(folders)))
    except ValueError:  # some are absolute, or on other drives
        return None


def below(file: str, root: PurePath | None) -> str:
    """A file as it is called in the folder that holds all of them."""
    return file if root is None else str(PurePath(file).relative_to(root))


def spans(numbers: Sequence[int]) -> str:
    """Ascending numbers as ``0-3,7``."""
    runs = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    ends = [(run[0][1], run[-1][1]) for run in (list(group) for _, group in runs)]
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ends)
