"""What each part of a reader makes of the files of a rank, by what it reads of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import apsw

from ascend_ref.db.introspect import quote_identifier
from ascend_spec import consumer_catalog
from ascend_spec.consumers import Effect, Join, Part, Read, Reader, Rows, State, Trait
from ascend_spec.consumers.catalog import Kind

from .answer import Outcome, PartAnswer, Remark
from .rank import Database, Rank, RankFiles, open_rank

KINDS: Mapping[Effect, Kind] = {
    "fails": "fails",
    "complains": "drops",
    "nothing": "changes",
    "without": "changes",
}
"""What is not in a profile is no loss of a reader that says nothing of it."""
OUTCOMES: Mapping[Effect, Outcome] = {
    "fails": "fails",
    "complains": "partly",
    "nothing": "nothing",
    "without": "partly",
}
FIRST = "SELECT rowid FROM {0} WHERE {1} LIMIT 1"


def ask_rank(
    files: RankFiles, asked: Sequence[tuple[State, Part]]
) -> Iterator[tuple[State, PartAnswer]]:
    """What each part makes of the files of a rank."""
    with open_rank(files) as rank:
        for state, part in asked:
            yield state, _answer(rank, state, part)


def _answer(rank: Rank, state: State, part: Part) -> PartAnswer:
    own = [part] if part.reads or not part.made_of else []
    parts = [*(state.reader.parts[name] for name in part.made_of), *own]
    answers = [_alone(rank, state, one) for one in parts]
    writing = [one for one, of in zip(answers, parts, strict=True) if of.writes] or answers
    outcome = _together([one.outcome for one in writing])
    remarks = tuple(remark for one in answers for remark in one.remarks)
    return PartAnswer(part.name, rank.files.label, outcome, remarks)


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome of a part that consists of others: it gives a result where one of them does."""
    gives = [one for one in outcomes if one in ("shows", "partly")]
    if not gives:
        return "fails" if "fails" in outcomes else "nothing"
    return "shows" if set(outcomes) == {"shows"} else "partly"


def _alone(rank: Rank, state: State, part: Part) -> PartAnswer:
    """What a part itself makes of a rank: its reads one after another, until one ends it."""
    remarks: list[Remark] = []
    if part.always:
        remarks.append(_remark("always", "complains", part.always.rstrip("."), ()))
    if part.folder is not None and not re.fullmatch(part.folder, rank.files.profile):
        words = f"the folder is {rank.files.profile}; expected {part.folder}"
        remarks.append(_remark("folder", "nothing", words, state.reader.source))
        return PartAnswer(part.name, rank.files.label, "nothing", tuple(remarks))
    for carrier in part.needs:
        found = rank.files.databases.keys() & (
            {carrier, "msprof"} if carrier == "pytorch" else {carrier}
        )
        if not found:
            words = f"there is no {carrier} database: the rank is passed over"
            remarks.append(_remark("absent", "nothing", words, part.reads[0].source))
            return PartAnswer(part.name, rank.files.label, "nothing", tuple(remarks))
    for read in state.reads(part):
        if read.unless is not None and _is_there(rank, read.unless):
            continue
        found_here = list(_of_read(rank, read))
        remarks += found_here
        ending = next((one for one in found_here if one.effect in ("fails", "nothing")), None)
        if ending is not None and ending.effect is not None:
            outcome = OUTCOMES[ending.effect]
            return PartAnswer(part.name, rank.files.label, outcome, tuple(remarks))
    for trait in state.traits(part):
        remarks += _of_trait(rank, trait)
    outcome = "partly" if remarks else "shows"
    return PartAnswer(part.name, rank.files.label, outcome, tuple(remarks))


def _is_there(rank: Rank, rows: Rows) -> bool:
    """Whether there are such rows; without a condition whether there is the table."""
    if rows.where is None or not rank.has(rows.of):
        return rank.has(rows.of)
    database = rank.holder(rows.of)
    try:
        return database is not None and _count(database, quote_identifier(rows.of), rows.where) > 0
    except apsw.SQLError:  # it lacks a column that the condition is about
        return False


