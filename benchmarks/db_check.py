"""One check in a process of its own: prints seconds, peak memory in bytes, findings, as JSON.

python benchmarks/db_check.py DATABASE [without-relations]
"""

from __future__ import annotations

import json
import sys
import time

from peak import peak_memory

from ascend_conformance.check import check
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

if __name__ == "__main__":
    left_out: tuple[str, ...] = ()
    if sys.argv[2:]:
        from ascend_conformance.engine.relations.rule import load_relations

        left_out = tuple(load_relations())
    started = time.perf_counter()
    report = check([sys.argv[1]], Options(selection=Selection(ignore=left_out)))
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - started,
                "peak": peak_memory(),
                "findings": len(report.findings),
                "unreadable": report.files[0].unreadable,
            }
        )
    )
