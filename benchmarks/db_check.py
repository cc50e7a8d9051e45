"""One check in a process of its own: prints seconds, peak memory in bytes, findings, as JSON.

python benchmarks/db_check.py DATABASE
"""

from __future__ import annotations

import json
import sys
import time

from peak import peak_memory

from ascend_conformance.check import check

if __name__ == "__main__":
    started = time.perf_counter()
    report = check([sys.argv[1]])
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
