"""One check of a timeline in a process of its own: seconds, peak memory, findings, as JSON.

python benchmarks/text_child.py FILE [without-relations]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from peak import peak_memory

from ascend_conformance.check import check
from ascend_conformance.engine.relations.rule import load_relations
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

if __name__ == "__main__":
    left_out = tuple(load_relations()) if sys.argv[2:] else ()
    options = Options(selection=Selection(ignore=left_out))
    with tempfile.TemporaryDirectory() as folder:  # loads modules, spec and rules
        nothing = Path(folder) / "trace_view.json"
        nothing.write_text("[]")
        check([nothing], options)
    started = time.perf_counter()
    report = check([sys.argv[1]], options)
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
