"""Names of the same things in the server and in the reference.

A server numbers cards, processes, lanes and slices as it likes (A4, A16); clients use the names
that it sent. Requests are planned in the reference's names and sent in the server's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ascend_ref.tools.serve.values import items, member

CARD_PARAMS = ("cardId", "rankId")
PROCESS_PARAMS = ("processId", "pid")
LANE_PARAMS = ("threadId", "tid")
LANES_PARAM = "threadIdList"
SLICE_PARAM = "id"
PATH_PARAM = "path"
FILE_PARAM = "filePath"

COMMANDS_WITH_LANES = ("unit/threadTraces", "unit/flows")
"""Commands whose answers name lanes."""

KNOWN_BY = ("name", "startTime", "endTime", "depth")
"""The members that distinguish a slice from the others of its lane."""


class UnknownName(Exception):
    """The server never sent its name for something; the text states for what."""


class Names:
    """The names of both sides. ``card`` and the tree ``unit`` are the reference's; what the server
    calls them is learned from its answers, except ``server_path``, which the user gave."""

    def __init__(self, card: str, unit: Any, server_path: str) -> None:
        self._card = card
        self._path = server_path
        self._unit = unit
        tracks = list(_tracks(unit, unit))
        self._known_processes = {_metadata(track, "processId") for track, _ in tracks}
        self._known_lanes = {_lane_of(track) for track, _ in tracks}
        self._server_card: str | None = None
        self._processes: dict[str, str] = {}
        self._lanes: dict[tuple[str, str], str] = {}
        self._slices: dict[str, str] = {}

    # --- learning ------------------------------------------------------------------------------

    def learn_card(self, body: Any) -> None:
        """Learn the card from an answer to ``import/action``."""
        for card in items(member(body, "result"))[:1]:
            if isinstance(name := member(card, "rankId"), str):
                self._server_card = name

    def learn_lanes(self, body: Any) -> None:
        """Learn processes and lanes from the tree in ``parse/success``, by names that users see."""
        for track, received in _tracks(self._unit, member(body, "unit")):
            process, name = _metadata(track, "processId"), _metadata(received, "processId")
            lane = _metadata(received, "threadId")
            if isinstance(name, str):
                self._processes[process] = name
                if isinstance(lane, str):
                    self._lanes[_lane_of(track)] = lane

    def learn_slices(self, expected: Any, received: Any) -> None:
        """Learn the numbers of slices from an answer to ``unit/threadTraces``."""
        found, wanted = _numbers(received), _numbers(expected)
        for known_by, numbers in wanted.items():
            names = found.get(known_by, [])
            # Of several slices that look the same, only equal numbers show which is which.
            if len(numbers) == len(names) == 1 or numbers == names:
                self._slices.update(zip(numbers, names, strict=True))

    # --- translating ---------------------------------------------------------------------------

    def to_server(self, command: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters in the server's names; what the reference does not know either stays.

        Raises :class:`UnknownName`.
        """
        named = dict(params)
        if isinstance(named.get(PATH_PARAM), list):
            named[PATH_PARAM] = [self._file(path) for path in named[PATH_PARAM]]
        if FILE_PARAM in named:
            named[FILE_PARAM] = self._file(named[FILE_PARAM])
        if not command.startswith("unit/"):
            return named
        process = _process_of(params)
        for param in CARD_PARAMS:
            if named.get(param) == self._card:
                if self._server_card is None:
                    raise UnknownName("the server named no card")
                named[param] = self._server_card
        for param in PROCESS_PARAMS:
            if named.get(param) in self._known_processes:
                named[param] = _name_of(self._processes, process, f"process {process}")
        for param in LANE_PARAMS:
            if param in named:
                named[param] = self._lane(process, named[param])
        if LANES_PARAM in named:
            named[LANES_PARAM] = [self._lane(process, lane) for lane in named[LANES_PARAM]]
        if str(named.get(SLICE_PARAM, "")).isdecimal():
            number = named[SLICE_PARAM]
            named[SLICE_PARAM] = _name_of(self._slices, number, "the slice")
        return named

    def in_reference(self, command: str, params: Mapping[str, Any], body: Any) -> Any:
        """The body of an answer with the reference's names of lanes."""
        if command not in COMMANDS_WITH_LANES:
            return body
        processes = {name: process for process, name in self._processes.items()}
        lanes = {(process, name): lane for (process, lane), name in self._lanes.items()}
        return _renamed(body, processes, lanes, _process_of(params))

    def _file(self, path: Any) -> Any:
        return self._path if path == self._card else path

    def _lane(self, process: Any, lane: Any) -> Any:
        if (process, lane) not in self._known_lanes:
            return lane
        return _name_of(self._lanes, (process, lane), f"lane {lane} of process {process}")


def _name_of(names: Mapping[Any, str], name: Any, what: str) -> str:
    if name not in names:
        raise UnknownName(f"the server gave no name of {what}")
    return names[name]


def _renamed(
    value: Any,
    processes: Mapping[str, str],
    lanes: Mapping[tuple[Any, str], str],
    process: Any,
) -> Any:
    if isinstance(value, list):
        return [_renamed(element, processes, lanes, process) for element in value]
    if not isinstance(value, dict):
        return value
    named = {key: _renamed(inner, processes, lanes, process) for key, inner in value.items()}
    if isinstance(named.get("pid"), str):
        process = named["pid"] = processes.get(named["pid"], named["pid"])
    for param in LANE_PARAMS:
        if isinstance(named.get(param), str):
            named[param] = lanes.get((process, named[param]), named[param])
    return named


def _process_of(params: Mapping[str, Any]) -> Any:
    return next((params[param] for param in PROCESS_PARAMS if param in params), None)


def _metadata(track: Any, key: str) -> Any:
    found = member(member(track, "metadata"), key)
    return found if isinstance(found, str) else None


def _lane_of(track: Any) -> tuple[Any, Any]:
    return _metadata(track, "processId"), _metadata(track, "threadId")


def _tracks(expected: Any, received: Any) -> Iterator[tuple[Any, Any]]:
    """Tracks below two nodes that have the same type and names, side by side."""
    others: dict[str, list[Any]] = defaultdict(list)
    for child in items(member(received, "children")):
        others[_title(child)].append(child)
    for child in items(member(expected, "children")):
        same = others.get(_title(child))
        other = same.pop(0) if same else None
        if other is not None:
            yield child, other
            yield from _tracks(child, other)


def _title(track: Any) -> str:
    names = [_metadata(track, key) for key in ("processName", "threadName")]
    return repr([member(track, "type"), *names])


def _numbers(body: Any) -> dict[str, list[str]]:
    """The numbers of the slices in an answer, by the members that distinguish them."""
    found: dict[str, list[str]] = defaultdict(list)
    for slice_ in (slice_ for row in items(member(body, "data")) for slice_ in items(row)):
        number = member(slice_, SLICE_PARAM)
        if isinstance(number, str):
            found[repr([slice_.get(name) for name in KNOWN_BY])].append(number)
    return found
