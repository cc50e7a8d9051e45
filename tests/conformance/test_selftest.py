"""Every rule meets its own defect, and only its own, at some of the places where it applies.

``make selftest``, which CI runs as well, tries all places.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest

from ascend_conformance.media.db.selftest import Batch, batches, run_batch
from ascend_conformance.ruleset import load_rules
from ascend_spec import catalog
from ascend_spec.db.model import CARRIERS, Carrier

WORK = batches(CARRIERS)


def with_some_places(work: list[Batch]) -> list[Batch]:
    """Of each rule and carrier the first, the middle and the last place."""
    keys: dict[tuple[Carrier, str], list[str]] = defaultdict(list)
    for batch in work:
        for key in batch.keys:
            keys[batch.carrier, key.partition("@")[0]].append(key)
    kept = {
        (carrier, places[at])
        for (carrier, _), places in keys.items()
        for at in (0, len(places) // 2, -1)
    }
    return [
        replace(batch, keys=tuple(key for key in batch.keys if (batch.carrier, key) in kept))
        for batch in work
    ]


SOME = with_some_places(WORK)


@pytest.mark.parametrize(
    "batch", SOME, ids=[f"{one.carrier}-{one.revision}-{at}" for at, one in enumerate(SOME)]
)
def test_each_mutation_wakes_exactly_its_rule(batch: Batch):
    result = run_batch(batch)
    assert result.unclean == []
    assert [f"{trial.key} fired {trial.fired}" for trial in result.missed] == []
    assert [f"{trial.key}: {trial.false_alarms}" for trial in result.false_alarms] == []


def test_every_revision_of_every_carrier_is_in_the_work():
    seen = {(batch.carrier, batch.revision) for batch in WORK}
    assert seen == {
        (carrier, revision.id) for carrier in CARRIERS for revision in catalog().revisions
    }


def test_every_rule_is_among_the_places_tried_here():
    tried = {key.partition("@")[0] for batch in SOME for key in batch.keys}
    judged = {
        rule.id
        for rule in load_rules().values()
        if rule.format == "db" and rule.theme != "files" and not rule.compares_ranks
    }
    assert judged <= tried
