"""Product families by chip."""

from __future__ import annotations

from ascend_spec import catalog

USUAL_FAMILY = "A2"
"""What a recording of an unknown chip is taken for."""


def family_of(chip: str | None) -> str | None:
    """The id of the family that a chip name of NPU_INFO belongs to, ``None`` where none does.

    A3 carries the chip name of A2, and only who made the recording knows which of
    the two it is (db-schema.md 2, NPU_INFO).
    """
    product = catalog().products.of_chip(chip)
    return product.id if product else None
