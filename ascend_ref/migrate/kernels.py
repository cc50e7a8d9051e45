"""The figures of a kernel at one epoch of ``visualize_data.bin``, and at the next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ascend_spec import bin_catalog
from ascend_spec.bin.model import MemoryTable
from ascend_spec.bin.sentinels import MAIN_MEMORY, NOT_AVAILABLE, NOT_COUNTED, THEORETICAL

from .account import Effect, Notes
from .refusal import Refusal

Core = Literal["cube", "vector"]
CORES: tuple[Core, ...] = ("cube", "vector")
CHIPS = ("910B", "310P", "950")
"""Families of chips, as they stand in the names of chips."""
BASIC, FIGURE, TABLE, HEAT_MAP, TABLES, BETWEEN, ROOFLINE = (
    *(0x05, 0x06, 0x07, 0x08, 0x09),
    *(0x0C, 0x0D),
)
OF_KERNELS = frozenset((FIGURE, TABLE, HEAT_MAP, TABLES, BETWEEN, ROOFLINE))
PATHS = "core_memory_map/memory_unit"
SUFFIXES = ("bandwidth_suffix", "request_suffix")
PERCENT, INSTRUCTIONS = 3, 1


@dataclass(frozen=True, slots=True)
class Kernel:
    """What decides the form of figures: family of chips and kind of operator, empty if unknown."""

    chip: str
    op_type: str

    def require(self, old: str, new: str, types: Iterable[int]) -> None:
        """Raises :class:`.Refusal` where the spec does not know kernels like this of two epochs."""
        if {old, new} == {"E0", "E1"}:
            return
        if {old, new} != {"E2", "E3"}:
            raise Refusal(
                "up to E1 vector operators alone are known, and of E2 mix operators alone, so that "
                "what becomes of their figures is not"
            )
        for epoch in (old, new):
            if OF_KERNELS.intersection(types) and not self.tables(epoch):
                kind = f"{self.op_type or 'unknown'} operators on {self.chip or 'this chip'}"
                raise Refusal(f"no file of {epoch} is known of {kind}")

    def tables(self, epoch: str) -> Mapping[str, MemoryTable]:
        """The memory tables of a block."""
        return bin_catalog().memory.tables(self.chip, self.op_type, epoch)


def kernel_of(values: Mapping[int, Any]) -> Kernel:
    """The kernel of a file, by the payloads of its block types."""
    basic = values.get(BASIC)
    soc, op_type = (
        basic.get(key) if isinstance(basic, dict) else None for key in ("soc", "op_type")
    )
    chip = next((one for one in CHIPS if one in str(soc)), "")
    return Kernel(chip, op_type if isinstance(op_type, str) else "")


def step(code: int, value: Any, kernel: Kernel, old: str, new: str, notes: Notes) -> Any:
    """A payload at the next epoch, or at the one before. What has another form stays as it is."""
    change = _CHANGES.get((old, new), {}).get(code)
    if change is None or not isinstance(value, dict):
        return value
    return change(value, kernel, _Noting(notes, f"0x{code:02X}", old, new))


@dataclass(frozen=True, slots=True)
class _Noting:
    """Takes down what is done to a block between two epochs. What goes and cannot be made again is
    lost; what a member held that goes, its reader finds out.
    """

    notes: Notes
    label: str
    old: str
    new: str

    def __call__(self, effect: Effect, place: str, words: str) -> None:
        self.notes[effect, f"{self.label}: {place}", words] += 1


@dataclass(frozen=True, slots=True)
class _Names:
    """Which things of one epoch are which of another. ``place``: where they stand in a block;
    ``kind``: what they are; ``known``: those that the first has.
    """

    place: str
    kind: str
    known: Collection[str]
    names: Mapping[str, str]

    def at_other(self, name: str, note: _Noting) -> str | None:
        """The name of a thing at the other epoch, that of an unknown one itself; ``None`` for one
        that goes.
        """
        if name not in self.known:
            return name
        if name not in self.names:
            note("lost", f"{self.place}/{name}", f"no {self.kind} of {note.new}")
            return None
        other = self.names[name]
        if other != name:
            note("renamed", f"{self.place}/{other}", f"{name} before")
        return other


Change: TypeAlias = Callable[[dict[str, Any], Kernel, _Noting], dict[str, Any]]


def _each(value: dict[str, Any], key: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    """An object with each element of a list in it changed; ``None`` for one that goes."""
    if not isinstance(value.get(key), list):
        return value
    made = []
    for one in value[key]:
        changed = change(one) if isinstance(one, dict) else one
        if changed is not None or one is None:
            made.append(changed)
    return {**value, key: made}


# --- E0 and E1: entries of the loads, nested and flat ------------------------------------------


def _flat(code: int) -> Change:
    def change(value: dict[str, Any], _: Kernel, note: _Noting) -> dict[str, Any]:
        def one(entry: dict[str, Any]) -> dict[str, Any]:
            detail = entry.get("data_detail")
            if not isinstance(detail, dict):
                return entry
            note("converted", "subblock_detail", "an entry without data_detail")
            made = {**{key: inner for key, inner in entry.items() if key != "data_detail"}}
            made |= detail
            if code == FIGURE:
                note("defaulted", "subblock_detail/origin_value", str(NOT_COUNTED))
                made["origin_value"] = NOT_COUNTED
                if made.get("unit") == INSTRUCTIONS and isinstance(made.get("value"), float):
                    note("converted", "subblock_detail/value", "from a fraction to %")
                    made |= {"unit": PERCENT, "value": made["value"] * 100}
            return made

        return _each(value, "subblock_detail", one)

    return change


def _nested(code: int) -> Change:
    def change(value: dict[str, Any], _: Kernel, note: _Noting) -> dict[str, Any]:
        def one(entry: dict[str, Any]) -> dict[str, Any]:
            if "data_detail" in entry or "name" not in entry:
                return entry
            note("converted", "subblock_detail", "an entry with data_detail")
            detail = {key: entry[key] for key in ("name", "unit", "value") if key in entry}
            share = detail.get("value")
            if code == FIGURE and detail.get("unit") == PERCENT and isinstance(share, float):
                note("converted", "subblock_detail/value", "from % to a fraction")
                detail |= {"unit": INSTRUCTIONS, "value": share / 100}
            gone = ("name", "unit", "value", "origin_value")
            made = {key: inner for key, inner in entry.items() if key not in gone}
            return {**made, "data_detail": detail}

        return _each(value, "subblock_detail", one)

    return change


# --- E2 and E3: the exporter before and after its publication -----------------------------------


def _with_frequencies(value: dict[str, Any], _: Kernel, note: _Noting) -> dict[str, Any]:
    made = dict(value)
    for key in ("cur_freq", "rated_freq"):
        if key not in made:
            note("defaulted", key, NOT_AVAILABLE)
            made[key] = NOT_AVAILABLE
    return made


def _without(*keys: str, place: str = "") -> Change:
    def change(value: dict[str, Any], _: Kernel, note: _Noting) -> dict[str, Any]:
        for key in keys:
            if key in value:
                note("gone", f"{place}{key}", f"no key of {note.new}")
        return {key: inner for key, inner in value.items() if key not in keys}

    return change


def _loads(code: int) -> Change:
    """Without the entries that the other epoch does not have."""

    def change(value: dict[str, Any], kernel: Kernel, note: _Noting) -> dict[str, Any]:
        ours, theirs = (
            {
                entry.name
                for core in CORES
                for subcore in (None, 0, 1)
                for entry in bin_catalog().loads.entries(code, kernel.chip, core, epoch, subcore)
            }
            for epoch in (note.old, note.new)
        )

        def one(entry: dict[str, Any]) -> dict[str, Any] | None:
            name = entry.get("name")
            if isinstance(name, str) and name in ours and name not in theirs:
                note("lost", f"subblock_detail/{name}", f"no entry of {note.new}")
                return None
            return entry

        return _each(value, "subblock_detail", one)

    return change


def _each_path(
    value: dict[str, Any], note: _Noting, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """A heat map with each path changed; those whose requests the epochs count in two ways are
    named, and keep their figures.
    """

    def path(unit: dict[str, Any]) -> dict[str, Any]:
        number = unit.get("memory_path")
        if number in MAIN_MEMORY:
            words = f"{note.old} and {note.new} count its requests in two ways"
            note("kept", f"{PATHS}: path {number}", words)
        return change(unit)

    def block(one: dict[str, Any]) -> dict[str, Any]:
        return _each(one, "memory_unit", path)

    return _each(value, "core_memory_map", block)


def _with_suffixes(value: dict[str, Any], kernel: Kernel, note: _Noting) -> dict[str, Any]:
    def path(unit: dict[str, Any]) -> dict[str, Any]:
        number = unit.get("memory_path")
        suffix = THEORETICAL.get(number, "") if isinstance(number, int) else ""
        made = dict(unit)
        for key in SUFFIXES:
            if key not in made:
                note("defaulted", f"{PATHS}/{key}", suffix or "an empty text")
                made[key] = suffix
        return made

    return _each_path(value, note, path) if kernel.chip == "910B" else value


def _without_suffixes(value: dict[str, Any], kernel: Kernel, note: _Noting) -> dict[str, Any]:
    without = _without(*SUFFIXES, place=f"{PATHS}/")
    return _each_path(value, note, lambda unit: without(unit, kernel, note))


def paired(
    ours: Sequence[str], theirs: Sequence[str], alike: Callable[[str, str], bool]
) -> dict[str, str]:
    """Which name is which: the same, else, of those that are left, the first that is alike."""
    found = {one: one for one in ours if one in theirs}
    left = [one for one in theirs if one not in found]
    for one in ours:
        if one not in found:
            other = next((other for other in left if alike(one, other)), None)
            if other is not None:
                found[one] = other
                left.remove(other)
    return found


def _by_place(ours: Sequence[str], theirs: Sequence[str]) -> dict[str, str]:
    """Which name is which: the same, else in lists of one length that in the same place."""
    found = {one: one for one in ours if one in theirs}
    if len(ours) == len(theirs):
        for one, other in zip(ours, theirs, strict=True):
            if one not in found and other not in ours:
                found[one] = other
    return found


def _memory_tables(value: dict[str, Any], kernel: Kernel, note: _Noting) -> dict[str, Any]:
    ours, theirs = kernel.tables(note.old), kernel.tables(note.new)
    same = paired([*ours], [*theirs], lambda one, other: ours[one].rows == theirs[other].rows)
    names = _Names("table_detail", "table", ours, same)

    def table(one: dict[str, Any]) -> dict[str, Any] | None:
        name = one.get("table_name")
        if not isinstance(name, str) or name not in ours:
            return one
        other = names.at_other(name, note)
        return None if other is None else _table(one, ours[name], theirs[other], note)

    def block(one: dict[str, Any]) -> dict[str, Any]:
        made = _each(one, "table_detail", table)
        tables = made.get("table_detail")
        if isinstance(tables, list) and all(_named(inner) for inner in tables):
            made["table_detail"] = sorted(tables, key=lambda inner: str(inner["table_name"]))
        return made

    return _each(value, "table_per_block", block)


def _named(table: Any) -> bool:
    return isinstance(table, dict) and isinstance(table.get("table_name"), str)


def _table(
    table: dict[str, Any], old: MemoryTable, new: MemoryTable, note: _Noting
) -> dict[str, Any]:
    """A table with the rows and columns of another epoch, if it has those of its own."""
    rows, headers = table.get("row"), table.get("header_name")
    if not isinstance(rows, list) or not _is_table(rows, headers, old):
        return {**table, "table_name": new.name}
    place = f"table_detail/{new.name}"
    names = _Names(place, "row", old.rows, _by_place(old.rows, new.rows))
    made = []
    for row in rows:
        name = names.at_other(str(row["name"]), note)
        if name is None:
            continue
        cells = dict(zip(old.headers[1:], row["value"], strict=True))
        for header in new.headers[1:]:
            if header not in cells:
                note("defaulted", f"{place}/{header}", NOT_AVAILABLE)
        for header in old.headers[1:]:
            if header not in new.headers:
                note("gone", f"{place}/{header}", f"no column of {note.new}")
        values = [cells.get(header, NOT_AVAILABLE) for header in new.headers[1:]]
        made.append({**row, "name": name, "value": values})
    size = [len(made), len(new.headers) - 1]
    return {
        **table,
        **{"table_name": new.name, "row": made, "header_name": [*new.headers], "size": size},
    }


def _is_table(rows: list[Any], headers: Any, facts: MemoryTable) -> bool:
    return headers == list(facts.headers) and all(
        isinstance(row, dict)
        and isinstance(row.get("name"), str)
        and isinstance(row.get("value"), list)
        and len(row["value"]) == len(facts.headers) - 1
        for row in rows
    )


def _cubes(first: bool) -> Change:
    """The sub-cores of each core, those of the cube before or behind the others."""

    def change(value: dict[str, Any], _: Kernel, note: _Noting) -> dict[str, Any]:
        def core(one: dict[str, Any]) -> dict[str, Any]:
            cores = one.get("core_detail")
            if not isinstance(cores, list) or not all(isinstance(inner, dict) for inner in cores):
                return one
            ordered = sorted(
                cores, key=lambda inner: (inner.get("subcore_type") == "cube") != first
            )
            if ordered != cores:
                place = "first" if first else "last"
                note("converted", "op_detail/core_detail", f"the cube core {place}")
            return {**one, "core_detail": ordered}

        return _each(value, "op_detail", core)

    return change


def _rooflines(value: dict[str, Any], kernel: Kernel, note: _Noting) -> dict[str, Any]:
    facts = bin_catalog().rooflines
    ours, theirs = (
        {one.title: one.bandwidths for one in facts.charts(kernel.chip, kernel.op_type, epoch)}
        for epoch in (note.old, note.new)
    )
    titles = paired([*ours], [*theirs], lambda one, other: ours[one] == theirs[other])
    titles |= paired(
        [one for one in ours if one not in titles],
        [one for one in theirs if one not in titles.values()],
        lambda one, other: len(ours[one]) == len(theirs[other]) and _core(one) == _core(other),
    )
    charts = _Names("multiple_rooflines", "chart", ours, titles)
    operations: dict[str, str] = {}
    for core in CORES:
        names = (facts.computilities(kernel.chip, core, one) for one in (note.old, note.new))
        operations |= _by_place(*names)

    def chart(one: dict[str, Any]) -> dict[str, Any] | None:
        title = one.get("title")
        if not isinstance(title, str) or title not in ours:
            return one
        other = charts.at_other(title, note)
        if other is None:
            return None
        lines = _by_place(ours[title], theirs[other])

        def line(inner: dict[str, Any]) -> dict[str, Any]:
            made = dict(inner)
            name = made.get("bw_name")
            if isinstance(name, str) and lines.get(name, name) != name:
                note("renamed", f"multiple_rooflines/rooflines/{lines[name]}", f"{name} before")
                made["bw_name"] = lines[name]
            power = made.get("computility_name")
            if isinstance(power, str):
                for before, after in operations.items():
                    if before != after and before in power:
                        note("renamed", f"computility_name/{after}", f"{before} before")
                        power = power.replace(before, after)
                made["computility_name"] = power
            return made

        return _each({**one, "title": other}, "rooflines", line)

    return _each(value, "multiple_rooflines", chart)


def _core(title: str) -> str:
    """The core in the title of a chart, empty for that of all."""
    return next((one for one in CORES if one in title.lower()), "")


_CHANGES: Mapping[tuple[str, str], Mapping[int, Change]] = {
    ("E0", "E1"): {FIGURE: _flat(FIGURE), TABLE: _flat(TABLE)},
    ("E1", "E0"): {FIGURE: _nested(FIGURE), TABLE: _nested(TABLE)},
    ("E2", "E3"): {
        BASIC: _with_frequencies,
        FIGURE: _loads(FIGURE),
        TABLE: _loads(TABLE),
        HEAT_MAP: _with_suffixes,
        TABLES: _memory_tables,
        BETWEEN: _cubes(first=True),
        ROOFLINE: _rooflines,
    },
    ("E3", "E2"): {
        BASIC: _without("cur_freq", "rated_freq"),
        FIGURE: _loads(FIGURE),
        TABLE: _loads(TABLE),
        HEAT_MAP: _without_suffixes,
        TABLES: _memory_tables,
        BETWEEN: _cubes(first=False),
        ROOFLINE: _rooflines,
    },
}
