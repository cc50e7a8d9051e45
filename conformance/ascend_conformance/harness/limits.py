"""A command of somebody else: run without a shell, within limits, with nothing of it left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from ascend_ref.cli.guard import one_line

SECONDS = 120.0
MEGABYTES = 4096
TAIL = 2000
"""Bytes at the end of what a command says that are looked at."""
MOST_WRITTEN = 8 << 30
"""Bytes of a file that a command may write."""
LEFT = 0.2
"""Seconds that a process has to end after it was asked."""

_LIMITED = """
import os, resource, sys
memory, written = int(sys.argv[1]), int(sys.argv[2])
for kind, most in (("RLIMIT_AS", memory), ("RLIMIT_FSIZE", written), ("RLIMIT_CORE", 0)):
    number = getattr(resource, kind)
    _, hard = resource.getrlimit(number)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(number, (most, most))
try:
    os.execvp(sys.argv[3], sys.argv[3:])
except OSError as problem:
    print(f"{sys.argv[3]}: {problem.strerror}", file=sys.stderr)
    sys.exit(127)
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one export may take: seconds, 10^6 bytes of address space, and bytes of each file."""

    seconds: float = SECONDS
    megabytes: int = MEGABYTES
    written: int = MOST_WRITTEN


Way = Literal["ended", "failed", "crashed", "hung"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and the last line that it said."""

    way: Way
    words: str = ""


def limited(command: Sequence[str], limits: Limits) -> list[str]:
    """The command behind a launcher that sets the limits of the system."""
    memory = str(limits.megabytes * 10**6)
    return [sys.executable, "-I", "-S", "-c", _LIMITED, memory, str(limits.written), *command]


def run(
    command: Sequence[str],
    place: Path,
    limits: Limits,
    environment: Mapping[str, str] | None = None,
    kept: IO[bytes] | None = None,
) -> Ended:
    """Run a command in a folder; its whole process group is gone when this returns.

    environment: variables that it has besides those of this process. kept: the file that gets what
    it says.
    """
    with nullcontext(kept) if kept else tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603  # it runs what is tried, without a shell
            limited(command, limits),
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=None if environment is None else {**os.environ, **environment},
            start_new_session=True,
        )
        try:
            code = process.wait(limits.seconds)
        except subprocess.TimeoutExpired:
            return Ended("hung", f"after {limits.seconds:g} s it had not ended")
        finally:
            end_group(process)
        return _ended(code, last_line(said))


def _ended(code: int, said: str) -> Ended:
    behind = f": {said}" if said else ""
    if code < 0:
        return Ended("crashed", f"{_signal(-code)}{behind}")
    return Ended("failed", f"exit code {code}{behind}") if code else Ended("ended", said)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def last_line(said: IO[bytes]) -> str:
    """The last line of a file that is no empty one, printable."""
    size = said.seek(0, os.SEEK_END)
    said.seek(max(size - TAIL, 0))
    lines = said.read().decode(errors="replace").strip().splitlines()
    return one_line(lines[-1]) if lines else ""


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the group of a process, and wait for the process."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
