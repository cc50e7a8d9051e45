"""One file that departs from all others: the cause of what many rules find.

Every comparison of two sides is a vote on the files behind them. Where all that differ have one
file in common, that file is the outsider: of another rank or capture, in another unit, or of
another clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from ...compare.agreement import WHICH, Side, Which
from ...compare.match import NUMBERS, PAIRS, REALS, Outcome, pair_types
from ...compare.sql import quoted
from ...engine.failure import rule_that_finds
from ...finding import Finding
from ...report.phrases import duration
from ...ruleset import Rule
from .folder import DATABASE, Folder
from .rules import TextRule, instances, load_text_rules
from .seen import devices_by_file
from .sources import DOCUMENTS, WHOLE, base_tables
from .votes import Departure, Vote

MOST = 0.5
"""The share of rows that differ from which on two sides do not belong together: files of two ranks
share next to none, and single faults of an exporter leave most rows alone."""

FEWEST = 2
"""Cells or rows that have to differ: a single one says nothing about a file."""

ALIKE = 0.01
"""How far factors, or differences, of rows lie apart at most that count as one, as a share."""

ROUNDED = 0.1
"""How far factors around a power of 1,000 may, since a larger unit leaves fewer digits."""

LEAST_FACTOR = 5
"""Units differ by more, but for those that are taken for each other."""

MISTAKEN = (1.024, 1.024**2, 1.024**3)
"""Factors between units that are: KB and KiB, MB and MiB, GB and GiB."""

SAME = 0.001
"""How far the factor of a unit that is taken for another may be off, as a share."""

KINDS: Sequence[Departure] = ("another-clock", "another-unit", "another-capture")
"""What explains most first."""

OF_ONE_FILE = frozenset({"parts-of-another-device", "parts-of-another-time"})
"""Checks that find an outsider by its own figures, without a comparison of rows."""

ROUNDING_NS = 1_000
"""Times that are rounded to whole us are off by less."""

LEAST_SHIFT_NS = 1_000_000
"""Clocks of host and device differ by less in sound captures."""


def vote(folder: Folder, rule: str, found: Outcome) -> Vote | None:
    """What a comparison says of its files; ``None`` where there was nothing to compare."""
    if not all(found.rows.values()):
        return None
    agreement = found.compared.agreement
    left, right = (_files_of(folder, agreement.side(which)) for which in WHICH)
    sound, timed = not found.faults, found.compared.near is not None
    vouches = sound and _compares_numbers(found)
    one = Vote(rule, left | right, sound, vouches, timed)
    alone = [count for which, count in found.alone.items() if agreement.counts(which)]
    most = MOST * min(found.rows.values())
    columns = [count for count in found.differing.values() if count >= most]
    is_alone = any(count >= most for count in alone)
    in_form = is_alone and (_is_reworded(folder, found) or _is_rounded(folder, found))
    if not (columns or is_alone) or found.faults < FEWEST or len(one.files) == 1:
        return one
    departs, by = _departure(folder, found)
    return replace(
        one, departs=departs, by=by, whole=(is_alone and not in_form) or len(columns) > 1
    )


def _is_reworded(folder: Folder, found: Outcome) -> bool:
    """Whether rows stand alone for one key that is in other words, and have all others in common.

    Words have no digits: names and numbers of ranks, devices, links and steps are none.
    """
    if found.compared.near is not None or not all(found.alone.values()):
        return False
    apart = [key for key in found.compared.keys if not _is_shared(folder, key)]
    if len(apart) != 1 or len(found.compared.keys) == 1:
        return False
    words = " UNION ALL ".join(_alone(apart[0], *sides) for sides in (WHICH, WHICH[::-1]))
    digits = "regexp_matches(CAST(word AS VARCHAR), '[0-9]')"
    return not folder.facts.value(f"SELECT count(*) FROM ({words}) WHERE {digits}")


def _is_rounded(folder: Folder, found: Outcome) -> bool:
    """Whether rows stand alone for times that are rounded: each has another nearby."""
    near = found.compared.near
    if near is None or pair_types(found.compared)[near] not in NUMBERS:
        return False
    fewer, more = sorted(WHICH, key=lambda which: found.alone[which])
    one, other = (
        f"SELECT CAST({quoted(f'{which}_{near}')} AS HUGEINT) AS time FROM {PAIRS} "
        f"WHERE {without}_turn IS NULL"
        for which, without in ((fewer, more), (more, fewer))
    )
    farthest = folder.facts.value(
        f"SELECT max(coalesce(least(o.time - b.time, a.time - o.time), {LEAST_SHIFT_NS})) "
        f"FROM ({one}) o ASOF LEFT JOIN ({other}) b ON o.time >= b.time "
        f"ASOF LEFT JOIN ({other}) a ON o.time <= a.time"
    )
    return farthest is not None and farthest <= ROUNDING_NS


def _is_shared(folder: Folder, key: str) -> bool:
    """Whether the rows alone of both sides have most values of a key in common."""
    left, right = (_alone(key, *sides) for sides in (WHICH, WHICH[::-1]))
    fewest = f"least((SELECT count(*) FROM ({left})), (SELECT count(*) FROM ({right})))"
    common = f"(SELECT count(*) FROM ({left} INTERSECT {right}))"
    return bool(folder.facts.value(f"SELECT {common} >= {MOST} * {fewest}"))


def _alone(key: str, which: Which, other: Which) -> str:
    """The values of a key that the rows alone of a side have."""
    word = quoted(f"{which}_{key}")
    return f"SELECT DISTINCT {word} AS word FROM {PAIRS} WHERE {other}_turn IS NULL"


def _compares_numbers(found: Outcome) -> bool:
    """Whether rows are paired by numbers, or numbers are compared: names are alike on all ranks."""
    types = pair_types(found.compared)
    return any(types[name] in NUMBERS | REALS for name in found.compared.shown)


def _files_of(folder: Folder, side: Side) -> frozenset[int]:
    """The files that a side is read from."""
    tables = base_tables(side.of)
    if any(table.startswith("db.") for table in tables):
        return frozenset({DATABASE})
    return frozenset(file for table in tables for file in _files_of_table(folder, table))


def _files_of_table(folder: Folder, table: str) -> frozenset[int]:
    """The files whose rows a table of the facts has."""
    schema, _, name = table.partition(".")
    names: Collection[str] = ()
    if schema in ("raw", "csv"):
        names = {name}
    elif schema == "doc":
        names = {DOCUMENTS.get(name, name)}
    elif schema == "trace":
        names = WHOLE
    return frozenset(number for number, file in folder.files.items() if file.name in names)


def _departure(folder: Folder, found: Outcome) -> tuple[Departure, float]:
    """How the sides differ in the pairs that :data:`PAIRS` holds."""
    types = pair_types(found.compared)
    near = found.compared.near
    if near is not None:
        rows, _, _, first, last = _differences(
            folder, (near,), "HUGEINT" if types[near] in NUMBERS else "DOUBLE"
        )
        if rows and abs(first) >= LEAST_SHIFT_NS and last - first <= ALIKE * abs(first):
            return "another-clock", first
    numbers = [name for name in found.compared.columns if types[name] in NUMBERS | REALS]
    for names in (*((name,) for name in numbers if name != near), tuple(numbers)):
        rows, least, most, _, _ = _differences(folder, names)
        if rows and least > 0 and _is_unit(least, most):
            return "another-unit", (least + most) / 2
    return "another-capture", 0.0


def _differences(
    folder: Folder, names: Sequence[str], kind: str = "DOUBLE"
) -> tuple[int, float, float, float, float]:
    """Of pairs that differ in these columns: how many, if enough, the bounds of the ratios without
    the tenths at both ends, and those of the differences as numbers of this kind.
    """
    sides = ([quoted(f"{which}_{name}") for which in WHICH] for name in names)
    cells = " UNION ALL ".join(
        f"SELECT CAST({left} AS {kind}) AS l, CAST({right} AS {kind}) AS r FROM {PAIRS}"
        for left, right in sides
    )
    if not cells:
        return 0, 0, 0, 0, 0
    ((rows, *bounds),) = folder.facts.rows(
        "SELECT count(*), quantile_cont(l / r, 0.1), quantile_cont(l / r, 0.9), "
        "min(l - r), max(l - r) "
        f"FROM ({cells}) WHERE l <> r AND r <> 0 AND l <> 0"
    )
    return (rows, *bounds) if rows >= FEWEST else (0, 0, 0, 0, 0)


def _is_unit(least: float, most: float) -> bool:
    """Whether ratios between these bounds are those of two units."""
    if least > LEAST_FACTOR or most < 1 / LEAST_FACTOR:
        thousands = math.log(most * least) / math.log(1_000_000)
        is_thousand = abs(thousands - round(thousands)) < SAME * 10
        return most <= least * (1 + (ROUNDED if is_thousand else ALIKE))
    bounds = (least, most) if least > 1 else (1 / most, 1 / least)
    return any(all(abs(one / factor - 1) <= SAME for one in bounds) for factor in MISTAKEN)


def outsider(votes: Sequence[Vote]) -> int | None:
    """The file that all comparisons which depart have in common, if only one can be it."""
    apart = [one for one in votes if one.departs]
    if not apart:
        return None
    common = frozenset.intersection(*(one.files for one in apart))
    # Clocks are vouched for by what compares times.
    timed = any(one.departs == "another-clock" for one in apart)
    sound = [one.files for one in votes if one.vouches and (one.timed or not timed)]
    if len(common) > 1:
        # Of files that differ from each other, those that agree with a third are not the outsider.
        common = frozenset(
            file for file in common if not any(file in files and files - common for files in sound)
        )
    if len(common) != 1:
        return None
    (found,) = common
    foreign = all(one.departs == "another-capture" for one in apart)
    return None if foreign and not _is_foreign(found, apart, sound) else found


def _is_foreign(file: int, apart: Sequence[Vote], sound: Sequence[frozenset[int]]) -> bool:
    """Whether a file that departs is of another capture, and not merely wrong in a part.

    Then it differs in more than one column, and from more than it agrees with.
    """
    agreeing = [files for files in sound if file in files and len(files) > 1]
    return any(one.whole for one in apart) and len(apart) > len(agreeing)


def with_cause(
    folder: Folder, findings: Iterable[Finding], wants: Callable[[Rule[str]], bool]
) -> list[Finding]:
    """The findings; where an outsider explains some, it is one more, and their cause.

    ``wants``: whether a rule was asked for.
    """
    every = list(findings)
    number = outsider(folder.votes)
    if number is None:
        return every
    own = [one for one in folder.votes if number in one.files and not one.sound]
    apart = [one for one in own if one.departs]
    first = min(apart, key=lambda one: KINDS.index(one.departs or KINDS[-1]))
    rule = rule_that_finds(first.departs or KINDS[-1])
    if not wants(rule):
        return every
    cause = _finding(folder, number, rule, first, apart)
    explained = {one.rule for one in own}
    rules = load_text_rules()

    def follows(one: Finding) -> bool:
        if one.rule in explained or one.rule not in rules:
            return one.rule in explained
        if rules[one.rule].search.check in OF_ONE_FILE:
            return one.file == cause.file
        read = _read_by(folder, rules[one.rule])
        return number in read and len(read) > 1

    return [cause, *(replace(one, cause=cause.rule) if follows(one) else one for one in every)]


def _read_by(folder: Folder, rule: TextRule) -> frozenset[int]:
    """The files that a rule in SQL reads."""
    needs = {".".join(need.split(".", 2)[:2]) for one in instances(rule) for need in one.needs}
    return frozenset(file for need in needs for file in _files_of_table(folder, need))


def _finding(
    folder: Folder, number: int, rule: Rule[str], first: Vote, apart: Sequence[Vote]
) -> Finding:
    others = sorted({file for one in apart for file in one.files - {number}})
    names = {one: _name(folder, one) for one in (number, *others)}
    listed = _listed([names[other] for other in others])
    words = _words(first, listed)
    devices = devices_by_file(folder)
    shown = {
        names[one]: "device " + ", ".join(map(str, devices[one])) for one in names if one in devices
    }
    label = folder.files[number].label if number in folder.files else str(folder.database)
    return replace(
        rule.finding(label, f"{rule.summary.rstrip('.')}: {words}"),
        table=names[number],
        examples=(shown,) if len(set(shown.values())) > 1 else (),
    )


def _words(first: Vote, listed: str) -> str:
    if first.departs == "another-clock":
        return f"{duration(abs(int(first.by)))} against {listed}"
    if first.departs == "another-unit":
        return f"a factor of {max(first.by, 1 / first.by):,.4g} against {listed}"
    return f"it agrees with none of {listed}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _name(folder: Folder, number: int) -> str:
    if number in folder.files:
        return folder.files[number].place
    return folder.database.name if folder.database else "the database"
