"""Boundaries of rules on text deliverables: every flipped comparison is noticed or listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from boundary_text import Campaign
from boundary_tokens import survivors_in

LISTED = Path(__file__).parent / "boundaries_text.yaml"


@pytest.mark.campaign
def test_all_flips_are_noticed_but_those_that_are_listed() -> None:
    _, alive, illegal = Campaign().run()
    assert illegal == []
    assert set(alive) == {*survivors_in(LISTED, "equal"), *survivors_in(LISTED, "open")}
