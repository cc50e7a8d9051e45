"""The command line explains itself, and the README's commands work as printed."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from slices import marked

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


def printed_blocks(document: str) -> list[tuple[str, str]]:
    """The code blocks of a document that run: language and text.

    None with a server, which waits for clients: other tests have those.
    """
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.findall(r"^```(console|sh|text|python)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [(language, block) for language, block in found if "ascend-ref serve" not in block]


def printed_commands(block: str) -> Iterator[tuple[list[str], int]]:
    """The words of each line ``ascend-ref …`` in a code block, and the exit code that it states."""
    for line in re.findall(r"^(?:\$ )?(ascend-ref .*)", block, re.MULTILINE):
        words = shlex.split(line, comments=True)
        if words[:1] == ["ascend-ref"]:
            stated = re.search(r"# .*exit code ([0-9])", line)
            yield words[1:], int(stated[1]) if stated else 0


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_printed_make_targets_exist(document: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    printed = set(re.findall(r"(?:`|^)make ([a-z]+)", (ROOT / document).read_text("utf-8"), re.M))
    assert printed
    assert printed <= targets


CHEAP = (
    *("docs/lookup.md", "docs/who-reads.md", "docs/migrate.md", "docs/schema.md"),
    *("docs/shrink.md", "docs/operators.md", "docs/by-hand.md", "docs/write.md"),
)
LONG = (
    *("README.md", "docs/check.md", "docs/conform.md", "docs/diff.md", "docs/fixtures.md"),
    *("docs/ge.md", "docs/mindspore.md", "docs/raw.md", "docs/simulate.md", "docs/texts.md"),
)
TRANSCRIPTS = {
    *("README.md", "docs/diff.md", "docs/migrate.md", "docs/shrink.md", "docs/fixtures.md"),
    *("docs/raw.md", "docs/mindspore.md", "docs/ge.md", "docs/who-reads.md", "docs/schema.md"),
    "docs/operators.md",
}
"""The documents that show what is printed."""


@pytest.mark.parametrize(
    "document", [*CHEAP, *(marked(one, pytest.mark.exhaustive) for one in LONG)]
)
def test_what_a_document_prints_works_and_is_printed(
    document: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one folder, in the order of the document: its commands, its Python, and what it shows."""
    monkeypatch.chdir(tmp_path)
    run: list[list[str]] = []
    compared = 0
    for language, block in printed_blocks(document):
        if language == "python":
            Path("printed.py").write_text(block, encoding="utf-8")
            runpy.run_path("printed.py")
        elif language == "text" and block.startswith("$ "):
            for part in block.removeprefix("$ ").split("\n$ "):
                command, _, expected = part.partition("\n")
                words = shlex.split(command)
                if words[0] == "cp":
                    ((source,), (target,)) = (sorted(tmp_path.glob(one)) for one in words[1:])
                    shutil.copy(source, target)
                    continue
                main(words[1:])
                assert capsys.readouterr().out.strip() == expected.strip()
                run.append(words[1:])
                compared += 1
        elif language != "text":
            for words, stated in printed_commands(block):
                if words in run:
                    continue
                run.append(words)
                code = main(words)
                out, err = capsys.readouterr()
                assert code == stated, (words, out, err)
    assert run
    assert bool(compared) == (document in TRANSCRIPTS)
