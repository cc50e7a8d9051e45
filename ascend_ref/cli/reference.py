"""The command line as a page: every verb with its arguments and options, from their definitions."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc

import click

from . import PROGRAM
from .shell import shell


def command_page() -> str:
    """Markdown: the shell itself, then a section per verb."""
    sections = [
        "# Command line",
        *(text for path, command in commands() for text in _section(path, command)),
    ]
    return "\n\n".join(sections) + "\n"


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name: ``ascend-ref``, ``ascend-ref check``, …"""
    yield from _below(PROGRAM, shell)


def _below(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                yield from _below(f"{path} {name}", child)


def _section(path: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    usage = " ".join((path, *command.collect_usage_pieces(context)))
    yield f"## {path}"
    yield f"```text\n{usage}\n```"
    if command.help:
        yield _prose(command.help)
    records = (
        parameter.get_help_record(context)
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and parameter.name != "help"
    )
    lines = [f"- `{names}`: {' '.join(text.split())}" for names, text in filter(None, records)]
    if lines:
        yield "\n".join(lines)


def _prose(text: str) -> str:
    """The paragraphs of a help text; click's marker for kept line breaks is dropped."""
    return cleandoc(text).replace("\b\n", "").replace("<", "&lt;")
