"""How like a real profile a simulated one is: every figure of both, and the factor between them.

    python benchmarks/realism.py [--seed N] [SIMULATED_DB [REAL_DB]]

Without SIMULATED_DB, realism_scenario.yaml is simulated in a temporary folder. Without REAL_DB, the
real profile is that of rank 1 in ../shared next to the project. A figure holds when the factor is
at most 1.5, or when ``EXPLAINED`` says why it cannot. The exit code is 1 when any figure does
neither, 2 when there is nothing to compare.
"""

from __future__ import annotations

import argparse
import math
import sqlite3
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from realism_figures import Figure, figures

from ascend_simulator.run import write_run
from ascend_simulator.scenario import load

BOUND = 1.5
TICK_NS = 20
"""The device clock counts at 50 MHz: a shorter time is one tick or none."""

HERE = Path(__file__).resolve().parent
SCENARIO = HERE / "realism_scenario.yaml"
RANK = 1
REVISION = "1.0.0-2025-01"
"""Rank and schema of the real profile."""
FILE = f"ascend_pytorch_profiler_{RANK}.db"
REAL = HERE.parents[1] / "shared" / "data" / "db" / f"level1_rank{RANK}" / FILE

EXPLAINED = {
    "duration max: Write Value": "one of 4 outliers among 112 records (1.1 to 1.6 us, all of them"
    " right after data moved); the model draws one length per operator, 0.66 to 0.76 us",
    "duration p50: EVENT_WAIT": "the middle of ten waits between 0 ns and 72 ms; the real ranks 0"
    " and 1 differ by a factor of 1.7 in it. Here it falls on the wait for the second collective:"
    " the simulation lacks the two waits for random masks, which take no time",
}
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


def simulate(folder: Path, seed: int) -> Path:
    """Simulate the scenario into the folder; the database of the rank to compare."""
    run = write_run(load(SCENARIO), seed, folder / "run", revision=REVISION)
    return run.profiles[RANK] / "ASCEND_PROFILER_OUTPUT" / FILE


def main() -> int:
    """Print the comparison; 1 when a figure is outside the bound and not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Formatter)
    parser.add_argument("simulated", type=Path, metavar="SIMULATED_DB", nargs="?")
    parser.add_argument("real", type=Path, metavar="REAL_DB", nargs="?", default=REAL)
    parser.add_argument("--seed", type=int, default=0, help="of what is simulated here")
    arguments = parser.parse_args()
    for path in filter(None, (arguments.simulated, arguments.real)):
        if not path.is_file():
            parser.error(f"{path}: no such file; expected an ascend_pytorch_profiler database")
    with ExitStack() as stack:
        simulated = arguments.simulated
        if simulated is None:
            folder = stack.enter_context(TemporaryDirectory(prefix="realism_"))
            simulated = simulate(Path(folder), arguments.seed)
        try:
            lines = compare(figures(simulated), figures(arguments.real))
        except sqlite3.Error as error:
            parser.error(f"not a profile that can be read: {error}")
    if not lines:
        parser.error("neither file has a table that a figure is computed from")
    print(render(lines))
    return int(any(line.verdict == "no" for line in lines))


_Formatter = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(main())
