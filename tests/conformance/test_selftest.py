"""Every rule meets its own defect at every place where it applies, and only its own."""

from __future__ import annotations

import pytest

from ascend_conformance.selftest import Batch, batches, run_batch
from ascend_spec import catalog
from ascend_spec.model import CARRIERS

WORK = batches(CARRIERS)


@pytest.mark.parametrize(
    "batch", WORK, ids=[f"{one.carrier}-{one.revision}-{at}" for at, one in enumerate(WORK)]
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
