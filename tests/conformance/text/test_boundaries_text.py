"""Boundaries of rules on text deliverables: every flipped comparison is noticed or listed."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import boundary_text
import pytest
from boundary_text import Campaign
from boundary_tokens import equal_in

from ascend_conformance.media.text.rules import instances

EQUAL = equal_in(Path(__file__).parent / "boundaries_text.yaml")


@pytest.mark.campaign
def test_all_flips_are_noticed_but_those_that_are_equal() -> None:
    found = Campaign().run()
    assert found.illegal == []
    assert set(found.alive) == EQUAL.keys()
    assert found.number - len(found.alive) >= 0.95 * found.number
    assert found.refused == []


def test_a_flip_that_sql_refuses_is_not_noticed_by_that(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = Campaign(["XLR803"])
    (rule,) = campaign.rules
    flips = dict(campaign.alive[rule.id])
    (instance, *_) = instances(rule)
    monkeypatch.setattr(
        boundary_text, "_seen", lambda _, asked: (1, None) if asked == instance else None
    )
    campaign._strike(mock.Mock(), rule, 0, instance)
    assert campaign.alive[rule.id] == flips
    assert campaign.refused == {f"{rule.id}: {at}" for at in flips}
