"""What every reader makes of a profile: ``who_reads([path, …]) -> [ReaderAnswer, …]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ascend_ref.cli.progress import Advance
from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.display import show_path
from ascend_spec import layout_catalog
from ascend_spec.consumers import Part, State
from ascend_spec.db.model import CARRIERS

from ..discover import discover
from ..engine.candidate import Candidate
from ..media.text.deliverables import COMPANIONS, Deliverable, Output
from .answer import PartAnswer, ReaderAnswer, Remark
from .choosing import states
from .contracts import ask_rank, of_all_ranks
from .rank import RankFiles

Asked = tuple[State, PartAnswer]


def who_reads(
    paths: Iterable[Path], readers: Iterable[str] = (), progress: Advance | None = None
) -> tuple[ReaderAnswer, ...]:
    """What each reader, all of them or those of these names, makes of files or folders.

    Raises ``NothingToCheck`` for a folder without a profile, ``NoSuchReader``.
    """
    wanted = states(readers)
    found = _candidates(paths)
    subjects: list[Deliverable | RankFiles] = [*_timelines(found), *_ranks(found)]
    answers: dict[str, dict[str, list[PartAnswer]]] = {state.name: {} for state in wanted}
    for number, subject in enumerate(subjects):
        if progress:
            progress(number, len(subjects), subject.label)
        for state, answer in _of(subject, wanted):
            answers[state.name].setdefault(answer.part, []).append(answer)
    return tuple(_together(state, answers[state.name]) for state in wanted)


def timelines_of(paths: Iterable[Path]) -> tuple[Deliverable, ...]:
    """The timelines among files or below folders. Raises ``NothingToCheck``."""
    return tuple(_timelines(_candidates(paths)))


def _together(state: State, parts: dict[str, list[PartAnswer]]) -> ReaderAnswer:
    every = [one for part in parts.values() for one in of_all_ranks(state.reader, part)]
    return ReaderAnswer(state, tuple(every), None if every else _nothing(state))


def _of(subject: Deliverable | RankFiles, wanted: Sequence[State]) -> Iterator[Asked]:
    if isinstance(subject, Deliverable):
        return _of_timeline(subject, wanted)
    asked = [
        (state, part) for state in wanted for part in state.parts if _concerns(state, part, subject)
    ]
    return ask_rank(subject, asked)


def _concerns(state: State, part: Part, files: RankFiles) -> bool:
    """Whether a part reads files of a kind that a rank has."""
    parts = [part, *(state.reader.parts[name] for name in part.made_of)]
    reads = [read for one in parts for read in state.reads(one)]
    has_texts = bool(files.csv or files.documents)
    return any(
        (read.tables and files.databases) or ((read.csv or read.documents) and has_texts)
        for read in reads
    )


def _candidates(paths: Iterable[Path]) -> list[Candidate]:
    found = [candidate for path in paths for candidate in discover(path)]
    return list({(one.medium, one.path, one.files): one for one in found}.values())


def _timelines(found: Sequence[Candidate]) -> Iterator[Deliverable]:
    for candidate in found:
        if isinstance(candidate.details, Output):
            deliverables = candidate.details.deliverables
            yield from (one for one in deliverables if one.kind == "timeline")


def _ranks(found: Sequence[Candidate]) -> Iterator[RankFiles]:
    """The databases and text files of each folder, by the names that readers look for."""
    folders: dict[Path, dict[str, dict[str, Path]]] = {}
    for candidate in found:
        carrier, _ = carrier_of_name(candidate.path.name)
        if candidate.medium == "db" and carrier is not None:
            of = folders.setdefault(candidate.path.parent, {})
            of.setdefault("database", {})[carrier] = candidate.path
        elif isinstance(candidate.details, Output):
            for one in candidate.details.deliverables:
                of = folders.setdefault(one.path.parent, {})
                of.setdefault(one.kind, {}).setdefault(one.name, one.path)
    for folder, files in folders.items():
        databases = {one: path for one in CARRIERS if (path := files.get("database", {}).get(one))}
        csv, documents = files.get("csv", {}), files.get("document", {})
        if databases or csv or documents.keys() - COMPANIONS:
            place = folder.absolute()
            inner = layout_catalog().is_folder("output", place.name)
            name = place.parent.name if inner else place.name
            yield RankFiles(show_path(folder), name, databases, csv, documents)


def _of_timeline(file: Deliverable, wanted: Sequence[State]) -> Iterator[Asked]:
    from .timelines import ask_timeline  # slow: duckdb, pyarrow

    asked = [
        (state, part)
        for state in wanted
        for part in state.parts
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
    reads = [read for part in state.parts for read in state.reads(part)]
    kinds = {
        "a timeline": any(read.timelines for read in reads),
        "a database": any(read.tables for read in reads),
        "CSV files": any(read.csv for read in reads),
        "JSON documents": any(read.documents for read in reads),
        "raw files, which are not asked": any(read.files for read in reads),
    }
    wanted = " or ".join(kind for kind, is_read in kinds.items() if is_read)
    return f"nothing to read: expected {wanted}"
