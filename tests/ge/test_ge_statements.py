"""Every statement of seed-003 has its number, and errata that answer one are there."""

from __future__ import annotations

import sys
from pathlib import Path

from ascend_spec import ge_catalog

sys.path.append(str(Path(__file__).parents[2] / "docs"))
from statements import numbered_tests, statements


def test_the_checklist_has_168_statements_and_tests_name_no_other() -> None:
    numbers = [one.number for one in statements("003")]
    assert numbers == [f"G{number}" for number in range(1, 169)]
    assert {one for one in numbered_tests() if one[0] == "G"} <= set(numbers)


def test_errata_of_statements_are_there() -> None:
    cited = {erratum for one in statements("003") for erratum in one.errata}
    assert cited <= ge_catalog().errata.keys()
