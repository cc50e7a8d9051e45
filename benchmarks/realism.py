"""How like a real profile a simulated one is: every figure of both, and the factor between them.

    python benchmarks/realism.py SIMULATED_DB REAL_DB

A figure holds when the factor is at most 1.5, or when ``EXPLAINED`` says why it cannot. The exit
code is 1 when any figure does neither.
"""

from __future__ import annotations

import argparse
import math
import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path

from realism_figures import Figure, figures

BOUND = 1.5
TICK_NS = 20
"""The device clock counts at 50 MHz: a shorter time is one tick or none."""

EXPLAINED: dict[str, str] = {}
"""Name of a figure -> why the simulation need not reproduce it."""


@dataclass(frozen=True)
class Line:
    """One figure of both profiles; a figure that one of them lacks is zero there."""

    name: str
    unit: str
    real: float
    simulated: float

    @property
    def factor(self) -> float:
        """The larger divided by the smaller, at least 1."""
        low, high = sorted((abs(self.real), abs(self.simulated)))
        if self.real == self.simulated or self._below_resolution(low, high):
            return 1.0
        return high / low if low and self.real * self.simulated > 0 else math.inf

    @property
    def verdict(self) -> str:
        """``yes``, ``explained`` or ``no``."""
        if self.factor <= BOUND:
            return "yes"
        return "explained" if self.name in EXPLAINED else "no"

    def _below_resolution(self, low: float, high: float) -> bool:
        return self.unit == "ns" and low <= TICK_NS and high - low < 2 * TICK_NS


def compare(simulated: list[Figure], real: list[Figure]) -> list[Line]:
    """All figures of either profile, those of the real one first."""
    in_simulated = {figure.name: figure.value for figure in simulated}
    in_real = {figure.name: figure.value for figure in real}
    units = {figure.name: figure.unit for figure in (*real, *simulated)}
    return [
        Line(name, unit, in_real.get(name, 0.0), in_simulated.get(name, 0.0))
        for name, unit in units.items()
    ]


def render(lines: list[Line]) -> str:
    """The table as text, reasons below it."""
    width = max((len(line.name) for line in lines), default=0)
    rows = [
        f"{'figure':{width}}  {'unit':9}  {'real':>14}  {'simulated':>14}  {'factor':>7}  holds"
    ]
    rows += [
        f"{line.name:{width}}  {line.unit:9}  {_number(line.real):>14}"
        f"  {_number(line.simulated):>14}  {line.factor:>7.2f}  {line.verdict}"
        for line in lines
    ]
    reasons = [line.name for line in lines if line.verdict == "explained"]
    rows += [f"explained: {name}: {EXPLAINED[name]}" for name in reasons]
    count = dict.fromkeys(("yes", "explained", "no"), 0)
    for line in lines:
        count[line.verdict] += 1
    rows.append(
        f"{len(lines)} figures: {count['yes']} within a factor of {BOUND},"
        f" {count['explained']} explained, {count['no']} neither"
    )
    return "\n".join(rows)


def _number(value: float) -> str:
    """Whole numbers with thousands, others with four significant digits."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def main() -> int:
    """Print the comparison; 1 when a figure is outside the bound and not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Formatter)
    parser.add_argument("simulated", type=Path, metavar="SIMULATED_DB")
    parser.add_argument("real", type=Path, metavar="REAL_DB")
    arguments = parser.parse_args()
    for path in (arguments.simulated, arguments.real):
        if not path.is_file():
            parser.error(f"{path}: no such file; expected an ascend_pytorch_profiler database")
    try:
        lines = compare(figures(arguments.simulated), figures(arguments.real))
    except sqlite3.Error as error:
        parser.error(f"not a profile that can be read: {error}")
    if not lines:
        parser.error("neither file has a table that a figure is computed from")
    print(render(lines))
    return int(any(line.verdict == "no" for line in lines))


_Formatter = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(main())
