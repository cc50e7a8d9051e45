"""Boundaries of rules on ``visualize_data.bin``: every flipped comparison is noticed or listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from boundary_bin import REAL, campaign
from boundary_tokens import survivors_in

LISTED = Path(__file__).parent / "boundaries_bin.yaml"


@pytest.mark.campaign
@pytest.mark.skipif(not REAL.is_dir(), reason=f"no real files in {REAL}: older epochs are not met")
def test_all_flips_are_noticed_but_those_that_are_listed() -> None:
    number, alive, illegal = campaign()
    equal = survivors_in(LISTED, "equal")
    assert illegal == []
    assert set(alive) == {*equal, *survivors_in(LISTED, "open")}
    assert number - len(alive) >= 0.95 * (number - len(equal))