def _of_read(rank: Rank, read: Read) -> Iterator[Remark]:
    """What is not there of a read, or which rows are lost."""
    damaged = [table for table in read.tables if rank.carrier(table) in rank.damaged]
    for table in damaged:
        effect: Effect = "complains" if read.absent == "without" else "fails"
        words = f"{rank.damaged[rank.carrier(table)]}"
        yield _remark("damaged", effect, words, read.source, place=table)
    # What is looked for first is looked for among tables.
    probed = read.absent in ("nothing", "without")
    absent = [
        table
        for table in read.tables
        if table not in damaged and not rank.has(table) and (probed or not rank.shows(table))
    ]
    for table in absent:
        words = f"{table} is not there"
        yield _remark("absent", read.absent, words, read.source, place=table)
    lacking = [
        f"{table}.{column}"
        for table, columns in read.tables.items()
        for column in columns
        if rank.has(table) and not rank.has(table, column, exact=read.exact)
    ]
    lacking += [
        f"{table}.{sets[-1][0]}"
        for table, sets in read.either.items()
        if table in read.tables
        and rank.has(table)
        and not any(all(rank.has(table, column) for column in columns) for columns in sets)
    ]
    for name, place in _of_texts(rank, read):
        effect = read.lacking if place else read.absent
        words = f"{place or name} is not there"
        behaviour = "lacking" if place else "absent"
        yield _remark(behaviour, effect, words, read.source, place=place or name)
    for place in lacking:
        words = f"{place} is not there"
        yield _remark("lacking", read.lacking, words, read.source, place=place)
    is_whole = not damaged and not absent and not lacking
    if is_whole and read.rows is not None and rank.has(read.rows.of):
        with suppress(apsw.SQLError):  # the condition is about a table that is missed elsewhere
            yield from _of_rows(rank, read, read.rows)


def _of_texts(rank: Rank, read: Read) -> Iterator[tuple[str, str]]:
    """CSV files and documents that are not there, or which of their headers and keys."""
    for name, headers in read.csv.items():
        if name not in rank.files.csv:
            yield f"{name}.csv", ""
            continue
        found = rank.headers(name)
        sets = read.either.get(name, ())
        missing = [one for one in headers if one not in found]
        if sets and not any(found.issuperset(one) for one in sets):
            missing.append(sets[-1][0])
        yield from ((name, f"{name}.csv: {header}") for header in missing)
    for name, keys in read.documents.items():
        if name not in rank.files.documents:
            yield f"{name}.json", ""
            continue
        missing = [key for key in keys if not rank.mentions(name, key)]
        yield from ((name, f"{name}.json: {key}") for key in missing)


def _of_trait(rank: Rank, trait: Trait) -> Iterator[Remark]:
    """The rows that a behaviour affects."""
    fact = consumer_catalog().behaviours[trait.behaviour]
    for place in trait.columns:
        table, column = place.split(".")
        database = rank.holder(table)
        if database is None or not rank.has(table, column):
            continue
        where = CONDITIONS[trait.behaviour].format(column=quote_identifier(column))
        named = quote_identifier(table)
        with suppress(apsw.SQLError):  # a table that the condition is about is not there
            count, total = _count(database, named, where), _count(database, named, "TRUE")
            if count:
                words = f"{count:,} of {total:,} {fact.unit} of {table} {fact.outcome}"
                row = _first(database, named, where)
                yield Remark(
                    behaviour=trait.behaviour,
                    kind=fact.kind,
                    words=words,
                    why=fact.summary,
                    remedy=fact.remedy,
                    source=trait.source,
                    count=count,
                    total=total,
                    place=place,
                    row=row,
                )


