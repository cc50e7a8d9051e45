"""The command as a process: pipes, streams, colours, the module, completion."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from slices import few

COMMAND = [sys.executable, "-m", "ascend_ref"]
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]")


SWITCHES = {"NO_COLOR", "FORCE_COLOR", "ASCEND_REF_DEBUG", "PYTHONUNBUFFERED"}


def clean_environment(**changes: str) -> dict[str, str]:
    """The environment without what would change the outcome, but for the changes asked for."""
    kept = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    return {**kept, **changes}


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(**environment),
    )


DATA = {"apsw", "duckdb", "jsonschema_rs", "numpy", "pyarrow", "rich", "yaml"}


@pytest.mark.parametrize(
    ("words", "heavy"),
    few(
        [
            (["--version"], {*DATA, "ascend_spec", "click", "importlib.metadata"}),
            (["--help"], {"duckdb", "numpy", "pyarrow"}),
            (["export", "--help"], DATA),
            (["rules", "--help"], {*DATA, "ascend_spec.text", "ascend_spec.timeline"}),
            (["rules", "DB401"], DATA - {"apsw"}),
            (["spec", "show", "table/TASK"], {*DATA, "ascend_spec.bin", "ascend_spec.timeline"}),
            (["spec", "show", "TASK"], {*DATA, "ascend_conformance"}),
        ],
        every=3,
    ),
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_a_short_command_imports_no_more_than_it_needs(words: list[str], heavy: set[str]) -> None:
    script = (
        "import sys\n"
        "from ascend_ref.cli import main\n"
        f"main({words!r})\n"
        f"sys.exit(', '.join(sorted({heavy!r} & sys.modules.keys())) or 0)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )
    assert result.stderr == ""


def test_the_installed_command_and_the_module_are_the_same() -> None:
    command = Path(sys.executable).with_name("ascend-ref")
    if not command.exists():
        pytest.skip("ascend-ref is not installed next to this interpreter")
    installed = subprocess.run(
        [command, "spec", "show", "TASK"], capture_output=True, text=True, check=False
    )
    assert installed.stdout == run("spec", "show", "TASK").stdout


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [*COMMAND, "spec", "export", "pytorch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        errors = process.stderr.read()
        code = process.wait()
    assert (code, errors) == (141, b"")


def test_a_full_disk_is_an_error() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w", encoding="utf-8") as stdout:
        result = subprocess.run(
            [*COMMAND, "spec", "list"],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 2
    assert result.stderr == "ascend-ref: error: No space left on device\n"


def test_a_pipe_gets_plain_markdown() -> None:
    result = run("spec", "show", "TASK")
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    assert result.stdout.startswith("# TASK\n")


@pytest.mark.exhaustive
def test_a_terminal_gets_colours_unless_they_are_declined() -> None:
    assert COLOUR.search(run("spec", "show", "TASK", FORCE_COLOR="1").stdout)
    assert not COLOUR.search(run("spec", "show", "TASK", FORCE_COLOR="1", NO_COLOR="1").stdout)


def test_text_that_the_terminal_cannot_encode_is_escaped() -> None:
    result = run("spec", "show", "größe", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert result.returncode == 2
    assert "gr\\xf6" in result.stderr


def test_shells_can_complete_the_verbs() -> None:
    result = run(_ASCEND_REF_COMPLETE="bash_complete", COMP_WORDS="ascend-ref sp", COMP_CWORD="1")
    assert result.stdout.split() == ["plain,spec", "plain,specimen"]
