"""Two sets of text deliverables of one recording, row by row and value by value.

Both are read into one database of facts, and each table of it is an agreement of the two, matched
and compared as those of the rules are: by meaning, within one unit of the last printed digit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ascend_ref.db.display import clip, printable

from ..compare.agreement import WHICH, Agreement, Comparison, Side, Which
from ..compare.follow import TIME
from ..compare.match import PAIRS, Compared, Outcome, Selected, difference, outcome, pair_types
from ..compare.sql import quoted
from ..media.text.database import Facts, open_facts
from ..media.text.deliverables import Deliverable
from ..media.text.folder import Folder, read_folder
from ..media.text.layers import layers_by_table

SHOWN = 60
"""Characters of a value that are shown."""
EXAMPLE_COLUMNS = 4
_DEVICE = ("Device_id",)
"""Columns that say which of several devices a row is of."""
_PLACE = frozenset(("file", "row", "line", "offset", "pointer", "shape", "kind", "pid", "tid"))


@dataclass(frozen=True, slots=True)
class Difference:
    """What does not agree: ``what`` as the rules call it, in which file and column, how often of
    how many rows, and the first of it in words.
    """

    what: str
    feature: str
    place: str
    column: str | None
    count: int
    total: int
    words: str


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the facts that both sides fill: its name and feature, what its rows are, and
    their columns as SQL.
    """

    place: str
    feature: str
    of: str
    columns: Mapping[str, str]
    keys: tuple[str, ...]
    near: str | None = None
    times: tuple[str, ...] = ()


def differences(
    left: Sequence[Deliverable],
    right: Sequence[Deliverable],
    features: Collection[str] | None = None,
    sides: tuple[str, str] = ("the truth", "the exporter"),
    numbered: Collection[str] = (),
) -> list[Difference]:
    """What two sets of files do not agree in. ``features``: only these; ``sides``: their names.
    ``numbered``: columns of events that hold numbers of the exporter's own choice; what they refer
    to is compared by the arrows.

    Files that are equal byte for byte are not read.
    """
    wanted = [
        [one for one in some if features is None or one.name in features] for some in (left, right)
    ]
    named = [_by_feature(some) for some in wanted]
    found = [
        Difference("absent file", one, named[0][one][0].place, None, 1, 1, f"{sides[1]} wrote none")
        for one in sorted(named[0].keys() - named[1].keys())
    ]
    found += [
        Difference("added file", one, named[1][one][0].place, None, 1, 1, f"{sides[0]} has none")
        for one in sorted(named[1].keys() - named[0].keys())
    ]
    unequal = [
        one
        for one in sorted(named[0].keys() & named[1].keys())
        if [path.path.read_bytes() for path in named[0][one]]
        != [path.path.read_bytes() for path in named[1][one]]
    ]
    if unequal:
        expected, actual = ([file for one in unequal for file in some[one]] for some in named)
        with open_facts() as facts:
            folder = read_folder(facts, [*expected, *actual], alone=True)
            found += _Both(folder, len(expected), sides, frozenset(numbered)).differences()
    return found


def _by_feature(files: Sequence[Deliverable]) -> dict[str, list[Deliverable]]:
    found: dict[str, list[Deliverable]] = defaultdict(list)
    for one in files:
        found[one.name].append(one)
    return found


