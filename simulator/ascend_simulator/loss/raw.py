"""Faults of raw files, applied to the written tree: what they took, what a reader must state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ascend_ref.capture import Capture
from ascend_ref.raw.context import Context, contexts
from ascend_ref.raw.dictionaries import TEXTS, TYPES
from ascend_ref.raw.layout import Layout, layout_of
from ascend_ref.raw.series import Slice
from ascend_spec import raw_catalog
from ascend_spec.raw import RawFile

from ..choices import LOSSES_OF_SLICES, FaultChoice
from ..draws import Draws
from .raw_rows import Cost, Written, clock_names, cost_of
from .raw_side import put_wrong
from .raw_slices import Hit, cut, lose_head, lose_slice, tear


@dataclass(frozen=True, slots=True)
class RawDamage:
    """What a fault did to one raw file; truth.schema.yaml says what each member means."""

    path: str
    offset: int
    bytes: int
    gone: bool
    records: int
    first_ns: int | None
    last_ns: int | None
    tables: tuple[str, ...]
    rows: Mapping[str, int]
    key: str | None
    was: str | None
    became: str | None
    reported_in: str | None
    reported_at: int | None


def damage_raw(
    profile: Path, capture: Capture, fault: FaultChoice, devices: Collection[int], draws: Draws
) -> list[RawDamage]:
    """Apply a fault to the raw files of a process, and state what it did; paths are in ``profile``.

    capture: what the files hold. devices: of the ranks that it hits; the files of the host are hit
    in any case. Nothing where there is no such file.
    """
    kind = raw_catalog().files[fault.raw]
    found: list[RawDamage] = []
    for context in contexts(profile):
        folder = context.folder
        own = folder.side == "host" or folder.device in devices
        if folder.side != kind.side or not own or kind.file not in folder.files:
            continue
        if fault.kind in LOSSES_OF_SLICES:
            found += _slices(profile, capture, fault, kind, context, draws)
        else:
            found.append(_side(profile, capture, fault, kind, context, draws))
    return found


def _slices(
    profile: Path,
    capture: Capture,
    fault: FaultChoice,
    kind: RawFile,
    context: Context,
    draws: Draws,
) -> Iterator[RawDamage]:
    layout = layout_of(kind, context.side.chip, context.side.settings)
    parts: dict[tuple[tuple[str, str], ...], list[Slice]] = {}
    for one in context.folder.files[kind.file]:
        parts.setdefault(one.parts, []).append(one)
    # A fault takes from one file; that others of its kind are hit as well is a fault of its own.
    chosen = max(parts.values(), key=lambda some: sum(one.path.stat().st_size for one in some))
    whole = _rows_of(list(parts.values()), layout)
    before = sum(_count(some, layout) for some in _ahead(list(parts.values()), chosen))
    paths = cut(chosen, layout.size, fault.slices)
    starts = np.cumsum([0, *(path.stat().st_size // layout.size for path in paths)]) + before
    match fault.kind:
        case "raw-lost-slice":
            hits = lose_slice(paths, layout.size, draws)
        case "raw-aged-head":
            hits = lose_head(paths, layout.size, draws)
        case _:
            hits = tear(paths, layout.size, at_end=fault.cut == "end", draws=draws)
    every, counted = np.zeros(len(whole), np.bool_), Counter[str]()
    for hit in hits:
        lost = np.zeros(len(whole), np.bool_)
        first = starts[paths.index(hit.path)] + hit.offset // layout.size
        lost[first : first + len(hit.records)] = True
        every |= lost
        cost = cost_of(Written(kind, layout, whole, lost), capture, context)
        # A task may begin in one file and end in the next: it is lost with the first of them.
        together = Counter(cost_of(Written(kind, layout, whole, every), capture, context).rows)
        yield _of_hit(profile, kind, hit, cost._replace(rows=dict(together - counted)))
        counted = together


def _of_hit(profile: Path, kind: RawFile, hit: Hit, cost: Cost) -> RawDamage:
    return RawDamage(
        path=hit.path.relative_to(profile).as_posix(),
        offset=hit.offset,
        bytes=hit.size,
        gone=hit.gone,
        records=len(hit.records),
        first_ns=cost.first_ns,
        last_ns=cost.last_ns,
        tables=_tables(kind),
        rows=cost.rows,
        key=None,
        was=None,
        became=None,
        reported_in=hit.file.relative_to(profile).as_posix(),
        reported_at=hit.byte,
    )


def _side(
    profile: Path,
    capture: Capture,
    fault: FaultChoice,
    kind: RawFile,
    context: Context,
    draws: Draws,
) -> RawDamage:
    (path, *_) = (one.path for one in context.folder.files[kind.file])
    size = path.stat().st_size
    # Contexts read their files once: these still know the clocks of the whole tree.
    costs = list(_timed(context, capture))
    changed = None
    if fault.kind == "raw-wrong-clock":
        origin = capture.origin
        length = 0 if origin.end is None else origin.end - origin.start
        changed = put_wrong(path, kind, length, draws)
    else:
        path.unlink()
    lost = _lost_clocks(context)
    hit = [(file, cost) for file, names, cost in costs if lost & names]
    rows = sum((Counter(cost.rows) for _, cost in hit), Counter[str]())
    first = [cost.first_ns for _, cost in hit if cost.first_ns is not None]
    last = [cost.last_ns for _, cost in hit if cost.last_ns is not None]
    tables = {name: None for file in (kind, *(one for one, _ in hit)) for name in _tables(file)}
    known = bool(hit) or (changed is None and (kind.required or kind.file in (TEXTS, TYPES)))
    return RawDamage(
        path=path.relative_to(profile).as_posix(),
        offset=0,
        bytes=size,
        gone=changed is None,
        records=0,
        first_ns=min(first, default=None),
        last_ns=max(last, default=None),
        tables=tuple(tables),
        rows=dict(rows),
        key=None if changed is None else changed.key,
        was=None if changed is None else changed.was,
        became=None if changed is None else changed.became,
        reported_in=context.folder.path.relative_to(profile).as_posix() if known else None,
        reported_at=None,
    )


def _timed(context: Context, capture: Capture) -> Iterator[tuple[RawFile, set[str], Cost]]:
    """The kinds of records in a folder, with their clocks and what the loss of each kind costs."""
    for name, slices in context.folder.files.items():
        kind = raw_catalog().files[name]
        if kind.form != "records" or not kind.read or context.side.chip not in kind.chips:
            continue
        layout = layout_of(kind, context.side.chip, context.side.settings)
        rows = _rows_of([[one] for one in slices], layout)
        every = Written(kind, layout, rows, np.ones(len(rows), np.bool_))
        yield kind, {*clock_names(kind, layout, context)}, cost_of(every, capture, context)


def _lost_clocks(context: Context) -> set[str]:
    """The clocks of a folder that are another or none, now that its side files are damaged."""
    folder = next(
        one for one in contexts(context.folder.path) if one.folder.path == context.folder.path
    )
    before, after = context.reading.clocks, folder.reading.clocks
    return {name for name, clock in before.items() if after.get(name) != clock}


def _tables(kind: RawFile) -> tuple[str, ...]:
    return tuple(one for one in kind.feeds if one.startswith("table/"))


def _rows_of(
    parts: list[list[Slice]], layout: Layout
) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    content = b"".join(one.path.read_bytes() for some in parts for one in some)
    whole = len(content) // layout.size * layout.size
    return np.frombuffer(content, np.uint8, whole).reshape(-1, layout.size)


def _count(some: list[Slice], layout: Layout) -> int:
    return sum(one.path.stat().st_size for one in some) // layout.size


def _ahead(parts: list[list[Slice]], chosen: list[Slice]) -> list[list[Slice]]:
    return parts[: next(at for at, some in enumerate(parts) if some is chosen)]
