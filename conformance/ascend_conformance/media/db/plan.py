"""Which rules run on a session, where, and why others do not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ascend_spec import Schema, catalog, per_spec
from ascend_spec.db.model import Carrier, Reading

from ...finding import Skipped
from ...ruleset import Selection
from .places import Instance, instances
from .rules import load_db_rules
from .session import Session

_NAME = re.compile(r"\w+")
PROFILER = "profiler."
"""Prefix of tables of the profiler database that is attached next to an analysis.db."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The instances to run, by the way they run; ``skipped`` names those that cannot."""

    rows: Mapping[str, tuple[Instance, ...]]
    selects: tuple[Instance, ...]
    codes: Mapping[str, tuple[Instance, ...]]
    skipped: tuple[Skipped, ...]

    @property
    def places(self) -> int:
        """Number of places at which a rule looks."""
        return (
            sum(map(len, self.rows.values()))
            + len(self.selects)
            + sum(map(len, self.codes.values()))
        )

    @property
    def rules(self) -> int:
        """Number of rules that look at one place at least."""
        ran = {instance.rule.id for found in self.rows.values() for instance in found}
        ran |= {instance.rule.id for instance in self.selects}
        return len(ran | self.codes.keys())


SchemaKey: TypeAlias = tuple[Carrier, str, Reading, bool, bool]
"""Carrier, revision id, reading, and whether it has what the adapter of torch_npu adds, and what
CANN's profiler writes.
"""


@per_spec
def all_instances(key: SchemaKey) -> tuple[Instance, ...]:
    """Every rule at every place of a schema."""
    carrier, revision, reading, adapter, device_data = key
    spec = catalog()
    schema = spec.at(revision, carrier, reading)
    schema = schema if adapter else schema.without_adapter
    schema = schema if device_data else spec.without_device_data(schema)
    return tuple(
        instance for rule in load_db_rules().values() for instance in instances(rule, schema, spec)
    )


def schema_key(schema: Schema) -> SchemaKey:
    """What identifies a schema."""
    return (
        schema.carrier,
        schema.revision.id,
        schema.reading,
        schema.adapter,
        schema.device_data,
    )


@dataclass(frozen=True, slots=True)
class _Selected:
    """The selected instances of a schema, in order of :func:`all_instances`.

    ``in_python`` by the rule; ``in_sql`` each with the tables that it looks at, those of a profiler
    database by their bare names.
    """

    in_python: Mapping[str, tuple[Instance, ...]]
    in_sql: tuple[tuple[Instance, frozenset[str]], ...]


@per_spec
def selected_instances(key: SchemaKey, selection: Selection) -> _Selected:
    """Those of :func:`all_instances` that a selection wants, by the way they run."""
    wanted: dict[str, bool] = {}
    in_python: dict[str, list[Instance]] = {}
    in_sql: list[tuple[Instance, frozenset[str]]] = []
    for instance, read in zip(all_instances(key), _tables_read(key), strict=True):
        rule = instance.rule
        if rule.id not in wanted:
            wanted[rule.id] = not rule.search.compares_ranks and selection.wants(rule)
        if not wanted[rule.id]:
            continue
        if rule.search.code:
            in_python.setdefault(rule.id, []).append(instance)
        else:
            in_sql.append((instance, read))
    return _Selected({rule: tuple(found) for rule, found in in_python.items()}, tuple(in_sql))


@per_spec
def _tables_read(key: SchemaKey) -> tuple[frozenset[str], ...]:
    return tuple(
        frozenset(_NAME.findall(" ".join(_words(instance)))) for instance in all_instances(key)
    )


def _words(instance: Instance) -> Iterator[str]:
    yield from (instance.table or "", instance.row or "", instance.select or "", *instance.uses)
    yield instance.place.get("targets", "")


def make_plan(
    session: Session, selection: Selection, changed: Collection[str] | None = None
) -> Plan:
    """The rules that apply to what stands in the file.

    ``changed``: of the rules in SQL only those that look at these tables; what the others find
    cannot have changed with them. Checks in Python apply all the same.
    """
    rows: dict[str, list[Instance]] = {}
    selects: list[Instance] = []
    skipped: dict[tuple[str, str], Skipped] = {}
    selected = selected_instances(schema_key(session.schema), selection)
    for instance, read in selected.in_sql:
        if changed is not None and read.isdisjoint(changed):
            continue
        reason = _unjudgeable(session, instance)
        if reason == "":
            continue
        if reason:
            entry = Skipped(instance.rule.id, instance.at, reason)
            skipped[instance.rule.id, reason] = entry
        elif instance.row:
            rows.setdefault(instance.table or "", []).append(instance)
        else:
            selects.append(instance)
    return Plan(
        {table: tuple(found) for table, found in rows.items()},
        tuple(selects),
        selected.in_python,
        tuple(skipped.values()),
    )


def _unjudgeable(session: Session, instance: Instance) -> str | None:
    """``None``: judge it. Empty text: nothing to judge, a table is legally absent. Else why not."""
    for use in instance.uses:
        of_profiler = use.startswith(PROFILER)
        owner = session.profiler if of_profiler else session
        place = use.removeprefix(PROFILER)
        table = place.partition(".")[0]
        if owner is None:
            return "no readable profiler database lies next to this file"
        if table not in owner.layout.tables:
            return ""
        if not owner.layout.holds(place):
            if not owner.schema.adapter and owner.schema.column(place) is None:
                return ""
            return f"column {place} is absent or cannot be read"
        if not of_profiler and session.rows[table] == 0 and table != instance.table:
            return f"table {table} is empty"
    return None
