"""The command in a process of its own that has its modules already: one that is forked.

Most of the time of a short command goes into loading modules. Where a process is needed, for its
exit code and streams, and how it starts is not the subject, it is forked from one that has them.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

LOADED = ("apsw", "numpy", "pyarrow", "ascend_conformance.check", "ascend_conformance.cli.check")
"""Modules that forked processes find loaded; those that they import follow."""

WORDS = ("stdout", "stderr")
"""What the files of a command's streams are called."""


def run_forked(
    words: Sequence[str | bytes | Path],
    environment: Mapping[str, str],
    cwd: Path | None = None,
    timeout: float = 60,
) -> subprocess.CompletedProcess[bytes]:
    """``ascend-ref`` with these words. Raises ``subprocess.TimeoutExpired``, having ended it."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with TemporaryDirectory() as folder:
        asked = {
            "words": [os.fsdecode(word) for word in words],
            "environment": dict(environment),
            "cwd": os.fspath(cwd or Path.cwd()),
            "streams": [os.path.join(folder, name) for name in WORDS],
        }
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()
        if not select.select([server.stdout], [], [], timeout)[0]:
            _stop(server)
            _server.cache_clear()
            raise subprocess.TimeoutExpired(asked["words"], timeout)
        code = int(server.stdout.readline())
        written = [Path(folder, name).read_bytes() for name in WORDS]
    return subprocess.CompletedProcess(asked["words"], code, *written)


@cache
def _server() -> subprocess.Popen[bytes]:
    """The process that forks, until this one ends."""
    server = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    atexit.register(_stop, server)
    return server


def _stop(server: subprocess.Popen[bytes]) -> None:
    """End the process with those that it has forked."""
    if server.poll() is None:
        os.killpg(server.pid, signal.SIGKILL)
    server.communicate()


def _serve() -> None:
    """Fork for each request, and answer with the exit code."""
    for name in LOADED:
        import_module(name)
    from ascend_conformance.media import load_rules
    from ascend_spec import catalog, recording_catalog

    load_rules()
    catalog()
    recording_catalog()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _run(asked)
        _, status = os.waitpid(child, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
        answers.flush()


def _run(asked: dict[str, list[str]]) -> None:
    """What the forked process does."""
    from ascend_ref.cli import main

    code: object = 1
    try:
        for number, path in enumerate((os.devnull, *asked["streams"])):
            mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT
            os.dup2(os.open(path, mode, 0o600), number)
        os.chdir(str(asked["cwd"]))
        os.environ.clear()
        os.environ.update(asked["environment"])
        code = main(asked["words"])
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    _serve()
