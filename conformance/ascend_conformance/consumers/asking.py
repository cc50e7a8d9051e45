"""What every reader makes of a profile: ``who_reads([path, …]) -> [ReaderAnswer, …]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ascend_ref.cli.progress import Advance
from ascend_spec.consumers import State

from ..discover import discover
from ..engine.candidate import Candidate
from ..media.text.deliverables import Deliverable, Output
from .answer import PartAnswer, ReaderAnswer, Remark
from .choosing import states

Asked = tuple[State, PartAnswer]


def who_reads(
    paths: Iterable[Path], readers: Iterable[str] = (), progress: Advance | None = None
) -> tuple[ReaderAnswer, ...]:
    """What each reader, all of them or those of these names, makes of files or folders.

    Raises ``NothingToCheck`` for a folder without a profile, ``NoSuchReader``.
    """
    wanted = states(readers)
    found = _candidates(paths)
    timelines = list(_timelines(found))
    answers: dict[str, list[PartAnswer]] = {state.name: [] for state in wanted}
    for number, file in enumerate(timelines):
        if progress:
            progress(number, len(timelines), file.path.name)
        for state, answer in _of_timeline(file, wanted):
            answers[state.name].append(answer)
    return tuple(
        ReaderAnswer(state, tuple(parts), None if parts else _nothing(state))
        for state in wanted
        for parts in [answers[state.name]]
    )


def _candidates(paths: Iterable[Path]) -> list[Candidate]:
    found = [candidate for path in paths for candidate in discover(path)]
    return list({(one.medium, one.path, one.files): one for one in found}.values())


def _timelines(found: Sequence[Candidate]) -> Iterator[Deliverable]:
    for candidate in found:
        if isinstance(candidate.details, Output):
            deliverables = candidate.details.deliverables
            yield from (one for one in deliverables if one.kind == "timeline")


def _of_timeline(file: Deliverable, wanted: Sequence[State]) -> Iterator[Asked]:
    from .timelines import ask_timeline  # slow: duckdb, pyarrow

    asked = [
        (state, part)
        for state in wanted
        for part in state.reader.parts.values()
        if any(read.timelines for read in state.reads(part))
    ]
    try:
        yield from ask_timeline(file, asked)
    except OSError as error:
        refused = _unreadable(str(error.strerror or error))
        yield from (
            (state, PartAnswer(part.name, file.label, "fails", (refused,))) for state, part in asked
        )


def _unreadable(reason: str) -> Remark:
    return Remark(
        behaviour="unreadable",
        kind="fails",
        words=f"cannot be read: {reason}",
        why="The file cannot be opened.",
        remedy="Make it a readable file.",
        source=(),
    )


def _nothing(state: State) -> str:
    """What a reader looks for that is not there."""
    reads = [read for part in state.reader.parts.values() for read in state.reads(part)]
    kinds = {
        "a timeline": any(read.timelines for read in reads),
        "a database": any(read.tables for read in reads),
        "CSV files": any(read.csv for read in reads),
        "JSON documents": any(read.documents for read in reads),
    }
    wanted = " or ".join(kind for kind, is_read in kinds.items() if is_read)
    return f"nothing to read: expected {wanted}"
