"""What a change of the formats touches: rules, relations, readers, writers and presets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from ascend_simulator.choices import Scenario
from ascend_simulator.scenario import preset, preset_names
from ascend_simulator.scenario.collected import frequency
from ascend_spec import Spec, catalog, using
from ascend_spec.core.shows import Show
from ascend_spec.db.model import CARRIERS, Enum, Table
from ascend_spec.text import CsvFile
from ascend_spec.timeline import Layer

from ..engine.relations.media import judged_in
from ..engine.relations.rule import load_relations
from ..media.db.plan import all_instances, schema_key
from ..media.text.rules import instances, load_text_rules

Owner: TypeAlias = Table | Enum | CsvFile | Layer

MEDIA: Mapping[type[Owner], str] = {Table: "database", CsvFile: "csv", Layer: "timeline"}


@dataclass(frozen=True, slots=True)
class Changed:
    """A table, enum, CSV file or layer that is another one now; ``parts`` of it that are, by name,
    with what they show, or none where it came, went or differs as a whole.
    """

    owner: Owner
    parts: Mapping[str, tuple[Show, ...]]


@dataclass(frozen=True, slots=True)
class Touched:
    """Names, each kind in order: rules and relations by id, readers of databases and writers as the
    spec calls them, presets of simulated runs, whose files are others now.
    """

    rules: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()

    def rows(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each kind with its names."""
        return ((one.name, getattr(self, one.name)) for one in fields(self))


def touched(old: Spec, new: Spec) -> Touched:
    """What the differences between two specs, each at its newest states, touch."""
    changed = tuple(changes_of_owners(old, new))
    owners = [one.owner for one in changed]
    return Touched(
        rules=tuple(sorted({*_rules_of_databases(old, new, changed), *_rules_of_texts(old, new)})),
        relations=tuple(sorted(_relations(old, new, changed))),
        readers=tuple(sorted({one for of in owners for one in _readers(new, of)})),
        writers=tuple(sorted({one for of in owners for one in _writers(new, of)})),
        presets=tuple(_presets(new, owners)),
    )


def changes_of_owners(old: Spec, new: Spec) -> Iterator[Changed]:
    """What differs between two specs, as it is in the new one or was in the old one."""
    for before, after in (
        (old.db.tables, new.db.tables),
        (old.db.enums, new.db.enums),
        (old.text.csv, new.text.csv),
        (old.timeline.layers, new.timeline.layers),
    ):
        owners: Iterable[tuple[Any, Any]] = (
            (before.get(name), after.get(name)) for name in dict.fromkeys((*before, *after))
        )
        for one, other in owners:
            if one != other:
                own, former = _parts(other or one), _parts(one) if one and other else {}
                names = dict.fromkeys((*own, *former)) if former else ()
                differing = {
                    name: own.get(name) or former[name]
                    for name in names
                    if own.get(name) != former.get(name)
                }
                shows = {
                    name: tuple(part.shows for part in found) for name, found in differing.items()
                }
                yield Changed(other or one, shows)


def _parts(owner: Owner) -> dict[str, tuple[Any, ...]]:
    """The columns, headers or arguments of an owner by name."""
    found: dict[str, tuple[Any, ...]] = {}
    listed: Iterable[tuple[str, Any]] = ()
    if isinstance(owner, Table):
        listed = ((one.name, one) for one in owner.columns.values())
    elif isinstance(owner, CsvFile):
        listed = ((one.name, one) for one in owner.own_columns)
    elif isinstance(owner, Layer):
        listed = ((one.name.template, one) for kind in owner.events for one in kind.args)
    for name, one in listed:
        found[name] = (*found.get(name, ()), one)
    return found


def _rules_of_databases(old: Spec, new: Spec, changed: Iterable[Changed]) -> Iterator[str]:
    """Rules that look at other places now, or read what has changed."""
    read = {
        f"{one.owner.name}.{part}"
        for one in changed
        if isinstance(one.owner, Table)
        for part in one.parts
    }
    before, after = _places(old), _places(new)
    for place in before.keys() | after.keys():
        uses = after.get(place, before.get(place, ()))
        if place not in before or place not in after or not read.isdisjoint(uses):
            yield place[1].partition("@")[0]


