"""Boundaries of rules on ``visualize_data.bin``: every flipped comparison is noticed or listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from boundary_bin import REAL, campaign
from boundary_tokens import equal_in

EQUAL = equal_in(Path(__file__).parent / "boundaries_bin.yaml")


@pytest.mark.campaign
@pytest.mark.skipif(not REAL.is_dir(), reason=f"no real files in {REAL}: older epochs are not met")
def test_all_flips_are_noticed_but_those_that_are_equal() -> None:
    number, alive, illegal = campaign()
    assert illegal == []
    assert set(alive) == EQUAL.keys()
    assert number - len(alive) >= 0.95 * number