def _of_rows(rank: Rank, read: Read, rows: Rows) -> Iterator[Remark]:
    """The rows of a table that are dropped or shown with blanks."""
    database = rank.holder(rows.of)
    if database is None:
        return
    table = quote_identifier(rows.of)
    joins = [one for one in rows.joins if rank.has(*one.to.split("."))]
    where = f"({rows.where or 'TRUE'})"
    total = _count(database, table, where)
    reached = " AND ".join([where, *(_finds(one) for one in joins if one.otherwise != "blank")])
    if total == 0 or _count(database, table, reached) == 0:
        why = f"no row of {rows.of}"
        why += f" for which {rows.where}" if rows.where else ""
        why += " finds what it is joined with" if total else ""
        yield _remark("no-rows", rows.none, why, read.source, place=rows.of)
        return
    for join in (one for one in joins if one.otherwise != "skipped"):
        lost = f"{where} AND NOT {_finds(join)}"
        count = _count(database, table, lost)
        if count:
            place = f"{rows.of}.{join.column}"
            outcome = "dropped" if join.otherwise == "dropped" else "shown with a blank"
            words = f"{count:,} of {total:,} rows of {rows.of} {outcome}"
            words += f": {join.column} not in {join.to}"
            remark = _remark(f"rows-{join.otherwise}", None, words, read.source, place=place)
            kind: Kind = "drops" if join.otherwise == "dropped" else "misreads"
            row = _first(database, table, lost)
            yield replace(remark, kind=kind, count=count, total=total, row=row)


def _finds(join: Join) -> str:
    """Whether a row finds its partner; NULL finds none."""
    table, column = map(quote_identifier, join.to.split("."))
    own = quote_identifier(join.column)
    return f"ifnull({own} IN (SELECT {column} FROM {table}), FALSE)"


def _count(database: Database, table: str, where: str) -> int:
    return int(database.connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").get)


def _first(database: Database, table: str, where: str) -> int | None:
    try:
        found = database.connection.execute(FIRST.format(table, where)).get
    except apsw.SQLError:  # WITHOUT ROWID
        return None
    return int(found) if isinstance(found, int) else None


def of_all_ranks(reader: Reader, answers: Sequence[PartAnswer]) -> list[PartAnswer]:
    """The answers of all ranks about a part: no row in any of them may be an error after all."""
    part = reader.parts[answers[0].part]
    if part.empty == "nothing" or any(one.outcome != "nothing" for one in answers):
        return list(answers)
    words = "no rank has a row"
    remark = _remark("no-rows", part.empty, words, part.reads[0].source)
    return [replace(one, outcome="fails", remarks=(*one.remarks, remark)) for one in answers]


def _remark(
    behaviour: str, effect: Effect | None, words: str, source: tuple[str, ...], place: str = ""
) -> Remark:
    return Remark(
        behaviour=behaviour,
        kind="drops" if effect is None else KINDS[effect],
        words=words,
        why=WHYS[behaviour],
        remedy=REMEDIES[behaviour],
        source=source,
        place=place,
        effect=effect,
    )


CONDITIONS: Mapping[str, str] = {
    "hides-lanes-of-4294967295": "{column} = 4294967295",
    "numbers-groups-at-1-0-0": (
        "{column} IS NOT NULL AND coalesce((SELECT value FROM META_DATA "
        "WHERE name = 'SCHEMA_VERSION'), '1.0.0') = '1.0.0'"
    ),
}
"""By behaviour which rows of a column it affects."""

WHYS: Mapping[str, str] = {
    "folder": "The reader looks for folders of such names.",
    "absent": "The part reads it.",
    "lacking": "The part reads it.",
    "no-rows": "The part shows rows of this table.",
    "rows-dropped": "The part joins the rows with others, and shows those that have a partner.",
    "rows-blank": "The part looks up what the rows refer to.",
    "damaged": "The database cannot be read.",
    "always": "The part reports an error whatever it reads.",
}
REMEDIES: Mapping[str, str] = {
    "folder": "Give the folder such a name.",
    "absent": "Collect and export it; ascend-ref spec show names the switches of a table.",
    "lacking": "Export it under its name.",
    "no-rows": "Collect it; ascend-ref spec show names the switches of a table.",
    "rows-dropped": "Write the rows that are referred to: ascend-ref check names the references.",
    "rows-blank": "Write the rows that are referred to: ascend-ref check names the references.",
    "damaged": "Export again.",
    "always": "Look at its other lines.",
}
