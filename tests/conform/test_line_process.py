"""A program that is asked line by line: whatever it does, time and memory have bounds."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ascend_conformance.harness.limits import Limits
from ascend_conformance.harness.line_process import LONGEST, BrokenOff, Late, LineProcess

ECHO = "import sys\nfor one in sys.stdin: print(one, end='', flush=True)\n"


@contextmanager
def running(source: str, seconds: float = 1.0, written: int = 1 << 20) -> Iterator[LineProcess]:
    limits = Limits(seconds, written=written)
    process = LineProcess([sys.executable, "-S", "-c", source], limits)
    try:
        process.start()
        yield process
    finally:
        process.close()


def test_a_line_is_answered_by_a_line() -> None:
    with running(ECHO, 10) as process:
        assert [process.ask(one) for one in (b"a", b"", b"b" * 500_000)][1:] == [
            b"",
            b"b" * 500_000,
        ]
        assert process.finish() == 0
        assert not process.is_running


def test_what_it_does_not_read_is_waited_for_no_longer_than_an_answer() -> None:
    with running("import time; time.sleep(1000)", 0.5) as process:
        began = time.monotonic()
        with pytest.raises(Late):
            process.ask(b"x" * LONGEST)
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("content", ["b'\\n' * 65536", "b' \\n'"])
def test_blank_lines_without_end_are_no_end(content: str) -> None:
    source = f"import os, sys\nsys.stdin.read()\nwhile True: os.write(1, {content})"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with running(source) as process:
        began = time.monotonic()
        with pytest.raises(Late):
            process.finish(0.5)
        assert time.monotonic() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KB


def test_what_nothing_asked_for_is_shown_in_part() -> None:
    words = f"it wrote '{'x' * 80}', which nothing asked for"
    source = "import sys\nsys.stdin.read()\nprint('\\n' + 'x' * 100_000)"
    with running(source) as process, pytest.raises(BrokenOff, match=f"^{words}$"):
        process.finish(10)


def test_a_line_more_than_was_asked_for_is_seen_at_the_end() -> None:
    with running("input(); print('a'); print('b', flush=True); input()", 10) as process:
        assert process.ask(b"1") == b"a"
        with pytest.raises(BrokenOff, match="'b'"):
            process.finish(10)


def test_the_exit_code_is_its_own() -> None:
    with running("import sys\nsys.stdin.read()\nsys.exit(7)") as process:
        assert process.finish(10) == 7


def test_one_that_keeps_its_output_open_does_not_end() -> None:
    source = "import subprocess, sys\nsubprocess.Popen(['sleep', '1000'])\nsys.stdin.read()"
    with running(source) as process, pytest.raises(Late):
        process.finish(0.5)


def test_a_file_that_it_writes_has_a_bound() -> None:
    source = "import sys\nwhile True: sys.stderr.write('x' * 9999 + '\\n')"
    with running(source, 20, written=100_000) as process:
        with pytest.raises(BrokenOff):
            process.ask(b"1")
        assert len(process.said()) < 2100


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="there is no /proc")
def test_nothing_that_it_started_is_left() -> None:
    source = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "input(); print(subprocess.Popen(['sleep', '1000']).pid, flush=True); time.sleep(1000)"
    )
    with running(source, 10) as process:
        child = int(process.ask(b""))
        os.kill(child, 0)
    status = Path(f"/proc/{child}/stat")
    deadline = time.monotonic() + 5
    while status.exists() and ") Z " not in status.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not status.exists() or ") Z " in status.read_text()


def test_one_that_was_ended_is_not_asked() -> None:
    with running(ECHO) as process:
        process.end()
        for ask in (lambda: process.ask(b"1"), process.finish):
            with pytest.raises(BrokenOff, match="the process is gone"):
                ask()
