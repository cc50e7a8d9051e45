"""What a specimen is to contain: sizes, switches and the seed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """Size and content of one specimen. Equal shapes give equal columns, on every platform.

    ``devices`` is the number of devices of the node: an msprof database holds the tasks of all of
    them, a pytorch database those of its own rank's device and only the samples of the others.
    ``ranks`` is the size of the communication group and ``rank`` the own place in it.
    ``names`` are further operator names, of any text that SQLite can hold.

    Raises ``ValueError`` naming the field that is out of range.
    """

    seed: int = 0
    steps: int = 2
    devices: int = 1
    ranks: int = 2
    rank: int = 0
    operators: int = 6
    level: int = 2
    product: str = "Ascend910B"
    with_stack: bool = True
    with_memory: bool = True
    with_communication: bool = True
    with_mstx: bool = True
    with_samples: bool = True
    with_host: bool = True
    with_pmu: bool = True
    with_gc: bool = True
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse sizes that no capture has."""
        for name, smallest in (("steps", 1), ("devices", 1), ("ranks", 1), ("operators", 1)):
            if getattr(self, name) < smallest:
                raise ValueError(f"{name} is at least {smallest}, not {getattr(self, name)}")
        if self.seed < 0:
            raise ValueError(f"seed is not negative, but {self.seed} is")
        if not 0 <= self.rank < self.ranks:
            raise ValueError(f"rank lies in 0..{self.ranks - 1}, not at {self.rank}")
        if self.level not in (0, 1, 2):
            raise ValueError(f"level is 0, 1 or 2, not {self.level}")
