"""The most memory that a process has held."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Byte that this process, or the largest of its children that have ended, held at once."""
    children = _bytes(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    # Where there is no /proc: includes what this process shared with its parent before its exec.
    own = _bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            own = 1024 * int(line.split()[1])
    return max(own, children)


def _bytes(maximum: int) -> int:
    return maximum if sys.platform == "darwin" else 1024 * maximum
