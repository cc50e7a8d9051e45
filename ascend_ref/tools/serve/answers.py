"""A decoded file that answers the commands of the API."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from ascend_ref.bin import MalformedPayload, open_file

from . import details, lanes
from .answer import Answer, Body, Question, failure
from .blocks import Blocks
from .core_load import core_load
from .hot_spots import INSTRUCTIONS_TYPE, cores_of, instructions, lines, lines_of_old_files
from .schemas import body, read_params, refusal
from .timeline import Timeline, read_timeline
from .units import unit
from .values import UINT64

NO_ORIGIN = UINT64.stop - 1
"""The origin of times where nothing has one."""

DATABASE_SUFFIX = "_mindstudio_insight_data.db"
"""How the database that the viewer keeps next to a file is named."""

BIN_PROJECT = 1
"""``projectType`` of a bin file."""

CACHELINES_TYPE = 0x0E


def _cachelines(asked: Question) -> Body:
    records = asked.blocks.native(CACHELINES_TYPE)
    return records if isinstance(records, dict) else {}


COMMANDS: Mapping[str, Callable[[Question], Answer | Body]] = {
    "unit/threadTracesSummary": lanes.summary,
    "unit/threadTraces": lanes.thread_traces,
    "unit/flows": lanes.flows,
    "unit/threadDetail": lanes.thread_detail,
    "unit/counter": lanes.counter,
    "source/code/file": lambda asked: {
        "fileContent": asked.blocks.source_text(asked.params["sourceName"])
    },
    "source/api/line": lines_of_old_files,
    "source/api/line/dynamic": lines,
    "source/api/instructions": lambda asked: {"instructions": asked.blocks.raw_instructions()},
    "source/api/instructions/dynamic": instructions,
    "source/details/baseInfo": details.base_info,
    "source/details/computeworkload": details.compute_load,
    "source/details/memoryGraph": details.memory_graph,
    "source/details/memoryTable": details.memory_table,
    "source/details/interCoreLoadAnalysis": core_load,
    "source/details/roofline": details.roofline,
    "source/cache/cachelineRecords": _cachelines,
    "source/queryTopWarpStallReason": details.stall_reasons,
}
"""Commands about an open file. The others of the spec open or close something."""

_NOTHING = Blocks(memoryview(b""))
_NO_TIMELINE = Timeline()


class Answers:
    """One file: what each command answers, from its blocks alone.

    ``card`` is the ``rankId`` of the file, its path. Payloads are read when they are asked for;
    small ones are kept, up to a fixed size in all, and of the timeline what
    :class:`ascend_ref.tools.serve.timeline.Timeline` keeps. Use :func:`open_answers`.
    """

    def __init__(self, view: memoryview, place: Path) -> None:
        self.blocks = Blocks(view)
        self.place = place
        self.card = _text(place)
        self.payloads = self.blocks.timelines()

    @cached_property
    def _read(self) -> Timeline | MalformedPayload:
        try:
            return read_timeline(self.payloads)
        except MalformedPayload as problem:
            return problem

    @property
    def timeline(self) -> Timeline:
        """The timeline; an empty one where it cannot be read."""
        return self._read if isinstance(self._read, Timeline) else _NO_TIMELINE

    @property
    def timeline_problem(self) -> str | None:
        """Why the timeline cannot be read."""
        return str(self._read) if isinstance(self._read, MalformedPayload) else None

    @property
    def database(self) -> str:
        """Where the viewer would keep its database of the file; ours keeps none."""
        return _text(self.place.with_name(self.place.stem + DATABASE_SUFFIX))

    def origin(self) -> int:
        """The start of the file's timeline, from which times are counted."""
        bounds = self.timeline.bounds()
        return NO_ORIGIN if bounds is None else bounds[0]

    def answer(
        self,
        command: str,
        given: Mapping[str, Any],
        *,
        baseline: Answers | None = None,
        origin: int | None = None,
    ) -> Answer:
        """What a command about the open file answers to its parameters as they came.

        ``baseline`` is what ``isCompared`` compares with; ``origin`` the start that parse/success
        reported, by default that of the file itself. Raises ``KeyError`` for a command that opens
        or closes something or is unknown.
        """
        answered = COMMANDS[command]
        params = read_params(command, given)
        problem = refusal(command, params)
        start = 0
        if "endTime" in params:
            start = self.origin() if origin is None else origin
            is_window = params["startTime"] <= params["endTime"] <= NO_ORIGIN - start
            problem = problem or (None if is_window else failure("parameters"))
        if problem:
            nothing = Question(_NOTHING, params, None, Timeline, (), 0)
            return Answer(_answer_of(answered(nothing)).body, result=False, error=problem)
        other = baseline.blocks if baseline and params.get("isCompared") else None
        asked = Question(self.blocks, params, other, lambda: self.timeline, self.payloads, start)
        return _answer_of(answered(asked))

    def import_body(self) -> Body:
        """The body of ``import/action`` for this file."""
        imported = {**not_imported(), "children": [self._project()]}
        if not self.blocks.accepted:
            return imported
        parts = self.card.replace("\\", "/").split("/")
        card = {
            **body("card"),
            "cardName": self.card,
            "rankId": self.card,
            "cardPath": f"Directory: {parts[-3] if len(parts) > 2 else ''}",
            "result": True,
            "dbPath": self.database,
            "projectType": BIN_PROJECT,
        }
        return {
            **imported,
            "isSimulation": True,
            "isBinary": True,
            "coreList": cores_of(self.blocks.hot_spots(INSTRUCTIONS_TYPE)),
            "sourceList": list(self.blocks.sources),
            "result": [card],
            "hasCachelineRecords": CACHELINES_TYPE in self.blocks,
            "instrVersion": self.blocks.instruction_version,
        }

    def _project(self) -> Body:
        named = {"filePath": self.card, "fileDir": _text(Path(self.place.name))}
        file = {**body("projectFile"), **named}
        compute = {**file, "rankId": self.card, "type": "COMPUTE"}
        return {**file, "type": "PROJECT", "projectType": BIN_PROJECT, "children": [compute]}

    def unit(self, card: str) -> Body:
        """The tree of processes and lanes that parse/success shows for a card."""
        return unit(self.timeline, self.payloads, card)


def not_imported() -> Body:
    """The body of ``import/action`` where no file was taken as a bin file."""
    version = _NOTHING.instruction_version
    return {**body("importActionBody"), "reset": True, "instrVersion": version}


@contextmanager
def open_answers(path: Path | str) -> Iterator[Answers]:
    """Open a file to be asked. Raises :class:`ascend_ref.bin.Unreadable`."""
    with open_file(path) as file:
        yield Answers(file.view, Path(os.path.realpath(path)))


def _answer_of(given: Answer | Body) -> Answer:
    return given if isinstance(given, Answer) else Answer(given)


def _text(path: Path) -> str:
    """A path as text that every encoding takes."""
    return os.fsencode(path).decode("utf-8", "replace")
