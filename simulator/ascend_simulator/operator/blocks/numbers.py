"""Numbers as the exporter computes and prints them: in single precision, with six decimals; and
addresses of instructions, as texts and as ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..program.listing import INSTRUCTION_BYTES


def single(value: float | np.float32) -> float:
    """The nearest number of single precision."""
    return float(np.float32(value))


def six(value: float) -> str:
    """The text of a number of single precision, with six decimals."""
    return f"{single(value):.6f}"


def share(part: int, whole: int) -> float:
    """Percent in single precision; 0, as with the exporter, for a part above the whole."""
    if not whole or part > whole:
        return 0.0
    return single(np.float32(part) / np.float32(whole) * np.float32(100))


def device_address(address: int) -> str:
    """An address in files of the device: at least eight digits."""
    return f"0x{address:08x}"


def simulator_address(address: int) -> str:
    """An address in files of the simulator: not padded, 0 without prefix (bin-blocks.md 3.4)."""
    return f"0x{address:x}" if address else "0"


def ranges(addresses: Iterable[int], text: Callable[[int], str]) -> list[list[str]]:
    """First and last address of every run of instructions, ascending."""
    found: list[list[int]] = []
    for address in sorted(addresses):
        if found and address - found[-1][1] <= INSTRUCTION_BYTES:
            found[-1][1] = address
        else:
            found.append([address, address])
    return [[text(first), text(last)] for first, last in found]
