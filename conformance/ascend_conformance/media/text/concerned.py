"""Which rules a change of the facts can concern, by the tables and cells that it changes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ascend_spec import per_spec

from ...compare.agreement import tables_in
from .checks import can_wake
from .database import Facts
from .rules import TextRule, instances, load_text_rules

OF_EVENTS = frozenset({("trace", "event"), ("trace", "process"), ("trace", "shape")})
"""Tables that all others of a timeline are selected from."""

_CHANGED = re.compile(
    r'^(?:UPDATE|DELETE FROM|INSERT INTO|DROP TABLE|ALTER TABLE)\s+([a-z]+)\.("[^"]+"|\w+)',
    re.IGNORECASE,
)
_WORD = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\S""")


def changed_tables(breaks: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Schema and name of the tables that some statements change. Raises ``ValueError``."""
    changed = set()
    for statement in breaks:
        found = _CHANGED.match(statement.strip())
        if found is None:
            raise ValueError(f"cannot read what this changes: {statement}")
        changed.add((found.group(1), found.group(2).strip('"')))
    return frozenset(changed)


def changed_columns(breaks: Sequence[str]) -> frozenset[str] | None:
    """The columns, in lower case, whose cells statements change; ``None``: not cells alone."""
    changed: set[str] = set()
    for statement in breaks:
        if not statement.strip().upper().startswith("UPDATE"):
            return None
        changed.update(_assigned(statement))
    return frozenset(changed)


def _assigned(statement: str) -> Iterator[str]:
    """The columns that an UPDATE assigns to."""
    depth, before, last = 0, "", ""
    for word in _WORD.findall(statement):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0 and word.upper() == "WHERE":
            return
        if depth == 0 and word == "=" and (before == "," or before.upper() == "SET"):
            yield last.strip('"').casefold()
        before, last = last, word


def affected(
    changed: Iterable[tuple[str, str]], rule: TextRule, columns: Collection[str] | None = None
) -> list[TextRule]:
    """The rules that a change can wake: those that read one of the tables, and the rule itself.

    ``columns``: see :func:`changed_columns`.
    """
    tables = list(changed)
    return [
        other
        for other in load_text_rules().values()
        if other.id == rule.id or any(reads_table(other, *table, columns) for table in tables)
    ]


def concerned(
    change: Sequence[str], rule: TextRule, facts: Facts, before: Mapping[str, object]
) -> list[TextRule]:
    """The rules that a change, which was carried out, concerns, the rule itself among them.

    ``before``: :func:`events_of` without the change; nothing: any event may be another one.
    """
    changed = changed_tables(change)
    rules = affected(changed, rule, changed_columns(change))
    if not (before and changed & OF_EVENTS):
        return rules
    events = events_of(facts).items()
    differing = {name for name, content in events if before[name] != content}
    differing |= {f"{one}.{name}" for raw, name in changed for one in (raw, "csv")}
    return [one for one in rules if one.id == rule.id or _reads_any(one, differing)]


def reads_table(rule: TextRule, schema: str, name: str, columns: Collection[str] | None) -> bool:
    """Whether a rule can see a change of a table; ``columns``: see :func:`changed_columns`."""
    if rule.search.check is not None:
        return can_wake(rule.search.check, schema, name, columns)
    if schema == "unit":
        return False
    table = r"trace\." if (schema, name) in OF_EVENTS else rf'\b{schema}\."?{name}\b'
    shown = re.compile(rf'{table}|\bcsv\."?{name}\b' if schema == "raw" else table)
    return shown.search(_asked(rule.id)) is not None


def events_of(facts: Facts) -> Mapping[str, object]:
    """How many rows each table of the timelines has, and a sum that other rows hardly have."""
    tables = [name for name in facts.tables() if name.startswith("trace.")]
    sums = "count(*), sum(hash(t)::HUGEINT)"
    query = " UNION ALL ".join(f"SELECT '{one}', {sums} FROM {one} t" for one in tables)
    return {name: content for name, *content in facts.rows(query)}


def _reads_any(rule: TextRule, tables: Collection[str]) -> bool:
    """Whether a rule that is no query reads anything, or a query one of the tables."""
    if rule.search.check is not None:
        return True
    return not set(tables).isdisjoint(tables_in(_asked(rule.id)))


@per_spec
def _asked(rule: str) -> str:
    """All that a rule asks, at all its places."""
    found = instances(load_text_rules()[rule])
    return "\n".join(" ".join((one.query, one.at, *one.needs)) for one in found)
