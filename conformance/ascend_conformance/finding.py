"""What a check reports: findings about one profile file and what was seen in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .held import Held

Verdict = Literal["failure", "violation", "advice", "note"]
VERDICTS: tuple[Verdict, ...] = ("failure", "violation", "advice", "note")
"""Gravest first. A failure is one of the checker: whether the file conforms is not known."""

Question = Literal["conformity", "difference", "change", "source"]
"""Whether files are as they should be, whether two are the same, what a change of formats breaks,
whether the spec agrees with its sources.
"""

OF_FILES = VERDICTS[1:]
"""The verdicts on what a file holds."""

Scalar = int | float | str | None

BLOCK_FILE = "visualize_data.bin"
"""The carrier (:class:`Seen`) of files that hold blocks, not tables."""

TEXT = "text deliverables"
"""The carrier of a folder of CSV files, timelines and JSON documents, or of one of them."""

MINDSPORE = "MindSpore profiler"
"""The carrier of a folder of raw and intermediate files of MindSpore's profiler; ``rows`` counts
files by their kind, ``revision`` is a generation.
"""

RAW = "raw files"
"""The carrier of the raw files of a PROF_*; ``rows`` counts records and lines by kind of file,
``revision`` names the chips by their numbers.
"""

API = "MindStudio Insight API"
"""The carrier of what is no file but the answers of a server; ``rows`` counts them by command."""

SPEC = "formats"
"""The carrier of what is no file but a family of formats in two states, which ``revision`` names;
``rows`` counts what changed by the kind of its address.
"""

SOURCE = "source of formats"
"""The carrier of what the sources of an exporter or viewer state; ``rows`` counts the facts that
were read, by kind.
"""

TEXT_SUFFIXES = (".csv", ".json")
"""How the names of text deliverables end."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule broken at one place, aggregated over all rows that break it.

    ``table`` and ``column`` are the place (``None`` for the whole file); ``count`` the number of
    bad rows (1 for a fault of the schema); ``first_rowid`` the smallest rowid among them;
    ``examples`` a few bad rows with the values that the rule looked at. ``elsewhere`` lists further
    places of the same rule that were folded into this finding, with their counts.

    In a ``visualize_data.bin`` the table is the block type, the column the path in its payload
    without indices, ``offset`` the byte in the file at which the first bad value or header stands,
    and ``pointer`` the JSON pointer of that value in its payload.

    Of text deliverables ``file`` is the very file, the table its name without time and slice, the
    column that of a CSV file, a layer and its key, or a path in a document; ``line``, counted from
    1, and ``offset`` are those of the first bad row.

    ``texts``: what stands in STRING_IDS under ids of the examples, by ``column=id``. ``cause``: the
    rule whose finding on the same file or folder explains this one. ``changes``: those of the
    schema at this place between the revision that the file is of and the one it is judged by.
    ``hurts``: the readers that a change of formats hurts, each with its parts and what they do.
    """

    rule: str
    name: str
    verdict: Verdict
    file: str
    message: str
    expected: str
    table: str | None = None
    column: str | None = None
    count: int = 1
    first_rowid: int | None = None
    examples: tuple[Mapping[str, Scalar], ...] = ()
    context: Mapping[str, Scalar] = field(default_factory=dict)
    erratum: str | None = None
    sql: str | None = None
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    offset: int | None = None
    pointer: str | None = None
    line: int | None = None
    cause: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    hurts: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """``TABLE.column``, ``op_summary.csv: Op Name``, ``0x05 basic info: /name`` for a place in
        JSON, or ``""`` for the file itself.
        """
        table, column = self.table, self.column
        if not table or not column:
            return table or column or ""
        joint = ": " if column.startswith("/") or self.in_text else "."
        return f"{table}{joint}{column}"

    @property
    def in_text(self) -> bool:
        """Whether the place is one in a text deliverable, whose table is the name of a file."""
        return self.table is not None and self.table.endswith(TEXT_SUFFIXES)

    @property
    def fingerprint(self) -> str:
        """Same fault, same print in any run and any copy: no counts, row numbers or folders."""
        base = self.file.replace("\\", "/").rsplit("/", 1)[-1]
        if self.in_text:
            base = ""  # it holds the time of the export; the place names the file as well
        print_of = f"{self.rule}|{base}|{self.place}"
        return sha256(print_of.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def split_place(place: str) -> tuple[str | None, str | None]:
    """Table and column of :attr:`Finding.place`."""
    for suffix in TEXT_SUFFIXES:
        table, found, column = place.partition(suffix)
        if found and (not column or column.startswith(": ")):
            return table + suffix, column.removeprefix(": ") or None
    joint = ": " if ": /" in place else "."
    table, _, column = place.partition(joint)
    return table or None, column or None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that could not be judged at a place, and why; never a silent pass."""

    rule: str
    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Columns that carry a value, of those that this capture's configuration can produce."""

    exercised: int
    producible: int
    missing_tables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the checker recognised in one file; ``None`` where the file does not state it."""

    carrier: str
    schema_version: str | None = None
    revision: str
    own: str | None = None
    """The revision, writers or epoch that it is of, where it is judged by another one."""
    own_writers: Mapping[str, str] = field(default_factory=dict)
    """Of text deliverables the writer of each, by its path, where it is judged by another one."""
    product: str | None = None
    level: str | None = None
    ranks: tuple[int, ...] = ()
    devices: tuple[int, ...] = ()
    start_ns: int | None = None
    end_ns: int | None = None
    rows: Mapping[str, int]
    coverage: Coverage
    readings: tuple[str, ...] = ()
    """Ids of the errata on which this file sides with the exporters against the documents."""
    reasons: tuple[str, ...] = ()
    """The facts that decided for this revision or these writers."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Of text deliverables: by file, in words, who wrote it and how."""
    events: Mapping[str, int] = field(default_factory=dict)
    """Of timelines: how many events of which layer and kind, ``ascend-hardware/task``."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """The verdict on one file, or on the text deliverables of one folder.

    ``unreadable`` holds the reason when it could not be judged. ``members`` are the files of a
    folder. ``held``: of what the owner expects, where there is an expectation.
    """

    file: str
    seen: Seen | None
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...] = ()
    rules_run: int = 0
    places_checked: int = 0
    seconds: float = 0.0
    unreadable: str | None = None
    members: tuple[str, ...] = ()
    held: Held | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the file was read, and every rule answered."""
        return self.unreadable is None and all(one.verdict in OF_FILES for one in self.findings)


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict on everything that one invocation was given.

    ``question``: what was asked of the files, which words for people follow.
    """

    files: tuple[FileReport, ...]
    tool_version: str
    reading: str
    question: Question = "conformity"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all files."""
        return tuple(finding for report in self.files for finding in report.findings)
