"""Boundaries of rules on raw and on intermediate files: flips are noticed, or listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from boundary_files import MEDIA, Campaign
from boundary_tokens import equal_in

LISTED = equal_in(Path(__file__).parent / "boundaries_files.yaml")


@pytest.mark.campaign
@pytest.mark.parametrize("medium", MEDIA)
def test_all_flips_of_a_medium_are_noticed_but_those_that_are_listed(medium: str) -> None:
    campaign = Campaign(medium)
    of_medium = {one for one in LISTED if one.partition(":")[0] in campaign.alive}
    assert set(campaign.run()) == of_medium
