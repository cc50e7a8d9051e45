"""Which requests make sense for a file, in the reference's names (bin-blocks.md 7.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

from ascend_ref.db.display import clip, printable
from ascend_ref.tools.serve import Answers
from ascend_ref.tools.serve.values import items, member, text
from ascend_spec import api_catalog, bin_catalog

from .options import IMPORT

PROJECT = "ascend-ref probe"
"""The project that the file is imported into."""

ADD_FILE = 1

SOURCES, CORES, PROCESSES, LANES, COUNTERS = 4, 4, 8, 12, 4
"""How many of each are asked for, spread over all of them."""

NAMING = (0x08, "core_memory_map", "core_no"), (0x09, "table_per_block", "block_id")
"""Payloads whose rows name blocks, under a key."""

BLOCKS = 256
SLICES_PER_LANE, FLOWS = 3, 12
COMPARED_BLOCKS = 2

NO_SUCH = "no-such-thing"
"""A name that no file has."""

NO_LANE = {"processId": NO_SUCH, "threadId": NO_SUCH, "metaType": "TEXT"}

FORBIDDEN = ("a;b", "a|b", "a\nb", "a'b", "x" * 501)
"""Texts that a server of the API refuses (bin-blocks.md 7.1)."""

SHORT_WINDOW = 900
"""Nanoseconds of a window in which every slice is sent."""

SHOWN = 160
"""Characters of parameters that are shown of a request."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    ``params`` name cards, processes, lanes and slices as the reference does. ``changed`` members of
    the message replace the right ones, those named in ``without`` are left out, and a ``text`` is
    sent instead of a message. A server may drop it where the reference drops it, too.
    """

    command: str
    params: Mapping[str, Any] = field(default_factory=dict)
    changed: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    text: str | None = None

    def message(self, number: int, params: Mapping[str, Any]) -> str:
        """What is sent; ``params`` as the server names things."""
        if self.text is not None:
            return self.text
        known = api_catalog().commands.get(self.command)
        message = {
            "id": number,
            "moduleName": known.module if known else "source",
            "type": "request",
            "command": self.command,
            "params": dict(params),
            **self.changed,
        }
        sent = {key: value for key, value in message.items() if key not in self.without}
        return json.dumps(sent, ensure_ascii=False)

    @property
    def shown(self) -> str:
        """What distinguishes the request from others, on one short line."""
        if self.text is not None:
            return clip(printable(self.text), SHOWN)
        parts: dict[str, Any] = {**self.params, **self.changed}
        text = json.dumps(parts, ensure_ascii=False)
        left_out = f" without {', '.join(self.without)}" if self.without else ""
        return clip(printable(f"{text}{left_out}"), SHOWN)


def opening(answers: Answers) -> Request:
    """The request that everything begins with."""
    params = {"path": [answers.card], "projectName": PROJECT, "projectAction": ADD_FILE}
    return Request(IMPORT, {**params, "isConflict": False})


def plan(answers: Answers) -> list[Request]:
    """Every request after the import, in the order in which they are sent."""
    return [
        *_hot_spots(answers),
        *_details([*some(_block_ids(answers), BLOCKS), NO_SUCH], compared=False),
        *_timeline(answers),
        *_refused(answers),
        *_dropped(),
        *_compared(answers),
        Request(IMPORT, {"path": [], "projectName": PROJECT, "projectAction": ADD_FILE}),
        Request("remote/reset"),
    ]


def some(found: Sequence[Item], most: int) -> list[Item]:
    """The first, the last and others between them, as evenly as can be."""
    if len(found) <= most:
        return list(found)
    return [found[number * (len(found) - 1) // (most - 1)] for number in range(most)]


def _hot_spots(answers: Answers) -> Iterator[Request]:
    opened = answers.import_body()
    sources = some(opened["sourceList"], SOURCES)
    cores = some(opened["coreList"], CORES)
    yield from (Request("source/code/file", {"sourceName": name}) for name in sources)
    yield Request("source/code/file", {"sourceName": NO_SUCH})
    for command in ("source/api/line", "source/api/line/dynamic"):
        for source in sources or [NO_SUCH]:
            for core in cores or [NO_SUCH]:
                yield Request(command, {"sourceName": source, "coreName": core})
    yield Request("source/api/instructions")
    for core in ["", *cores, NO_SUCH]:
        yield Request("source/api/instructions/dynamic", {"coreName": core})
    yield Request("source/cache/cachelineRecords")
    yield Request("source/queryTopWarpStallReason", {"isCompared": False})


def _details(blocks: list[str], *, compared: bool) -> Iterator[Request]:
    for command in ("baseInfo", "computeworkload", "interCoreLoadAnalysis"):
        yield Request(f"source/details/{command}", {"isCompared": compared})
    if not compared:
        yield Request("source/details/roofline")
    for block in blocks:
        for command in ("memoryGraph", "memoryTable"):
            yield Request(f"source/details/{command}", {"blockId": block, "isCompared": compared})


def _block_ids(answers: Answers) -> list[str]:
    """The blocks of the load and of both memory pages, each once; none without a name."""
    listed = answers.answer("source/details/computeworkload", {}).body["blockIdList"]
    for code, rows, key in NAMING:
        document = answers.blocks.details(code)
        listed += [member(row, key) for row in items(member(document, rows))]
    return [name for name in dict.fromkeys(map(text, listed)) if name]


# --- the timeline ------------------------------------------------------------------------------


def _timeline(answers: Answers) -> Iterator[Request]:
    bounds = answers.timeline.bounds() or (0, 0)
    length = bounds[1] - bounds[0]
    unit = answers.unit(answers.card)
    lanes = [lane for track in unit["children"] for lane in _below(track, "thread")]
    processes = list(dict.fromkeys(lane["processId"] for lane in lanes))
    yield from _summaries(answers, some(processes, PROCESSES) or [NO_SUCH], length)
    yield from _lanes(answers, some(lanes, LANES), length)
    counters = [counter for track in unit["children"] for counter in _below(track, "counter")]
    nothing = {"processId": NO_SUCH, "threadName": NO_SUCH}
    for counter in some(counters, COUNTERS) or [nothing]:
        named = {"pid": counter["processId"], "threadName": counter["threadName"]}
        for window in _windows(length):
            yield Request("unit/counter", {"rankId": answers.card, **named, **window})


def _below(track: Any, kind: str) -> Iterator[dict[str, Any]]:
    """The metadata of all tracks of a kind in a tree."""
    if track["type"] == kind:
        yield track["metadata"]
    for child in track["children"]:
        yield from _below(child, kind)


def _windows(length: int) -> list[dict[str, int]]:
    """All of the time, a part of it, and what lies behind its end."""
    edges = [(0, length), (length // 3, 2 * length // 3), (length + 1, length + 2)]
    return [{"startTime": start, "endTime": end} for start, end in edges]


def _summaries(answers: Answers, processes: list[str], length: int) -> Iterator[Request]:
    for process in processes:
        for window in _windows(length)[:2]:
            named = {"cardId": answers.card, "processId": process, "unitType": ""}
            params = {**named, "metaType": NO_LANE["metaType"], **window}
            yield Request("unit/threadTracesSummary", params)


def _lanes(answers: Answers, lanes: list[dict[str, Any]], length: int) -> Iterator[Request]:
    """Slices first: requests for a flow or for details need the numbers in their answers."""
    members = bin_catalog().enums["synchronisations"].members
    names = {one.value for one in members if one.label}
    shown: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for lane in lanes or [NO_LANE]:
        first = _traces(answers, lane, _windows(length)[0])
        rows = answers.answer(first.command, first.params).body["data"]
        slices = list(chain.from_iterable(rows))
        picked = some(slices, SLICES_PER_LANE)
        flags = [slice_ for slice_ in slices if slice_["name"] in names]
        shown += [(lane, slice_) for slice_ in (*picked, *some(flags, FLOWS))]
        yield first
        for window in _windows(length)[1:]:
            yield _traces(answers, lane, window)
        if picked:
            start = picked[len(picked) // 2]["startTime"]
            window = {"startTime": start, "endTime": start + SHORT_WINDOW}
            yield _traces(answers, lane, window)
        if flags:
            yield _traces(answers, lane, _windows(length)[0], isHideFlagEvents=True)
    yield from _together(answers, lanes, length)
    numbers: set[str] = set()
    for lane, slice_ in shown:
        if slice_["id"] not in numbers:
            numbers.add(slice_["id"])
            yield from _slice(answers, lane, slice_)
    nothing = {"id": NO_SUCH, "startTime": 0, "endTime": 0, "depth": 0}
    yield from _slice(answers, NO_LANE, nothing)


def _together(answers: Answers, lanes: list[dict[str, Any]], length: int) -> Iterator[Request]:
    """The first two lanes of a process, laid over one another."""
    for lane in lanes:
        same = [other for other in lanes if other["processId"] == lane["processId"]]
        if len(same) > 1:
            both = [other["threadId"] for other in same[:2]]
            yield _traces(answers, lane, _windows(length)[0], threadIdList=both)
            return


def _traces(
    answers: Answers, lane: dict[str, Any], window: dict[str, int], **further: Any
) -> Request:
    length = window["endTime"] - window["startTime"]
    named = {"cardId": answers.card, "processId": lane["processId"], "threadId": lane["threadId"]}
    params = {
        **named,
        **window,
        "metaType": lane["metaType"],
        "timePerPx": length / 1000,
        "isFilterPythonFunction": False,
        "isHideFlagEvents": False,
        "threadIdList": [],
        **further,
    }
    return Request("unit/threadTraces", params)


def _slice(answers: Answers, lane: dict[str, Any], slice_: dict[str, Any]) -> Iterator[Request]:
    named = {
        "rankId": answers.card,
        "pid": lane["processId"],
        "tid": lane["threadId"],
        "id": slice_["id"],
        "metaType": lane["metaType"],
        "startTime": slice_["startTime"],
    }
    yield Request("unit/threadDetail", {**named, "depth": slice_["depth"]})
    yield Request("unit/flows", {**named, "endTime": slice_["endTime"], "isSimulation": True})


# --- what is refused or dropped ----------------------------------------------------------------


def _refused(answers: Answers) -> Iterator[Request]:
    """Requests that are complete, and cannot be carried out."""
    for wrong in ({}, {"sourceName": 7}, {"sourceName": ""}):
        yield Request("source/code/file", wrong)
    yield from (Request("source/code/file", {"sourceName": one}) for one in FORBIDDEN)
    yield Request("source/api/line", {"sourceName": NO_SUCH})
    yield Request("source/api/line/dynamic", {"coreName": NO_SUCH})
    yield Request("source/api/instructions/dynamic", {"coreName": FORBIDDEN[0]})
    for command in ("source/details/memoryGraph", "source/details/memoryTable"):
        for block in ({}, {"blockId": 0}, {"blockId": FORBIDDEN[0]}):
            yield Request(command, block)
    yield _traces(answers, NO_LANE, {"startTime": 2, "endTime": 1})
    yield _traces(answers, NO_LANE, {"startTime": 0, "endTime": 1}, cardId=NO_SUCH)


def _dropped() -> Iterator[Request]:
    """What the documents let a server drop without an answer; it must live on."""
    yield Request("source/details/nothing")
    yield Request("source/details/baseInfo", changed={"moduleName": NO_SUCH})
    yield Request("source/details/baseInfo", changed={"params": None})
    yield Request("source/details/baseInfo", changed={"id": None})
    for name in ("id", "type", "moduleName", "params"):
        yield Request("source/details/baseInfo", without=(name,))
    for sent in ("", "{", "[]", '{"id": 1e999}'):
        yield Request("source/details/baseInfo", text=sent)


# --- with a baseline ---------------------------------------------------------------------------


def _compared(answers: Answers) -> Iterator[Request]:
    """The file as its own baseline."""
    yield Request("global/setBaseline", {"projectName": PROJECT, "filePath": answers.card})
    yield from _details(some(_block_ids(answers), COMPARED_BLOCKS), compared=True)
    yield Request("source/queryTopWarpStallReason", {"isCompared": True})
    yield Request("global/cancelBaseline", {"projectName": PROJECT})
