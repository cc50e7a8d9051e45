"""Every way a command can end becomes an exit code and at most one line."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from ascend_ref import __version__
from ascend_ref.cli import main, shell
from ascend_ref.cli.guard import LINE_MAX, describe, one_line

VERBS = ("crash", "refuse", "stop", "missing", "leave", "answer", "quit_", "recurse", "complain")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verbs of failing_verbs.py, and one that cannot even be loaded."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    objects = {verb: f"failing_verbs:{verb}" for verb in VERBS} | {"broken": "no_such_module:verb"}
    entries = {name: EntryPoint(name, value, shell.VERBS) for name, value in objects.items()}
    monkeypatch.setattr(shell, "installed_verbs", lambda: entries)


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The only line of stderr; nothing may have gone to stdout."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err.rstrip("\n")


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["refuse"], 2, "ascend-ref: error: the file is \\x1b[31mbad"),
        (["stop"], 130, "ascend-ref: interrupted"),
        (["quit_"], 2, "ascend-ref: error: told to quit"),
        (["missing"], 2, "ascend-ref: error: /nonexistent/profile.db: No such file or directory"),
        (
            ["complain"],
            2,
            "ascend-ref: error: two things at once (see ascend-ref complain --help)",
        ),
        (
            ["crash"],
            2,
            "ascend-ref: error: internal error, KeyError: 'lost'; ASCEND_REF_DEBUG=1 shows where",
        ),
        (["anser"], 2, "ascend-ref: error: unknown verb 'anser'; did you mean answer?"),
        (["broken"], 2, "ascend-ref: error: the verb broken cannot be loaded: ModuleNotFound"),
        (["leave"], 2, "ascend-ref: error: Missing argument 'CODE'"),
        (["leave", "x"], 2, "ascend-ref: error: Invalid value for 'CODE'"),
        (["leave", "--loud"], 2, "ascend-ref: error: No such option"),
        ([], 2, "ascend-ref: error: Missing command"),
    ],
)
def test_an_error_is_one_line_and_a_code(
    words: list[str], code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    assert error_line(capsys).startswith(line)


@pytest.mark.usefixtures("failing")
def test_endless_recursion_is_an_error_like_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recurse"]) == 2
    assert "RecursionError" in error_line(capsys)


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("verb", ["leave", "answer"])
@pytest.mark.parametrize("code", [0, 1, 2])
def test_a_verb_chooses_its_code(verb: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, str(code)]) == code
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("failing")
def test_debugging_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASCEND_REF_DEBUG", "1")
    assert main(["crash"]) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "failing_verbs.py" in err


@pytest.mark.usefixtures("failing")
def test_a_broken_verb_does_not_break_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert "Return a code." in out
    assert "cannot be loaded" in out


@pytest.mark.parametrize("words", [["--version"], ["--version", "spec"]])
def test_the_version_is_printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr() == (f"ascend-ref {__version__}\n", "")


def test_a_long_error_is_shortened() -> None:
    assert len(one_line("x" * 10_000)) == LINE_MAX


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "out of memory"),
        (PermissionError(13, "Permission denied", "a\nb.db"), "a b.db: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (ValueError(), "internal error, ValueError; ASCEND_REF_DEBUG=1 shows where"),
    ],
)
def test_errors_are_described(error: Exception, line: str) -> None:
    assert describe(error) == line


def test_an_interrupt_inside_exec_leaves_our_code(tmp_path: Path) -> None:
    """CPython ends by the signal after such an interrupt, although it was caught."""
    (tmp_path / "interrupted_text.py").write_text(
        "import sys\n"
        "from ascend_ref.cli.guard import guarded\n"
        'sys.exit(guarded("it", lambda: exec("raise KeyboardInterrupt")))\n'
    )
    words = [sys.executable, "-m", "interrupted_text"]
    ended = subprocess.run(words, check=False, cwd=tmp_path, capture_output=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"it: interrupted\n")