class _Both:
    """Two sets of files read together; those of the left side have numbers below ``border``."""

    def __init__(
        self, folder: Folder, border: int, sides: tuple[str, str], numbered: frozenset[str]
    ) -> None:
        self._folder = folder
        self._facts: Facts = folder.facts
        self._border = border
        self._left_out = _PLACE | numbered
        self._sides: Mapping[Which, str] = dict(zip(WHICH, sides, strict=True))

    def differences(self) -> Iterator[Difference]:
        for number, why in self._folder.unreadable.items():
            yield self._broken(number, why)
        select = "SELECT file, reason FROM unit.damage ORDER BY file, row"
        for number, reason in dict(self._facts.rows(select)).items():
            yield self._broken(number, reason)
        for table in self._tables():
            yield from self._compared(table)

    def _broken(self, number: int, reason: str) -> Difference:
        file = self._folder.files[number]
        return Difference("broken file", file.name, file.place, None, 1, 1, printable(reason))

    def _tables(self) -> Iterator[_Table]:
        there = self._facts.tables()
        for name in sorted(one.partition(".")[2] for one in there if one.startswith("csv.")):
            yield from self._csv(name)
        yield from self._documents()
        for table in sorted(layers_by_table()):
            if f"trace.{table}" in there:
                yield self._layer(table)
        yield from self._lanes_and_arrows()

    def _csv(self, name: str) -> Iterator[_Table]:
        types = self._types(f"SELECT * FROM csv.{quoted(name)}")
        columns = {
            # Writers differ in whether their own quotes stay around a text (erratum T36).
            one: f"trim({quoted(one)}, '\"')" if types[one] == "VARCHAR" else quoted(one)
            for one in types
            if one not in ("file", "row", "line", "offset")
        }
        times = tuple(one for one in columns if types[one] == "BIGINT" and one.endswith("(us)"))
        texts = [one for one in columns if types[one] == "VARCHAR"]
        named = texts[:1] or list(columns)[:1]
        yield _Table(
            f"{name}.csv",
            name,
            f"csv.{quoted(name)}",
            columns,
            tuple(dict.fromkeys((*[one for one in _DEVICE if one in columns], *named))),
            times[0] if times else None,
            times,
        )

    def _documents(self) -> Iterator[_Table]:
        operator = {name: f"o.{quoted(name)}" for name in ("step", "class", "name", "group")}
        keys = tuple(operator)
        for feature, table, of, further in (
            ("communication", "operator", "doc.operator o", ()),
            (
                "communication",
                "link",
                "doc.link t JOIN doc.operator o ON (o.file, o.row) = (t.file, t.operator)",
                ("link",),
            ),
            (
                "communication",
                "packet",
                "doc.packet t JOIN doc.link l ON (l.file, l.row) = (t.file, t.link) "
                "JOIN doc.operator o ON (o.file, o.row) = (l.file, l.operator)",
                ("link", "size"),
            ),
            ("communication_matrix", "matrix", "doc.matrix o", ("kind", "place", "link")),
        ):
            own = "o" if table in ("operator", "matrix") else "t"
            left_out = _PLACE - {"kind"} | {"operator", *(() if table != "packet" else ("link",))}
            columns = {
                one: f"{own}.{quoted(one)}"
                for one in self._facts.columns(f"doc.{table}")
                if one not in left_out
            }
            columns |= operator | ({"link": "l.link"} if table == "packet" else {})
            place = f"{own}.file AS file, {own}.row AS row"
            source = f"(SELECT {place}, {_listed(columns)} FROM {of})"
            yield _Table(
                f"{feature}.json",
                feature,
                source,
                {one: quoted(one) for one in columns},
                (*keys, *further),
            )

    def _layer(self, table: str) -> _Table:
        layer = layers_by_table()[table]
        every = self._facts.columns(f"trace.{table}")
        own = [one for one in every if one not in self._left_out]
        columns = {one: f"e.{quoted(one)}" for one in own}
        columns["thread"] = "coalesce(t.name, 'thread ' || e.tid)"
        columns["device"] = "p.device"
        source = (
            f"(SELECT e.file, e.row, {_listed(columns)} FROM trace.{table} e "
            "LEFT JOIN trace.thread t ON (t.file, t.pid, t.tid) = (e.file, e.pid, e.tid) "
            "LEFT JOIN trace.process p ON (p.file, p.pid) = (e.file, e.pid))"
        )
        return _Table(
            f"{self._timeline()}: {layer.name}",
            "timeline",
            source,
            {one: quoted(one) for one in columns},
            ("name",),
            "ts",
            ("ts",),
        )

    def _lanes_and_arrows(self) -> Iterator[_Table]:
        """What stands next to the slices of layers: processes, threads and arrows."""
        place = self._timeline()
        yield _Table(
            f"{place}: processes",
            "timeline",
            "(SELECT file, row, name, label, events > 0 AS used FROM trace.process)",
            {"name": "name", "label": "label", "used": "used"},
            ("name", "label"),
        )
        yield _Table(
            f"{place}: arrows",
            "timeline",
            "(SELECT file, row, cat, starts, ends, start_ns, end_ns FROM trace.arrow)",
            {one: one for one in ("cat", "starts", "ends", "start_ns", "end_ns")},
            ("cat",),
            "start_ns",
            ("start_ns", "end_ns"),
        )
        yield _Table(
            f"{place}: counters",
            "timeline",
            "(SELECT v.file, v.row, e.name, e.ts, v.series, v.value FROM trace.value v "
            "JOIN trace.event e ON (e.file, e.row) = (v.file, v.row))",
            {one: one for one in ("name", "ts", "series", "value")},
            ("name", "series"),
            "ts",
            ("ts",),
        )

    def _timeline(self) -> str:
        places = (one.place for one in self._folder.files.values() if one.kind == "timeline")
        return next(places, "timeline")

    def _types(self, query: str) -> dict[str, str]:
        rows = self._facts.rows(f"DESCRIBE {query}")
        return {str(name): str(kind) for name, kind, *_ in rows}

    def _compared(self, table: _Table) -> Iterator[Difference]:
        feature = self._feature(table)
        lacks = {which: self._lacks(table, which) for which in WHICH}
        for which in WHICH:
            for name in sorted(lacks[which]):
                what = "absent column" if which == "right" else "added column"
                words = f"{self._sides[which]} does not have it"
                yield Difference(what, feature, table.place, name, 1, 1, words)
        columns = [one for one in table.columns if one not in lacks["left"] | lacks["right"]]
        asked = self._asked(table, columns)
        if any(self._count(asked.sides[which]) for which in WHICH):
            yield from self._shown(table, feature, outcome(self._facts, asked))
            yield from self._order(table, feature, asked)

    def _lacks(self, table: _Table, which: Which) -> set[str]:
        """The columns that a side of a CSV file does not have, and the other one has."""
        if not table.of.startswith("csv."):
            return set()
        query = (
            f"SELECT DISTINCT column_name FROM unit.header WHERE {self._of(which)} "
            "AND file IN (SELECT unnest(?::INTEGER[]))"
        )
        files = [number for number, one in self._folder.files.items() if one.name == table.feature]
        return set(table.columns) - {name for (name,) in self._facts.rows(query, (files,))}

    def _feature(self, table: _Table) -> str:
        if table.feature != "timeline":
            return table.feature
        names = (one.name for one in self._folder.files.values() if one.kind == "timeline")
        return next(names, table.feature)

    def _of(self, which: Which) -> str:
        return f"file {'<' if which == 'left' else '>='} {self._border}"

    def _asked(self, table: _Table, columns: Sequence[str]) -> Compared:
        keys = tuple(one for one in table.keys if one in columns)
        near = table.near if table.near in columns else None
        rest = [one for one in columns if one not in keys]
        compare = {one: TIME if one in table.times else Comparison() for one in rest}
        side = Side(table.of, {one: table.columns[one] for one in columns})
        agreement = Agreement(side, side, keys, compare, near)
        sides = {which: self._selected(table, columns, which) for which in WHICH}
        return Compared(agreement, keys, near, compare, sides)

    def _selected(self, table: _Table, columns: Sequence[str], which: Which) -> Selected:
        cells = {one: table.columns[one] for one in columns}
        query = (
            f"SELECT file, row, 1 AS times{', ' if cells else ''}{_listed(cells)} "
            f"FROM {table.of} WHERE {self._of(which)}"
        )
        kinds = self._types(query)
        types = {one: kinds[one] for one in columns}
        return Selected(Side(table.of, cells), query, types, {})

    def _count(self, selected: Selected) -> int:
        return int(self._facts.value(f"SELECT count(*) FROM ({selected.query})") or 0)

    def _shown(self, table: _Table, feature: str, found: Outcome) -> Iterator[Difference]:
        types = pair_types(found.compared)
        total = max(found.rows.values())
        for name, count in found.differing.items():
            if count:
                where = difference(found.compared, types, name)
                words = self._pair(name, where, found.compared)
                yield Difference("value", feature, table.place, name, count, total, words)
        for which in WHICH:
            if count := found.alone[which]:
                what = "absent row" if which == "left" else "added row"
                words = self._alone(which, found.compared)
                yield Difference(what, feature, table.place, None, count, total, words)

    def _pair(self, name: str, where: str, asked: Compared) -> str:
        named = [*asked.keys, *([asked.near] if asked.near and asked.near != name else [])]
        chosen = [f"left_{name}", f"right_{name}", *(f"left_{one}" for one in named)]
        row = self._first(chosen, where)
        left, right = (_text(one, asked.columns[name]) for one in row[:2])
        at = _stated(asked, named, row[2:])
        words = f"{left} of {self._sides['left']}, {right} of {self._sides['right']}"
        return f"{words} ({at})" if at else words

    def _alone(self, which: Which, asked: Compared) -> str:
        shown = asked.shown[:EXAMPLE_COLUMNS]
        other = "right" if which == "left" else "left"
        row = self._first([f"{which}_{one}" for one in shown], f"{other}_turn IS NULL")
        return f"{_stated(asked, shown, row)} of {self._sides[which]}"

    def _first(self, columns: Sequence[str], where: str) -> tuple[object, ...]:
        listed = ", ".join(map(quoted, columns)) or "1"
        order = "left_file, left_row, right_file, right_row"
        query = f"SELECT {listed} FROM {PAIRS} WHERE {where} ORDER BY {order} LIMIT 1"
        return tuple(self._facts.rows(query)[0])

    def _order(self, table: _Table, feature: str, asked: Compared) -> Iterator[Difference]:
        """Rows of a CSV file in another order, where its writer promises one.

        Rows of one time have no order of their own.
        """
        if not table.of.startswith("csv.") or not asked.shown:
            return
        listed = ", ".join(map(quoted, asked.shown))
        time = quoted(asked.near) if asked.near else f"hash({listed})"
        hashes = {
            which: f"SELECT row_number() OVER (ORDER BY file, row) AS at, hash({listed}) AS hash, "
            f"{time} AS time FROM ({asked.sides[which].query})"
            for which in WHICH
        }
        left, right = (
            f"SELECT hash, count(*) AS n FROM ({hashes[one]}) GROUP BY 1" for one in WHICH
        )
        same = f"SELECT count(*) FROM (({left}) EXCEPT ({right})) UNION ALL SELECT count(*) FROM "
        same += f"(({right}) EXCEPT ({left}))"
        if any(count for (count,) in self._facts.rows(same)):
            return
        moved = self._facts.rows(
            f"SELECT count(*), min(l.at) FROM ({hashes['left']}) l JOIN ({hashes['right']}) r "
            "ON l.at = r.at AND l.time <> r.time"
        )[0]
        if moved[0]:
            total = self._count(asked.sides["left"])
            words = f"from row {moved[1]:,} on the rows are those of {self._sides['left']}, moved"
            yield Difference("order", feature, table.place, None, moved[0], total, words)


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{sql} AS {quoted(name)}" for name, sql in columns.items())


def _stated(asked: Compared, names: Sequence[str], values: Sequence[object]) -> str:
    return ", ".join(
        f"{name} {_text(value, asked.columns.get(name))}"
        for name, value in zip(names, values, strict=True)
    )


def _text(value: object, compared: Comparison | None) -> str:
    if compared is TIME and isinstance(value, int):
        return f"{value // 1000}.{value % 1000:03d} us"
    return "nothing" if value is None else clip(printable(str(value)), SHOWN)
