"""One check of a timeline in a process of its own: seconds, peak memory, findings, as JSON.

python benchmarks/text_child.py FILE
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from peak import peak_memory

from ascend_conformance.check import check

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:  # loads modules, spec and rules
        nothing = Path(folder) / "trace_view.json"
        nothing.write_text("[]")
        check([nothing])
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
