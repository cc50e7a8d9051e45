#!/usr/bin/env python3
"""An exporter that ascend-ref conform can speak to; only the standard library is needed.

    ascend-ref conform --exporter "jsonl:python3 exporter.py ascend-ref export {in} -o {out}/text"

Here each export runs a command; put your own function in place of run(). The messages are described
by: ascend-ref spec export exchange/exporter-protocol
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROTOCOL = "ascend-ref-exporter/1"


def run(command: list[str], source: str, target: str) -> dict[str, object]:
    """Export one profile; gives the answer without its seq."""
    if not any(Path(source).rglob("*.db")):
        return {"is": "skipped", "reason": "there is no database"}
    words = [one.replace("{in}", source).replace("{out}", target) for one in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        said = done.stderr.strip() or f"exit code {done.returncode}"
        return {"is": "error", "message": said[-2000:]}
    files = [path for path in Path(target).rglob("*") if path.is_file()]
    return {"is": "result", "files": [str(path.relative_to(target)) for path in files]}


def answer(request: dict[str, object], command: list[str]) -> dict[str, object]:
    """The answer to a request, without its seq."""
    do = request.get("do")
    if do == "start":
        if request.get("protocol") != PROTOCOL:
            return {"is": "error", "message": f"expected {PROTOCOL}"}
        return {"is": "result", "name": "example", "version": "1"}
    if do == "export":
        try:
            return run(command, str(request["in"]), str(request["out"]))
        except (OSError, KeyError) as problem:
            return {"is": "error", "message": f"{type(problem).__name__}: {problem}"}
    if do == "stop":
        return {"is": "result"}
    return {"is": "error", "message": f"unknown request {do!r}"}


def main() -> int:
    """Answer each line until stop, or until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"seq": request["seq"], **answer(request, sys.argv[1:])}), flush=True)
        if request.get("do") == "stop":
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
