"""Reports by name: to a file, whole or not at all, or to the standard output."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from ascend_conformance.finding import Report
from ascend_ref.atomic import write_atomically

from . import github, html, json_forms, junit, markdown, sarif, summary, text
from .detail import Renderer, Rules, bounded
from .errors import ReportError, named

FOR_PEOPLE = MappingProxyType(
    {
        "summary": summary.render,
        "text": text.render,
        "quiet": summary.quiet,
        "statistics": summary.statistics,
    }
)
"""Renderers whose lines are wrapped to a terminal, and coloured."""

FORMATS: Mapping[str, Renderer] = MappingProxyType(
    {
        **{name: bounded(render) for name, render in FOR_PEOPLE.items()},
        "json": bounded(json_forms.render_document),
        "jsonl": bounded(json_forms.render_lines),
        "junit": bounded(junit.render),
        "sarif": bounded(sarif.render),
        "github": bounded(github.render),
        "markdown": bounded(markdown.render),
        "html": html.render,
    }
)
"""Renderers by format name; each keeps a report within ``BYTES_PER_FILE`` per judged file, and HTML
within ``html.LARGEST`` for all of them.
"""


USUAL_WIDTH = 100
"""Columns of a terminal that does not say how wide it is."""


def write_report(kind: str, path: str | Path, report: Report, rules: Rules) -> None:
    """Write a report in UTF-8: to a temporary name next to ``path``, then renamed over it.

    Devices and pipes are written to directly. Raises :class:`ReportError` for an unknown ``kind``,
    a missing folder, a refusal of the system, and for a path that is one of the judged files.
    """
    target = Path(path)
    content = _content(kind, report, rules)
    try:
        _refuse_judged_file(target, report)
        write_atomically(target, content)
    except ReportError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ReportError(f"cannot write the {kind} report to {named(target)}: {reason}") from error


def render_to_stdout(
    kind: str,
    report: Report,
    rules: Rules,
    stream: TextIO,
    environment: Mapping[str, str],
) -> None:
    """Write a report to ``stream``, as its kind and the terminal demand.

    Those :data:`FOR_PEOPLE` are coloured on a terminal unless ``TERM`` is ``dumb``, with
    ``FORCE_COLOR`` anywhere, with ``NO_COLOR`` nowhere. They are as wide as the terminal, elsewhere
    lines are not broken, and spelled in the stream's encoding. All other kinds are UTF-8 by
    definition and bypass the stream's encoding.
    """
    if kind in FOR_PEOPLE:
        stream.write(_text_for(kind, stream, environment)(report, rules))
        return
    content = _content(kind, report, rules)
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(content)
        return
    stream.flush()
    buffer.write(content.encode())
    buffer.flush()


def _content(kind: str, report: Report, rules: Rules) -> str:
    """The text of a report; a page has a picture of what was judged."""
    if kind not in FORMATS:
        raise ReportError(f"unknown report format {kind!r}: use one of {', '.join(FORMATS)}")
    if kind == "html":
        return html.render(report, rules, html.picture_of_step(report))
    return FORMATS[kind](report, rules)


def _text_for(kind: str, stream: TextIO, environment: Mapping[str, str]) -> Renderer:
    terminal = stream.isatty()
    wanted = environment.get("FORCE_COLOR") or (terminal and environment.get("TERM") != "dumb")
    colour = bool(wanted) and not environment.get("NO_COLOR")
    width = _terminal_width(stream, environment) if terminal else None
    render = bounded(partial(FOR_PEOPLE[kind], width=width, colour=colour))
    encoding = stream.encoding or "utf-8"

    def encodable(report: Report, rules: Rules) -> str:
        return render(report, rules).encode(encoding, "backslashreplace").decode(encoding)

    return encodable


def _terminal_width(stream: TextIO, environment: Mapping[str, str]) -> int:
    columns = environment.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except (OSError, ValueError):
        return USUAL_WIDTH


def _refuse_judged_file(target: Path, report: Report) -> None:
    for judged in (Path(name) for file in report.files for name in (file.file, *file.members)):
        if target.exists() and judged.exists() and target.samefile(judged):
            raise ReportError(f"refusing to write a report over the judged file {named(target)}")
