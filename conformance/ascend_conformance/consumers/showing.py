"""Answers as text, as JSON, and as a report in any of its forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ascend_ref import __version__
from ascend_spec.consumers.catalog import Kind

from ..finding import FileReport, Finding, Report, Verdict
from ..report.escape import scalar_text, visible
from .answer import EFFECTS, OUTCOMES, PartAnswer, ReaderAnswer, Remark

VERDICTS: dict[Kind, Verdict] = {
    "fails": "violation",
    "drops": "advice",
    "misreads": "advice",
    "changes": "note",
}
NAME, PROSE = 300, 400


def lines(answers: Sequence[ReaderAnswer], *, details: bool) -> Iterator[str]:
    """For each reader a line for each part and file, files with the same answer together; parts
    that show all of their files in one line. With details why, where and what to do.
    """
    for answer in answers:
        reader, version = answer.state.reader, answer.state.version
        if answer.missing:
            yield f"{reader.name} {version.words}: {answer.missing}"
            continue
        yield f"{reader.name} {version.words}"
        parts = list(dict.fromkeys(part.part for part in answer.parts))
        whole = [one for one in parts if _is_whole(answer, one)] if len(reader.parts) > 1 else []
        if whole:
            yield f"  {', '.join(whole)}: loads"
        for name in (one for one in parts if one not in whole):
            named = "" if len(reader.parts) == 1 else f"{name}, "
            for together in _alike([one for one in answer.parts if one.part == name]):
                yield f"  {named}{_files(together)}: {visible(together[0].words, PROSE)}"
                for remark in together[0].remarks if details else ():
                    yield from (f"    {line}" for line in _details(remark))


def _is_whole(answer: ReaderAnswer, name: str) -> bool:
    """Whether a part shows all files as they are."""
    return all(one.words == OUTCOMES["shows"] for one in answer.parts if one.part == name)


def _alike(parts: Sequence[PartAnswer]) -> list[list[PartAnswer]]:
    """The answers of one part, those with the same words together."""
    found: dict[str, list[PartAnswer]] = {}
    for one in parts:
        found.setdefault(one.words, []).append(one)
    return list(found.values())


def _files(parts: Sequence[PartAnswer]) -> str:
    further = f" and {len(parts) - 1:,} more" if len(parts) > 1 else ""
    return visible(parts[0].file, NAME) + further


def _details(remark: Remark) -> Iterator[str]:
    effect = f": {EFFECTS[remark.effect]}" if remark.effect else ""
    yield f"{remark.behaviour}: {visible(remark.words, NAME)}{effect}"
    yield f"  {remark.why} {remark.remedy}"
    place = [remark.place] if remark.place else []
    place += [f"line {remark.line:,}"] if remark.line is not None else []
    place += [f"byte {remark.offset:,}"] if remark.offset is not None else []
    values = ", ".join(
        f"{visible(key, 40)}={scalar_text(value, 60)}" for key, value in remark.example.items()
    )
    if place or values:
        yield f"  first: {': '.join(filter(None, (', '.join(place), values)))}"
    if remark.source:
        yield f"  source: {', '.join(remark.source)}"


def document(answers: Sequence[ReaderAnswer]) -> list[dict[str, Any]]:
    """The answers in the types of JSON."""
    return [
        {
            "reader": answer.state.reader.name,
            "version": answer.state.version.version,
            "last": answer.state.version.last,
            "loses": answer.loses,
            "missing": answer.missing,
            "parts": [
                {
                    "part": part.part,
                    "file": part.file,
                    "outcome": part.outcome,
                    "words": part.words,
                    "remarks": [asdict(remark) for remark in part.remarks],
                }
                for part in answer.parts
            ],
        }
        for answer in answers
    ]


def report(answers: Sequence[ReaderAnswer]) -> Report:
    """The answers as a report on the files, a finding for each remark."""
    files: dict[str, list[Finding]] = {}
    for answer in answers:
        for part in answer.parts:
            found = files.setdefault(part.file, [])
            found += [_finding(answer, part.part, part.file, one) for one in part.remarks]
    reports = tuple(FileReport(file, None, tuple(found)) for file, found in files.items())
    return Report(reports, __version__, "observed")


def _finding(answer: ReaderAnswer, part: str, file: str, remark: Remark) -> Finding:
    reader = answer.state.reader
    of = "" if len(reader.parts) == 1 else f" {part}"
    return Finding(
        rule=f"{answer.state.name}{of} {remark.behaviour}",
        name=remark.behaviour,
        verdict=VERDICTS[remark.kind],
        file=file,
        message=f"{reader.program} {answer.state.version.words}{of}: {remark.words}",
        expected=remark.remedy,
        table=remark.place or None,
        count=remark.count,
        first_rowid=remark.row,
        examples=(remark.example,) if remark.example else (),
        offset=remark.offset,
        line=remark.line,
    )
