"""One file that departs from all others: the cause of what many rules find.

Every comparison of two sides is a vote on the files behind them. Where all that differ have one
file in common, that file is the outsider: of another rank or capture, in another unit, or of
another clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from ascend_ref.timeline.session import WHOLE

from ...compare.agreement import WHICH, Side
from ...compare.match import NUMBERS, REALS, Outcome, pair_types
from ...engine.failure import rule_that_finds
from ...finding import Finding
from ...report.phrases import duration
from ...ruleset import Rule
from .departure import FEWEST, MOST, departure, is_in_form
from .folder import DATABASE, Folder
from .rules import TextRule, instances, load_text_rules
from .seen import devices_by_file
from .sources import DOCUMENTS, base_tables
from .votes import Departure, Vote

KINDS: Sequence[Departure] = ("another-clock", "another-unit", "another-capture")
"""What explains most first."""

OF_ONE_FILE = frozenset({"parts-of-another-device", "parts-of-another-time"})
"""Checks that find an outsider by its own figures, without a comparison of rows."""


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
    if not (columns or is_alone) or found.faults < FEWEST or len(one.files) == 1:
        return one
    departs, by = departure(folder, found)
    whole = len(columns) > 1 or (is_alone and not is_in_form(folder, found))
    return replace(one, departs=departs, by=by, whole=whole)


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
