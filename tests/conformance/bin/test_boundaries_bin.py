"""Boundaries of rules on ``visualize_data.bin``: every flipped comparison is noticed or listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from boundary_bin import campaign
from boundary_tokens import survivors_in

LISTED = Path(__file__).parent / "boundaries_bin.yaml"


@pytest.mark.exhaustive
def test_all_flips_are_noticed_but_those_that_are_listed() -> None:
    _, alive, illegal = campaign()
    assert illegal == []
    assert set(alive) == {*survivors_in(LISTED, "equal"), *survivors_in(LISTED, "open")}
