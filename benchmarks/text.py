"""Speed and memory of the text deliverables, as ratios against named alternatives in one run.

    python benchmarks/text.py [--folder DIR]

Needs 3 GB of memory, since the standard library holds every event, and 2 GB of disk.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import text_check
import text_csv
import text_overlap
import text_timeline
from lines import show


def main() -> int:
    """Print the figures; 1 where one misses its bound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path)
    with tempfile.TemporaryDirectory(dir=parser.parse_args().folder) as folder:
        lines = [
            *text_timeline.measure(Path(folder)),
            *text_check.measure(Path(folder)),
            *text_csv.measure_csv(Path(folder), text_csv.MILLION),
            *text_overlap.measure_overlap(),
        ]
    show(lines)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
