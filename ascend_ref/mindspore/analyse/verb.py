"""``ascend-ref mindspore analyse``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from ascend_ref.cli.console import print_columns
from ascend_ref.cli.guard import CommandError

WHERE = re.compile(r"(?P<column>.+?) +(?P<operator>in|not_in|partial_match_str_in) +(?P<values>.*)")
SORT = re.compile(r"(?P<column>.+?)(?::(?P<type>[a-z]+))?")


@click.command()
@click.argument("name", metavar="ANALYSER")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--device", metavar="N", help="Device; by default the only one that has files in DIR."
)
@click.option(
    "--where",
    multiple=True,
    metavar="'COLUMN OPERATOR A,B'",
    help="Rows alone of which a cell is one of the values (in), is none of them (not_in), or has "
    "one of them in it, capitals aside (partial_match_str_in).",
)
@click.option(
    "--set",
    "switches",
    multiple=True,
    metavar="NAME=VALUE",
    help="A switch of the analyser's own, as step_id=3; its page of the spec lists them.",
)
@click.option("--sort", metavar="COLUMN[:ascending]", help="By a column; the largest first.")
@click.option("--page", type=int, metavar="N", help="Number of the page, from 0.")
@click.option("--limit", type=int, metavar="N", help="Rows of a page, up to 100; 10 by default.")
@click.option("--condition", metavar="JSON", help="All this as the viewer takes it, in one object.")
@click.option(
    "--generation",
    metavar="GENERATION",
    default="G3m",
    show_default=True,
    help="Name columns as in this generation or on a day (2021-12-16).",
)
@click.option("--json", "as_json", is_flag=True, help="The whole answer, for programs.")
def analyse(
    name: str,
    folder: Path,
    device: str | None,
    where: tuple[str, ...],
    switches: tuple[str, ...],
    sort: str | None,
    page: int | None,
    limit: int | None,
    condition: str | None,
    generation: str,
    as_json: bool,
) -> int:
    """Answer as one of the analysers of MindSpore's viewer does, from intermediate files.

    DIR is that which `mindspore parse` wrote, or one with profiler in it. Without a page all rows
    are shown. An analyser without rows answers in JSON. On stderr: how many rows there are, and
    what of the files cannot be read.

    Exit codes: 0 answered, 1 files were damaged, 2 no answer.
    """
    from ascend_ref.raw.damage import Unreadable

    from .condition import WrongCondition
    from .factory import NoAnalyser, find_analyser, load_analyser  # slow: the spec
    from .files import open_folder

    asked = _asked(condition)
    for key, more in (
        ("filter_condition", {**_filters(where), **_switches(switches)}),
        ("sort_condition", _sorted_by(sort)),
        ("group_condition", _given(limit=limit, offset=page)),
    ):
        if more:
            asked[key] = {**asked.get(key, {}), **more}
    try:
        analyser = find_analyser(name)
        of_all_ranks = analyser.shows_all_ranks(asked.get("filter_condition", {}))
        files = open_folder(folder, device, of_all_ranks=of_all_ranks)
        answer = load_analyser(name, files, generation).query(asked)
    except (NoAnalyser, Unreadable, WrongCondition, KeyError) as problem:
        raise CommandError(str(problem.args[0])) from None
    if as_json or "object" not in answer:
        click.echo(json.dumps(answer, indent=2))
    else:
        print_columns(answer["col_name"], [list(map(_text, row)) for row in answer["object"]])
        click.echo(f"{len(answer['object']):,} of {answer['size']:,} rows", err=True)
    for one in files.damage:
        click.echo(str(one), err=True)
    return 1 if files.damage else 0


def _asked(condition: str | None) -> dict[str, Any]:
    try:
        asked = {} if condition is None else json.loads(condition)
    except ValueError as error:
        raise click.BadParameter(f"--condition: no JSON: {error}") from None
    if not isinstance(asked, dict) or not all(isinstance(one, dict) for one in asked.values()):
        raise click.BadParameter("--condition: expected an object of objects")
    return asked


def _filters(where: Iterable[str]) -> dict[str, dict[str, list[Any]]]:
    found: dict[str, dict[str, list[Any]]] = {}
    for text in where:
        parts = WHERE.fullmatch(text)
        if parts is None:
            raise click.BadParameter(
                f"--where {text!r}: expected COLUMN, one of in, not_in, partial_match_str_in, "
                "and values"
            )
        texts = [one.strip() for one in parts["values"].split(",")]
        partial = parts["operator"] == "partial_match_str_in"
        values = texts if partial else [*texts, *_numbers(texts)]
        found.setdefault(parts["column"], {})[parts["operator"]] = values
    return found


def _numbers(texts: Iterable[str]) -> list[int | float]:
    """The numbers that texts may stand for; which of both is meant a column decides."""
    found: list[int | float] = []
    for text in texts:
        try:
            found.append(float(text) if re.search("[.eE]", text) else int(text))
        except ValueError:
            continue
    return found


def _switches(given: Iterable[str]) -> dict[str, Any]:
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"--set {text!r}: expected NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _sorted_by(sort: str | None) -> dict[str, str]:
    parts = None if sort is None else SORT.fullmatch(sort)
    return {} if parts is None else _given(name=parts["column"], type=parts["type"])


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return json.dumps(cell) if isinstance(cell, list | Mapping) else str(cell)
