"""Two sets of text deliverables of one recording, row by row and value by value.

Both are read into one database of facts, whose tables are compared (:mod:`.pairing`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ascend_ref.db.encode.samples import WRAP

from ..compare.agreement import WHICH, Which
from ..compare.match import Compared
from ..compare.sql import quoted
from ..media.text.database import Facts, open_facts
from ..media.text.deliverables import Deliverable
from ..media.text.folder import Folder, read_folder
from ..media.text.layers import layers_by_table
from ..media.text.places import position
from .clocks import Times, moved
from .files import File
from .pairing import (
    Difference,
    Example,
    Pairing,
    Table,
    broken_file,
    clocks_ahead,
    listed,
    unmatched,
)

_DEVICE = ("Device_id",)
"""Columns that say which of several devices a row is of."""
_SERVICE, _RATES = "QoS", ("value", "bandwidth(MB/s)")
_KEPT = WRAP >> 20
"""Rates of QoS are kept in 32 bits of Byte/s: less than so many MB/s of 2^20 Byte."""
_IN_US = ("start_us",)
"""Columns of documents that hold instants in us."""
_PLACE = frozenset(("file", "row", "line", "offset", "pointer", "shape", "kind", "pid", "tid"))


def differences(
    left: Sequence[File],
    right: Sequence[File],
    features: Collection[str] | None = None,
    sides: tuple[str, str] = ("the truth", "the exporter"),
    numbered: Collection[str] = (),
    of_database: bool = False,
    examples: int = 1,
    clocks: bool = False,
) -> list[Difference]:
    """What the texts of two sets of files do not agree in. ``features``: only these; ``sides``:
    their names. ``numbered``: columns of events that hold numbers of the exporter's own choice;
    what they refer to is compared by the arrows. ``of_database``: the right side knows no more of a
    rate than databases hold (erratum E36). ``examples`` of each difference are stated at most.
    ``clocks``: that the times of a side are all later by one length is one.

    Files that are equal byte for byte are not read.
    """
    wanted = [
        [
            one
            for one in some
            if isinstance(one, Deliverable) and (features is None or one.name in features)
        ]
        for some in (left, right)
    ]
    named = [_by_feature(some) for some in wanted]
    places = [{name: files[0].place for name, files in some.items()} for some in named]
    found = unmatched(places, sides)
    unequal = [
        one
        for one in sorted(named[0].keys() & named[1].keys())
        if [path.path.read_bytes() for path in named[0][one]]
        != [path.path.read_bytes() for path in named[1][one]]
    ]
    for some in _read_together(named[0], unequal):
        expected, actual = ([file for one in some for file in side[one]] for side in named)
        with open_facts() as facts:
            folder = read_folder(facts, [*expected, *actual], alone=True)
            both = _Both(folder, len(expected), sides, frozenset(numbered), of_database, examples)
            found += both.differences(clocks)
    return found


def _read_together(
    files: Mapping[str, Sequence[Deliverable]], features: Sequence[str]
) -> Iterator[Sequence[str]]:
    """Features whose files are read into one database: each timeline has one of its own, as two of
    them have layers of the same name.
    """
    timelines = [one for one in features if any(file.kind == "timeline" for file in files[one])]
    others = [one for one in features if one not in timelines]
    yield from ([others] if others else [])
    for one in timelines:
        yield [one]


def _by_feature(files: Sequence[Deliverable]) -> dict[str, list[Deliverable]]:
    found: dict[str, list[Deliverable]] = defaultdict(list)
    for one in files:
        found[one.name].append(one)
    return found


class _Both:
    """Two sets of files read together; those of the left side have numbers below ``border``."""

    def __init__(
        self,
        folder: Folder,
        border: int,
        sides: tuple[str, str],
        numbered: frozenset[str],
        of_database: bool,
        examples: int,
    ) -> None:
        self._folder = folder
        self._of_database = of_database
        self._facts: Facts = folder.facts
        self._left_out = _PLACE | numbered
        self._pairing = Pairing(self._facts, border, sides, examples)

    def differences(self, clocks: bool) -> Iterator[Difference]:
        for number, why in self._folder.unreadable.items():
            yield self._broken(number, why)
        select = "SELECT file, reason FROM unit.damage ORDER BY file, row"
        for number, reason in dict(self._facts.rows(select)).items():
            yield self._broken(number, reason)
        tables = list(self._tables())
        ahead = self._clocks(tables) if clocks else {}
        yield from clocks_ahead(ahead, self._pairing.sides["right"])
        usual = next(iter(ahead.values()), 0)
        for one in tables:
            by: dict[str, float] = dict.fromkeys(one.times, ahead.get(one.place, 0))
            by |= {column: usual / 1000 for column in one.columns if column in _IN_US}
            yield from self._compared(replace(one, ahead=by))

    def _clocks(self, tables: Sequence[Table]) -> Mapping[str, int]:
        return moved(
            (one.place, partial(self._times, one, "left"), partial(self._times, one, "right"))
            for one in tables
            if one.near is not None and one.near in one.times
        )

    def _times(self, table: Table, which: Which) -> Iterator[Times]:
        """When the rows of a side are, in ns."""
        select = f"SELECT CAST({table.columns[table.near or '']} AS BIGINT) AS near FROM {table.of}"
        known = f"{select} WHERE {self._pairing.of(which)} AND near IS NOT NULL"
        found = self._facts.connection.execute(known).fetchnumpy()["near"]
        yield np.asarray(np.ma.getdata(found), np.int64)

    def _broken(self, number: int, reason: str) -> Difference:
        file = self._folder.files[number]
        return broken_file(file.name, file.place, reason)

    def _tables(self) -> Iterator[Table]:
        there = self._facts.tables()
        for name in sorted(one.partition(".")[2] for one in there if one.startswith("csv.")):
            yield from self._csv(name)
        yield from self._documents()
        for table in sorted(layers_by_table()):
            if f"trace.{table}" in there:
                yield self._layer(table)
        yield from self._lanes_and_arrows()

    def _csv(self, name: str) -> Iterator[Table]:
        types = self._pairing.types(f"SELECT * FROM csv.{quoted(name)}")
        columns = {
            # Writers differ in whether their own quotes stay around a text (erratum T36).
            one: f"trim({quoted(one)}, '\"')" if types[one] == "VARCHAR" else quoted(one)
            for one in types
            if one not in ("file", "row", "line", "offset")
        }
        times = tuple(one for one in columns if types[one] == "BIGINT" and one.endswith("(us)"))
        texts = [one for one in columns if types[one] == "VARCHAR"]
        named = texts[:1] or list(columns)[:1]
        yield Table(
            f"{name}.csv",
            name,
            f"csv.{quoted(name)}",
            columns,
            tuple(dict.fromkeys((*[one for one in _DEVICE if one in columns], *named))),
            times[0] if times else None,
            times,
            home=f"csv.{name}",
        )

    def _documents(self) -> Iterator[Table]:
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
            source = f"(SELECT {place}, {listed(columns)} FROM {of})"
            yield Table(
                f"{feature}.json",
                feature,
                source,
                {one: quoted(one) for one in columns},
                (*keys, *further),
                home=f"doc.{table}",
            )

    def _layer(self, table: str) -> Table:
        layer = layers_by_table()[table]
        every = self._facts.columns(f"trace.{table}")
        own = [one for one in every if one not in self._left_out]
        columns = {one: f"e.{quoted(one)}" for one in own}
        if self._of_database and layer.name == _SERVICE:
            columns |= {one: f"{columns[one]} % {_KEPT}" for one in _RATES if one in columns}
        columns["thread"] = "coalesce(t.name, 'thread ' || e.tid)"
        columns["device"] = "p.device"
        source = (
            f"(SELECT e.file, e.row, {listed(columns)} FROM trace.{table} e "
            "LEFT JOIN trace.thread t ON (t.file, t.pid, t.tid) = (e.file, e.pid, e.tid) "
            "LEFT JOIN trace.process p ON (p.file, p.pid) = (e.file, e.pid))"
        )
        return Table(
            f"{self._timeline()}: {layer.name}",
            "timeline",
            source,
            {one: quoted(one) for one in columns},
            ("name", "device") if self._has_same_devices(source) else ("name",),
            "ts",
            ("ts",),
            home=f"trace.{table}",
        )

    def _has_same_devices(self, source: str) -> bool:
        """Whether both sides state of every row one of the same devices."""
        sides = ", ".join(
            f"array_agg(DISTINCT device) FILTER ({self._pairing.of(one)})" for one in WHICH
        )
        select = f"SELECT count(*) FILTER (device IS NULL), {sides} FROM {source}"
        without, left, right = self._facts.rows(select)[0]
        return not without and set(left or ()) == set(right or ())

    def _lanes_and_arrows(self) -> Iterator[Table]:
        """What stands next to the slices of layers: processes, threads and arrows."""
        place = self._timeline()
        yield Table(
            f"{place}: processes",
            "timeline",
            "(SELECT file, row, name, label, events > 0 AS used FROM trace.process)",
            {"name": "name", "label": "label", "used": "used"},
            ("name", "label"),
        )
        yield Table(
            f"{place}: arrows",
            "timeline",
            # Where an arrow begins some media state roughly alone (raw-prof 4.2), so that arrows
            # are paired by their work, or by their start without any.
            "(SELECT file, row, cat, starts, ends, start_ns, coalesce(end_ns, start_ns) AS end_ns "
            "FROM trace.arrow)",
            {one: one for one in ("cat", "starts", "ends", "start_ns", "end_ns")},
            ("cat",),
            "end_ns",
            ("start_ns", "end_ns"),
            home="trace.arrow",
        )
        yield Table(
            f"{place}: counters",
            "timeline",
            "(SELECT v.file, v.row, e.name, e.ts, v.series, v.value FROM trace.value v "
            "JOIN trace.event e ON (e.file, e.row) = (v.file, v.row))",
            {one: one for one in ("name", "ts", "series", "value")},
            ("name", "series"),
            "ts",
            ("ts",),
            home="trace.value",
        )

    def _timeline(self) -> str:
        places = (one.place for one in self._folder.files.values() if one.kind == "timeline")
        return next(places, "timeline")

    def _compared(self, table: Table) -> Iterator[Difference]:
        table = replace(table, feature=self._feature(table))
        lacks = {which: self._lacks(table, which) for which in WHICH}
        for one in self._pairing.differences(table, lacks):
            yield replace(one, examples=tuple(self._placed(table, row) for row in one.examples))
        yield from self._order(table, self._pairing.asked(table, lacks))

    def _placed(self, table: Table, example: Example) -> Example:
        """An example with the lines, pointers or bytes of its rows."""
        found: dict[Which, str] = {}
        for which, (file, row) in example.rows.items():
            name = self._folder.files[file].path.name
            at = position(self._folder, table.home, file, row, exact=False)
            if at.line is not None:
                found[which] = f"{name} line {at.line:,}"
            elif at.pointer is not None:
                found[which] = f"{name} {at.pointer}"
            else:
                found[which] = name
        return replace(example, places=found)

    def _lacks(self, table: Table, which: Which) -> set[str]:
        """The columns that a side of a CSV file does not have, and the other one has."""
        if not table.of.startswith("csv."):
            return set()
        query = (
            f"SELECT DISTINCT column_name FROM unit.header WHERE {self._pairing.of(which)} "
            "AND file IN (SELECT unnest(?::INTEGER[]))"
        )
        files = [number for number, one in self._folder.files.items() if one.name == table.feature]
        return set(table.columns) - {name for (name,) in self._facts.rows(query, (files,))}

    def _feature(self, table: Table) -> str:
        if table.feature != "timeline":
            return table.feature
        names = (one.name for one in self._folder.files.values() if one.kind == "timeline")
        return next(names, table.feature)

    def _order(self, table: Table, asked: Compared) -> Iterator[Difference]:
        """Rows of a CSV file in another order, where its writer promises one.

        Rows of one time have no order of their own.
        """
        if not table.of.startswith("csv.") or not asked.shown:
            return
        shown = ", ".join(map(quoted, asked.shown))
        time = quoted(asked.near) if asked.near else f"hash({shown})"
        hashes = {
            which: f"SELECT row_number() OVER (ORDER BY file, row) AS at, hash({shown}) AS hash, "
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
            total, truth = self._pairing.count(asked, "left"), self._pairing.sides["left"]
            words = f"from row {moved[1]:,} on the rows are those of {truth}, moved"
            yield Difference("order", table.feature, table.place, None, moved[0], total, words)
