"""Time and size of the page on a million findings.

    python benchmarks/report_page.py [--findings 1000000]

The findings are on 100 files, one for each place of a thousand columns and each of ten rules.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator

from lines import Line, best, show

from ascend_conformance.finding import Coverage, FileReport, Finding, Report, Seen
from ascend_conformance.media import load_rules
from ascend_conformance.report import FORMATS
from ascend_ref.cli import YOUNG_OBJECTS

FILES = 100
RULES = 10


def report_of(count: int) -> Report:
    """A report with so many findings."""
    rules = [rule for rule in load_rules().values() if rule.verdict == "violation"][:RULES]
    coverage = Coverage(1, 1)
    files = []
    for rank in range(FILES):
        file = f"run/rank_{rank}/ascend_pytorch_profiler_{rank}.db"
        found = tuple(
            Finding(
                rule=rule.id,
                name=rule.name,
                verdict=rule.verdict,
                file=file,
                message=f"{rule.summary} 7 of 12,000 rows (first: rowid {place})",
                expected=rule.expected,
                table=f"TABLE_{place // 20}",
                column=f"column_{place % 20}",
                count=7,
                first_rowid=place,
                examples=({"row": place, "value": 2**40},),
            )
            for rule in rules
            for place in range(count // FILES // RULES)
        )
        seen = Seen(
            carrier="pytorch", revision="1.2.0", ranks=(rank,), rows={"TASK": 9}, coverage=coverage
        )
        files.append(FileReport(file, seen, found, rules_run=RULES, places_checked=len(found)))
    return Report(tuple(files), "0", "observed")


def measure(count: int) -> Iterator[Line]:
    """Seconds and bytes of the page."""
    report, rules = report_of(count), load_rules()
    text = FORMATS["html"](report, rules)
    assert f"does not conform: {count:,} violations" in text
    what = f"page on {count:,} findings"
    yield Line(what, best(lambda: FORMATS["html"](report, rules)), 5, "s", True, "")
    yield Line(what, len(text.encode()) / 1e6, 2, "MB", True, "")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--findings", type=int, default=1_000_000)
    gc.set_threshold(YOUNG_OBJECTS)  # as the command does
    show([*measure(parser.parse_args().findings)])


if __name__ == "__main__":
    main()
