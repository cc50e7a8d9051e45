"""The last line of defence: every way a command can end becomes an exit code and one line."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

FAILED = 2
INTERRUPTED = 130  # 128 + SIGINT, what a shell reports for a program that ^C stopped
OUTPUT_CLOSED = 141  # 128 + SIGPIPE
TERMINATED = 143  # 128 + SIGTERM
LINE_MAX = 600
PLACE_MAX = 400
OURS = frozenset({"ascend_spec", "ascend_ref", "ascend_simulator", "ascend_conformance"})


class CommandError(Exception):
    """The command cannot be carried out; the text is the line for the user."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: ended from outside, as ^C does it, so that the same is cleaned up."""


def guarded(program: str, action: Callable[[], int]) -> int:
    """The exit code of ``action``, whatever happens in it.

    Errors are reported in one line on stderr. ``ASCEND_REF_DEBUG=1`` adds the traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A path or a text of a profile may hold what the terminal cannot encode.
            stream.reconfigure(errors="backslashreplace")
    terminated: list[int] = []
    try:
        with _terminable(terminated):
            code = _with_dropped_interrupts(action)
            sys.stdout.flush()
    except BrokenPipeError:
        code = _drop_output()
    except KeyboardInterrupt as stop:
        # CPython remembers an interrupt that left exec() of a text (a data class being made) and
        # would end by the signal, not by our code. Another text makes it forget.
        exec("")  # noqa: S102
        is_terminated = bool(terminated) or isinstance(stop, Terminated)
        code = TERMINATED if is_terminated else INTERRUPTED
        _report(f"{program}: {'terminated' if is_terminated else 'interrupted'}")
    except SystemExit as stop:
        # rich and click answer a closed pipe with exit code 1, which is our code for findings.
        if isinstance(stop.__context__, BrokenPipeError):
            code = _drop_output()
        elif isinstance(stop.code, str):
            code = FAILED
            _report(f"{program}: error: {one_line(stop.code)}")
        else:
            code = stop.code or 0
    except Exception as error:
        code = FAILED
        if os.environ.get("ASCEND_REF_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        _report(f"{program}: error: {describe(error)}")
    return code


def _with_dropped_interrupts(action: Callable[[], int]) -> int:
    try:
        return action()
    except RuntimeError as error:
        from ..execution.interrupts import raise_if_dropped

        raise_if_dropped(error)
        raise


@contextmanager
def _terminable(received: list[int]) -> Iterator[None]:
    """Make SIGTERM an exception, where nobody else has a use for it; those received are listed."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def terminate(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        raise Terminated

    with suppress(ValueError):  # not the main thread, which alone receives signals
        signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def describe(error: Exception) -> str:
    """What went wrong, as one printable line."""
    if isinstance(error, OSError) and error.strerror:
        place = "" if error.filename is None else f"{_shown(error.filename)}: "
        return one_line(f"{place}{error.strerror}")
    if isinstance(error, MemoryError):
        return "out of memory"
    if type(error).__module__.partition(".")[0] in OURS:
        return one_line(str(error))
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return one_line(f"internal error, {text}; ASCEND_REF_DEBUG=1 shows where")


def _shown(path: str | bytes) -> str:
    """A path; of a very long one the end, so that the reason after it is still shown."""
    text = os.fsdecode(path)
    return text if len(text) <= PLACE_MAX else f"…{text[-PLACE_MAX:]}"


def one_line(text: str) -> str:
    """The text without line breaks and control characters, shortened where it is very long."""
    line = "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in " ".join(text.split())
    )
    return line if len(line) <= LINE_MAX else f"{line[: LINE_MAX - 2]} …"


def _report(line: str) -> None:
    with suppress(OSError):  # nobody may listen on stderr either; the exit code still reports it
        print(line, file=sys.stderr, flush=True)


def _drop_output() -> int:
    """Point stdout at nothing, so that the interpreter's own flush at exit cannot fail."""
    with suppress(OSError, ValueError):  # no file behind stdout: nothing that could be flushed
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
    return OUTPUT_CLOSED
