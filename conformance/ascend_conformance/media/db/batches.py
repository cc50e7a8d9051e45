"""What the self-test of databases tries: every rule at every place of a schema, in batches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ascend_spec import catalog
from ascend_spec.db.model import Carrier

from .plan import all_instances, schema_key

BATCH = 150
"""Instances per batch: large enough to pay for the specimen, small enough to spread evenly."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some instances of one carrier and revision, by key; the unit that a worker process takes."""

    carrier: Carrier
    revision: str
    keys: tuple[str, ...]


def batches(
    carriers: Sequence[Carrier],
    revisions: Sequence[str] | None = None,
    rules: Collection[str] | None = None,
) -> list[Batch]:
    """All instances of the rules (all) and revisions; by default each instance once, at its newest
    revision.

    Without ``rules``, there is a batch of every clean specimen, and a structural rule on rows,
    which is the same for all carriers, is tried on the first one that has the place.
    """
    every = [revision.id for revision in reversed(catalog().revisions)]
    found: list[Batch] = []
    shared: set[tuple[str | None, str]] = set()
    for carrier in carriers:
        tried: set[str] = set()
        for revision in revisions or every:
            if revisions:
                tried.clear()
            instances = [
                instance
                for instance in all_instances(schema_key(catalog().at(revision, carrier)))
                if rules is None or instance.rule.id in rules
            ]
            fresh: list[str] = []
            for instance in instances:
                of_all = rules is None and instance.rule.structural and instance.row is not None
                place = (revision if revisions else None, instance.key)
                if instance.key not in tried and not (of_all and place in shared):
                    fresh.append(instance.key)
                tried.add(instance.key)
                if of_all:
                    shared.add(place)
            parts = range(0, max(len(fresh), rules is None), BATCH)
            found.extend(Batch(carrier, revision, tuple(fresh[at : at + BATCH])) for at in parts)
    return found
