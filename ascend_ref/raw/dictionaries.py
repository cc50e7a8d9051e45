"""What the numbers in records are called: the dictionaries of a host, and those of the spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ascend_spec import raw_catalog

from .damage import Damage, few
from .lines import read_lines
from .tree import RawFolder

TEXTS = "hash_dic"
TYPES = "type_info_dic"


@dataclass(frozen=True, slots=True)
class Names:
    """``texts`` by their number; ``types``: names of calls and tasks by level and type."""

    texts: Mapping[int, str] = field(default_factory=dict)
    types: Mapping[tuple[int, int], str] = field(default_factory=dict)


def read_names(
    host: RawFolder | None, damage: list[Damage], counts: dict[str, int] | None = None
) -> Names:
    """The dictionaries of a host; empty ones where there is none.

    counts: takes the number of entries of each dictionary that is there.
    """
    texts: dict[int, str] = {}
    types: dict[tuple[int, int], str] = {}
    files = host.files if host is not None else {}
    grammars = raw_catalog().grammars
    with few(damage) as stated:
        for one in files.get(TEXTS, ()):
            for _, parts in read_lines(one.path, grammars[TEXTS], stated):
                texts.setdefault(int(parts["hash"]), parts["text"])
    with few(damage) as stated:
        for one in files.get(TYPES, ()):
            for _, parts in read_lines(one.path, grammars[TYPES], stated):
                types.setdefault((int(parts["level"]), int(parts["type"])), parts["name"])
    if counts is not None:
        sizes = {TEXTS: len(texts), TYPES: len(types)}
        counts |= {name: size for name, size in sizes.items() if name in files}
    return Names(texts, types)
