"""One output folder read into facts: its files, their writers, what is known of the capture, and
the database next to them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.profile.readme import read_readme
from ascend_ref.recorded import Recorded, from_database
from ascend_ref.text.headers import Circumstance, Recognised, recognise
from ascend_ref.text.rows import CsvRows
from ascend_ref.timeline.elements import Elements
from ascend_ref.timeline.recognition import Reading
from ascend_spec import catalog, document_catalog, text_catalog
from ascend_spec.core.pointer import pointer_of
from ascend_spec.text import Output

from ...compare.sql import quoted
from ...engine.candidate import size_of
from ...engine.progress import Progress
from .cells import likeliest
from .database import Facts
from .deliverables import COMPANIONS, Deliverable
from .loadcsv import load_csv, make_views
from .loaddocs import Document, document_faults, doubled_faults, load_document
from .loadtrace import Kept, describe, load_timeline, narrow_events, note_doubled
from .near import near_mindspore, pipeline_summary, profiles_of
from .recorded_by_mindspore import add_framework
from .rules import TextRule, instances
from .sources import tables_to_compare
from .votes import Vote

OPTIONS = "profiler_info"
DATABASE = -1
"""The number that ``file`` has in the tables of the database."""


@dataclass
class Folder:
    """What was read. Everything is by the number of a file, which is ``file`` in the facts.

    ``unreadable`` are files that the system refused, with the reason. ``circumstances`` are those
    that fit most CSV files, ``at`` the most likely ones of each; ``writers`` the most likely writer
    of each file. ``votes``: what came of the comparisons that have been made.
    """

    facts: Facts
    files: dict[int, Deliverable] = field(default_factory=dict)
    csv: dict[int, tuple[CsvRows, Recognised]] = field(default_factory=dict)
    timelines: dict[int, Elements] = field(default_factory=dict)
    readings: dict[int, Reading] = field(default_factory=dict)
    documents: dict[int, Document] = field(default_factory=dict)
    unreadable: dict[int, str] = field(default_factory=dict)
    circumstances: tuple[Circumstance, ...] = ()
    at: dict[int, Circumstance] = field(default_factory=dict)
    writers: dict[int, str] = field(default_factory=dict)
    database: Path | None = None
    alone: bool = False
    votes: list[Vote] = field(default_factory=list)

    @property
    def output(self) -> Output | None:
        """The output that the writers belong to; ``None`` where both are possible."""
        outputs = {text_catalog().writers[one].output for one in self.writers.values()}
        return outputs.pop() if len(outputs) == 1 else None

    @property
    def level(self) -> int | None:
        """The level of the profiler, by profiler_info; else what all CSV files allow.

        ``Level_none`` and ``LevelNone`` are none of them, whatever the files allow.
        """
        stated = self.facts.value(
            "SELECT value FROM doc.member WHERE pointer IN "
            "('/config/experimental_config/_profiler_level', "
            "'/profiler_parameters/profiler_level', '/profiling_options/profiler_level')"
        )
        found = re.search("([0-2])$", stated or "")
        if found:
            return int(found.group())
        if stated in ("Level_none", "LevelNone"):
            return None
        level = self.known("level")
        return level if isinstance(level, int) else None

    @property
    def has_kernels(self) -> bool:
        """Whether the device was captured and computed, or the host launched anything there.

        Where neither profiler_info nor a timeline denies it, it was. At level 0 the adapter takes
        the calls of CANN away, and the exits of the task queue are all that shows launches.
        """
        activities = (
            "pointer LIKE '/config/common_config/activities/%' "
            "OR pointer LIKE '/profiler_parameters/activities/%'"
        )
        of_the_host = self.facts.value(
            "SELECT bool_and(value IN ('ProfilerActivity.CPU', 'CPU'))"
            f" FROM doc.member WHERE {activities}"
        )
        if of_the_host or self.facts.value("SELECT count(*) FROM trace.process") == 0:
            return not of_the_host
        shown = (
            "SELECT 1 FROM trace.slice WHERE layer = 'overlap-analysis' AND name = 'Computing' "
            "OR layer = 'cann' AND starts_with(name, 'Node@') OR cat = 'dequeue' AND NOT EXISTS "
            "(SELECT 1 FROM trace.process WHERE layer = 'cann' AND events > 0) LIMIT 1"
        )
        return bool(self.facts.rows(shown))

    @property
    def csv_writers(self) -> dict[str, str]:
        """The writer of each CSV file by its name, of slices that of the last one."""
        return {self.files[number].name: self.writers[number] for number in self.csv}

    def known(self, what: str) -> str | int | None:
        """A fact about the capture that all circumstances agree on."""
        found = {getattr(one, what) for one in self.circumstances} - {None}
        return found.pop() if len(found) == 1 else None


def read_folder(
    facts: Facts,
    deliverables: Sequence[Deliverable],
    *,
    alone: bool = False,
    kept: Kept = "not",
    progress: Progress | None = None,
) -> Folder:
    """Read all files of an output folder.

    ``alone``: one file that was given by itself. ``kept``: how the layers of timelines are; where
    lean, in less memory, their facts cannot be changed.
    """
    if kept == "lean":
        narrow_events(facts)
    folder = Folder(facts, dict(enumerate(deliverables)), alone=alone)
    sizes = [size_of(one.path) for one in deliverables]
    for number, file in folder.files.items():
        if progress:
            progress(sum(sizes[:number]), sum(sizes), file.path.name)
        try:
            if file.kind == "csv":
                folder.csv[number] = load_csv(facts, number, file)
            elif file.kind == "timeline":
                folder.timelines[number] = load_timeline(facts, number, file)
            else:
                folder.documents[number] = load_document(facts, number, file)
        except OSError as problem:
            folder.unreadable[number] = problem.strerror or type(problem).__name__
    agreed = _agreed(found for _, found in folder.csv.values())
    stated = _stated_writer(folder)
    folder.circumstances = tuple(one for one in agreed if one.writer == stated) or agreed
    _recognise_among_others(folder)
    known = text_catalog().writers
    days = {known[one.writer].date for one in folder.circumstances}
    likely = [one.id for one in known.values() if one.date in days]
    timelines = {number: folder.files[number] for number in folder.timelines}
    folder.readings = describe(facts, timelines, likely, kept)
    for number, elements in folder.timelines.items():
        note_doubled(facts, number, elements)
    _choose_writers(folder)
    _add_files(folder)
    if not alone:
        _add_list(folder)
        if any(one.of_mindspore for one in deliverables):
            facts.add("unit.near", list(near_mindspore(deliverables)))
            facts.add("unit.pipeline", list(pipeline_summary(deliverables)))
            objects = (no for no, elements in folder.timelines.items() if elements.in_object)
            facts.add("unit.near", [("object", folder.files[no].path.name, None) for no in objects])
            for profile in profiles_of(deliverables):
                add_framework(facts, profile)
    make_views(facts, folder.csv_writers, hold=kept == "lean")
    return folder


def _agreed(headers: Iterable[Recognised]) -> tuple[Circumstance, ...]:
    """Circumstances of as many headers as possible, by what does not change between files."""
    found = [one for one in headers if one.exact]
    votes: Counter[tuple[str, str]] = Counter()
    for one in found:
        votes.update({(at.writer, at.family) for at in one.circumstances})
    best = max(votes.values(), default=0)
    chosen = {pair for pair, number in votes.items() if number == best}
    return tuple(
        dict.fromkeys(
            at for one in found for at in one.circumstances if (at.writer, at.family) in chosen
        )
    )


def _recognise_among_others(folder: Folder) -> None:
    """Compare headers that no writer prints with those of the writers of the other files.

    By itself a column under a wrong name looks like a further one of a generation without it.
    """
    others = {one.writer for one in folder.circumstances}
    for number, (rows, found) in folder.csv.items():
        if not found.exact:
            file = text_catalog().csv[folder.files[number].name]
            again = recognise(file, found.header, others.__contains__)
            if others.issuperset(one.writer for one in again.circumstances):
                folder.csv[number] = rows, again


def _choose_writers(folder: Folder) -> None:
    """The writer of each file: of those that its own form allows, the one that most files allow."""
    likely = Counter(one.writer for one in folder.circumstances)
    for reading in folder.readings.values():
        likely[reading.writer] += 1
    for number, file in folder.files.items():
        if number in folder.readings:
            folder.writers[number] = folder.readings[number].writer
        elif number in folder.csv:
            found = _of_family(folder.csv[number][1], folder.circumstances)
            folder.at[number] = likeliest(folder.facts, number, file, found, likely)
            folder.writers[number] = folder.at[number].writer
        elif number in folder.documents:
            folder.writers[number] = _writer_of(file, folder.documents[number], likely)


def _stated_writer(folder: Folder) -> str | None:
    """The only writer of MindSpore whose options profiler_info has, if there is one.

    Files of several generations are alike; their options came one after the other.
    """
    for number, document in folder.documents.items():
        file = folder.files[number]
        if file.name != OPTIONS or not file.of_mindspore or document.damage is not None:
            continue
        writers = (one for one in document_catalog().writers_of(OPTIONS) if file.is_by(one))
        sound = [one for one in writers if not document_faults(OPTIONS, one, document.value)]
        if len(sound) == 1:
            return sound[0]
    return None


def _of_family(found: Recognised, agreed: Sequence[Circumstance]) -> Recognised:
    """What a header shows, limited to the families that most files fit.

    A writer that has none of these keeps all of its own.
    """
    pairs = {(one.writer, one.family) for one in agreed}
    fitting = [one for one in found.circumstances if (one.writer, one.family) in pairs]
    writers = {one.writer for one in fitting}
    others = [one for one in found.circumstances if one.writer not in writers]
    return replace(found, circumstances=(*fitting, *others))


def _writer_of(file: Deliverable, document: Document, likely: Mapping[str, int]) -> str:
    """A likely writer of a document; without one that whose schema fits best."""
    name, every = file.name, document_catalog().writers_of(file.name)
    writers = [one for one in every if file.is_by(one)] or every
    best = max(likely.get(one, 0) for one in writers)
    # Companions are written with the capture, which a later generation may analyse or export.
    chosen = [one for one in writers if name in COMPANIONS or likely.get(one, 0) == best]
    if len(chosen) == 1 or document.damage is not None:
        return chosen[0]
    chosen.sort(key=lambda one: -likely.get(one, 0))
    return min(chosen, key=lambda one: len(document_faults(name, one, document.value)))


def _add_files(folder: Folder) -> None:
    """Add to the facts what is known of the files and the capture, and what is wrong with JSON."""
    facts = folder.facts
    for number, file in folder.files.items():
        read = folder.csv.get(number)
        rows = read[0] if read else None
        elements = folder.timelines.get(number)
        document = folder.documents.get(number)
        source = rows or elements or document
        facts.add(
            "unit.file",
            [
                (
                    *(number, file.label, file.place, file.kind, file.name),
                    folder.writers.get(number),
                    file.slice,
                    rows.count if rows else elements.count if elements else None,
                    rows.line_feeds if rows else None,
                    rows.returns if rows else None,
                    source is not None and source.marked,
                )
            ],
        )
        damage = elements.damage if elements else document.damage if document else None
        if damage is not None:
            row = elements.count if elements else None
            facts.add("unit.damage", [(number, row, None, damage.offset, damage.reason)])
        if document is not None and document.damage is None:
            found = document_faults(file.name, folder.writers[number], document.value)
            all_found = [*found.values(), *doubled_faults(document)]
            facts.add(
                "doc.fault",
                [
                    (
                        *(number, row, pointer_of(one.tokens), one.place, None, one.keyword),
                        *(one.expected, one.shown, one.erratum, one.count),
                    )
                    for row, one in enumerate(all_found)
                ],
            )
    level, family, metrics = folder.level, folder.known("family"), folder.known("metrics")
    families = sorted({one.family for one in folder.circumstances})
    about = folder.output, folder.known("writer"), family, level, metrics, None, families
    facts.add("unit.about", [about])


def _add_list(folder: Folder) -> None:
    """Add to the facts what README.txt says was written next to the files of msprof."""
    places = {one.path.parent for one in folder.files.values() if one.kind in ("csv", "timeline")}
    for place in sorted(places):
        folder.facts.add("unit.listed", [(*one,) for one in read_readme(place)])


def load_database(folder: Folder, path: Path, rules: Iterable[TextRule]) -> None:
    """Copy what the rules read of a database into the schema ``db``.

    A database that cannot be read is left out; it is judged on its own, and that says why.
    """
    try:
        recorded = from_database(path, lenient=True)
        date = catalog().revision(recorded.revision).date
        folder.facts.rows("UPDATE unit.about SET schema_date = ?", (date,))
        for name in _read_by(folder, rules):
            _copy(folder, recorded, name)
    except (UnreadableDatabase, OSError):
        return
    folder.database = path


def _read_by(folder: Folder, rules: Iterable[TextRule]) -> Sequence[str]:
    """The tables that rules name, agreements only where the folder has what to compare with."""
    needs = set(tables_to_compare(folder.facts, rules))
    needs |= {need for rule in rules for one in instances(rule) for need in one.needs}
    return sorted({need.split(".")[1] for need in needs if need.startswith("db.")})


def _copy(folder: Folder, recorded: Recorded, name: str) -> None:
    try:
        table = recorded.table(name)
    except KeyError:
        return
    if table.num_rows:
        # DuckDB keeps no order of rows, so they are numbered here.
        numbered = table.add_column(0, "row", pa.array(np.arange(table.num_rows)))
        folder.facts.scan(
            "recorded",
            numbered,
            f"CREATE TABLE db.{quoted(name)} AS SELECT {DATABASE} AS file, * FROM recorded",
        )
