"""Draws docs/report.png, the page on a profile with a file of another rank, in headless Chromium.

python tests/conformance/report/picture_of_report.py docs/report.png
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # of the tests, for the browser

from headless_browser import new_tab

from ascend_conformance.check import check
from ascend_conformance.media import load_rules
from ascend_conformance.report import write_report
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

SIZE = (1100, 760)
"""Of the window, pixels."""


def main(target: Path) -> None:
    """Judge the profile of the README, and draw what a browser shows of the page."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the page shows where the profile is
        scenario = override(preset("dense-8"), ranks=2)
        write_run(scenario, 0, Path("run"), ("pytorch-db", "pytorch-text"))
        own, other = sorted(Path("run").glob("*/ASCEND_PROFILER_OUTPUT/kernel_details.csv"))
        shutil.copyfile(other, own)
        write_report("html", "report.html", check(["run"]), load_rules())
        with new_tab() as tab:
            tab.prefers("light")
            tab.open(Path("report.html"))
            target.write_bytes(tab.picture(*SIZE))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
