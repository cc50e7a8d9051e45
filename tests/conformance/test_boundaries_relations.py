"""Boundaries of relations: flipped comparisons are noticed, or listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from boundary_relations import DATA, Campaign
from boundary_tokens import equal_in

LISTED = equal_in(Path(__file__).parent / "boundaries_relations.yaml")


@pytest.mark.campaign
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no real files in {DATA}: they notice some flips")
def test_all_flips_of_relations_are_noticed_but_those_that_are_listed() -> None:
    assert set(Campaign().run()) == LISTED.keys()


@pytest.mark.parametrize("relation", ["REL109", "REL111"])
def test_flips_of_a_relation_are_noticed(relation: str) -> None:
    campaign = Campaign([relation])
    assert campaign.number > 2
    assert set(campaign.run()) <= LISTED.keys()
