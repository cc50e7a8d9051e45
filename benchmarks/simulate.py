"""Speed and memory of the simulator, with the bounds that it keeps.

    python benchmarks/simulate.py [--folder DIR]

Ratios compare timings taken in this run on this machine. Needs about 2 GB of disk and 4 GB of
memory, most of it for the plain event loop.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from lines import show
from simulate_disk import measure_disk
from simulate_memory import measure_memory
from simulate_scale import measure_scale


def main() -> int:
    """Run everything; 1 when a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        lines = [*measure_scale(folder), *measure_disk(folder), *measure_memory()]
    show(lines)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
