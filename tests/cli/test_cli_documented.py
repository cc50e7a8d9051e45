"""The command line explains itself, and the README's commands work as printed."""

from __future__ import annotations

import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ascend_ref.cli import main
from ascend_ref.cli.reference import command_page, commands

ROOT = Path(__file__).parents[2]
COMMANDS = dict(commands())


@pytest.mark.parametrize("path", list(COMMANDS))
def test_every_command_and_option_is_explained(path: str) -> None:
    command = COMMANDS[path]
    assert command.help, path
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path} {parameter.opts}"


@pytest.mark.parametrize("path", list(COMMANDS))
def test_every_command_and_option_stands_on_the_reference_page(path: str) -> None:
    section = command_page().split(f"\n## {path}\n", 1)[1].split("\n## ", 1)[0]
    for parameter in COMMANDS[path].params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.opts[-1] in section


def test_every_verb_stands_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in COMMANDS:
        assert path in readme, path


def printed_commands(document: str) -> Iterator[list[str]]:
    """The words of each line ``ascend-ref …`` in the code blocks of a document."""
    text = (ROOT / document).read_text(encoding="utf-8")
    for block in re.findall(r"^```(?:console|sh)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:1] == ["ascend-ref"]:
                yield words[1:]


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_printed_make_targets_exist(document: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    printed = set(re.findall(r"(?:`|^)make ([a-z]+)", (ROOT / document).read_text("utf-8"), re.M))
    assert printed
    assert printed <= targets


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/check.md",
        "docs/lookup.md",
        "docs/simulate.md",
        "docs/operators.md",
        "docs/texts.md",
        "docs/write.md",
    ],
)
def test_printed_commands_work(
    document: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one folder and in their order, after the Python that the document prints before them."""
    monkeypatch.chdir(tmp_path)
    run_printed_python(document)
    commands_run = 0
    for words in printed_commands(document):
        code = main(words)
        out, err = capsys.readouterr()
        assert code == 0, (words, out, err)
        commands_run += 1
    assert commands_run


def run_printed_python(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        script = Path("printed.py")
        script.write_text(block, encoding="utf-8")
        runpy.run_path(str(script))