def _places(spec: Spec) -> dict[tuple[str, str], tuple[str, ...]]:
    """By carrier and place of a rule at the newest revision, the columns that it reads."""
    with using(spec):
        newest = catalog().revisions[-1].id
        return {
            (carrier, one.key): (one.at, *one.uses)
            for carrier in CARRIERS
            for one in all_instances(schema_key(catalog().at(newest, carrier)))
        }


def _rules_of_texts(old: Spec, new: Spec) -> Iterator[str]:
    """Rules that read other things now, and the checks of files and events that are others."""
    read = []
    for spec in (old, new):
        with using(spec):
            read.append({one.id: _reading(one) for one in load_text_rules().values()})
    yield from (rule for rule, what in read[1].items() if what != read[0][rule])
    schemas = {
        *(("raw",) if old.text.csv != new.text.csv else ()),
        *(("trace",) if old.timeline.layers != new.timeline.layers else ()),
    }
    if schemas:
        from ..media.text.checks import reads  # slow: duckdb

        with using(new):
            rules = list(load_text_rules().values())
        for rule in rules:
            if rule.search.check and not schemas.isdisjoint(reads(rule.search.check)):
                yield rule.id


def _reading(rule: Any) -> tuple[Any, ...]:
    """What a rule on texts reads, by the spec in use."""
    agreement = rule.search.agreement
    return tuple(one.needs for one in instances(rule)), agreement and tuple(agreement.instances)


def _relations(old: Spec, new: Spec, changed: Iterable[Changed]) -> Iterator[str]:
    """Relations that are judged elsewhere now, or that read what a changed cell shows."""
    shown: dict[str, set[str]] = {}
    for one in changed:
        if type(one.owner) in MEDIA:
            values = {value for shows in one.parts.values() for show in shows for value in show.of}
            shown.setdefault(MEDIA[type(one.owner)], set()).update(values)
    places = []
    for spec in (old, new):
        with using(spec):
            places.append({one.id: judged_in(one) for one in load_relations().values()})
    with using(new):
        for relation in load_relations().values():
            reads = {
                f"{entity}.{column}"
                for entity, columns in relation.search.reads.items()
                for column in columns
            }
            media = places[1][relation.id]
            if places[0][relation.id] != media or any(
                not reads.isdisjoint(shown.get(medium, ())) for medium in media
            ):
                yield relation.id


def _readers(spec: Spec, owner: Owner) -> Iterable[str]:
    """Who reads a table or enum table."""
    return spec.consumers.readers_of.get(owner.name, {}) if isinstance(owner, Table | Enum) else ()


def _writers(spec: Spec, owner: Owner) -> Iterator[str]:
    """Who writes it today."""
    if isinstance(owner, Table):
        yield owner.writer
    elif isinstance(owner, CsvFile | Layer):
        current = (one for one in owner.writers if spec.text.writers[one].current)
        yield from current


def _presets(spec: Spec, owners: Iterable[Owner]) -> Iterator[str]:
    collected = [one for one in owners if not isinstance(one, Enum)]
    with using(spec):
        for name in preset_names():
            scenario = preset(name)
            if any(_collects(spec, scenario, one) for one in collected):
                yield name


def _collects(spec: Spec, scenario: Scenario, owner: Table | CsvFile | Layer) -> bool:
    """Whether a simulated run has what a table, file or layer shows."""
    products = owner.products if isinstance(owner, Table) else owner.families
    if products and scenario.hardware.product not in products:
        return False
    rows = owner.data or tuple(
        name
        for name, one in spec.loader.products.data.items()
        if not set(one.switches).isdisjoint(owner.switches)
    )
    return frequency(scenario.capture, rows) > 0
