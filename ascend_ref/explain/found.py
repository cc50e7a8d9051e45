"""Raw files by their kind and folder: whether they are there, and what was read of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ascend_ref.raw.context import Context
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.tree import kind_of
from ascend_spec import raw_catalog
from ascend_spec.raw import RawFile
from ascend_spec.raw.catalog import SLICE


@dataclass(frozen=True, slots=True)
class Found:
    """One kind of raw file in one folder.

    ``kind``: what the spec calls it; ``folder``: host, device_* or FRAMEWORK, empty where there is
    none of them; ``name``: of its files, with changing parts in braces. ``files`` and ``size``, in
    bytes: what is there. ``records``: how many records, lines or documents were read, ``None``
    where nobody read them. ``here``: whether the chip has such files. ``damage``: what was wrong
    with them.
    """

    kind: str
    folder: str
    name: str
    files: int = 0
    size: int = 0
    records: int | None = None
    here: bool = True
    damage: tuple[str, ...] = ()


def find_kind(
    kind: RawFile,
    address: str,
    contexts: Sequence[Context],
    damage: Mapping[tuple[str, str], Sequence[str]],
) -> Iterator[Found]:
    """The files of a kind in each folder of its side, as what something is made of.

    Of files of several declarations the records count that it is made of. damage: of
    :func:`by_kind`.
    """
    name = kind.name.template.replace(SLICE, f"{raw_catalog().parts['slice'].before}*")
    own = [one for one in contexts if one.folder.side == kind.side]
    if not own:
        yield Found(kind.file, "", name, here=False)
    for context in own:
        folder = context.folder
        slices = folder.files.get(kind.file, ())
        yield Found(
            kind=kind.file,
            folder=folder.name,
            name=name.replace("{device}", str(folder.device)),
            files=len(slices),
            size=sum(_size(one.path) for one in slices),
            records=_records(kind, address, context.counts),
            here=context.side.chip is None or context.side.chip in kind.chips,
            damage=tuple(damage.get((folder.name, kind.file), ())),
        )


def _records(kind: RawFile, address: str, counts: Mapping[str, int]) -> int | None:
    own = [one.record for one in kind.members if address in one.feeds]
    if not own:
        return counts.get(kind.file)
    read = [count for one in own if (count := counts.get(f"{kind.file}/{one}")) is not None]
    return sum(read) if read else None


def by_kind(
    contexts: Sequence[Context], damage: Iterable[Damage]
) -> Mapping[tuple[str, str], Sequence[str]]:
    """What is damaged, by folder and kind of file; that of a whole folder has no kind."""
    folders = {context.folder.path: context.folder.name for context in contexts}
    found: dict[tuple[str, str], list[str]] = {}
    for one in damage:
        whole = one.file in folders
        place = (folders.get(one.file, ""), one.kind or "") if whole else _place(one.file, contexts)
        text = one.message if whole else str(one).replace(str(one.file), one.file.name, 1)
        found.setdefault(place, []).append(text)
    return found


def _place(file: Path, contexts: Sequence[Context]) -> tuple[str, str]:
    """The folder and the kind of a file."""
    kind = kind_of(file)
    names = (one.folder.name for one in contexts if one.folder.path in file.parents)
    return next(names, ""), "" if kind is None else kind.file


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
