"""One check of a timeline in a process of its own: seconds, peak memory, findings, as JSON.

python benchmarks/text_child.py FILE
"""

from __future__ import annotations

import json
import sys
import time

from peak import peak_memory

from ascend_conformance.check import check
from ascend_conformance.text.judge import judge_text

if __name__ == "__main__":
    judge_text([], "nothing")  # modules and rules are loaded, as json is before it is measured
    started = time.perf_counter()
    report = check([sys.argv[1]])
    seconds = time.perf_counter() - started
    (judged,) = report.files
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak": peak_memory(),
                "events": sum(judged.seen.rows.values()) if judged.seen else 0,
                "violations": sum(one.verdict == "violation" for one in report.findings),
                "findings": [f"{one.rule} {one.place}: {one.message}" for one in report.findings],
                "unreadable": judged.unreadable,
            }
        )
    )
