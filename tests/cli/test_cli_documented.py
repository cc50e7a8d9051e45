"""The command line explains itself, and the README's commands work as printed."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize("document", ["README.md", "docs/check.md", "docs/write.md"])
def test_printed_commands_work(
    document: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one folder, in their order; 1 is the answer of a check that found something."""
    monkeypatch.chdir(tmp_path)
    ran = 0
    for words in printed_commands(document):
        code = main(words)
        err = capsys.readouterr().err
        assert code in (0, 1), (words, err)
        ran += 1
    assert ran
