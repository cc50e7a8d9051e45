"""What a client has open: import, reset, baseline; and the events that these entail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import PurePath
from typing import Any

from .answer import Answer, Body, failure
from .answers import COMMANDS, NO_ORIGIN, Answers, not_imported
from .envelope import Request, event, read_request, response
from .schemas import body, read_params
from .values import is_integer

TRANSFER_PROJECT, ADD_FILE, UNKNOWN_ACTION = 0, 1, 2

BASELINE_PREFIX = "Baseline_"

MAX_PROGRESS = 99

FLOWS_UNIT = "CONNECTION_CATEGORY"
"""``unitName`` of parse/unitCompleted."""

CARD_PARAMS = ("cardId", "rankId")
"""Parameters that name the card of a timeline; details of a slice are asked without a check."""

UNCHECKED = "unit/threadDetail"


class Session:
    """One server's state. Only the served file and its baseline are ever answered from.

    ``baseline`` may be the baseline of a comparison once the client sets it. Without an open file
    the timeline has no card, and everything else answers as for a file without blocks.
    """

    def __init__(self, served: Answers, baseline: Answers | None = None) -> None:
        self.served = served
        self.offered = baseline
        self._project: str | None = None
        self._is_open = False
        self._baseline: Answers | None = None
        self._cards: dict[str, Answers] = {}
        self._origin = NO_ORIGIN
        self._responses = count(1)
        self._events = count(1)
        self._nothing = Answers(memoryview(b""), served.place)

    def handle(self, message: str) -> Iterator[Body]:
        """The messages that answer one of the client, in order; none for what is dropped."""
        request = read_request(message)
        if request is None:
            return
        opening = _OPENING.get(request.command)
        if opening is not None:
            yield from opening(self, request)
        else:
            yield self._response(request, self._answer(request))

    def _answer(self, request: Request) -> Answer:
        file = self.served if self._is_open else self._nothing
        if request.module == "timeline":
            shown = self._shown(request.params)
            if shown is None and request.command != UNCHECKED:
                refused = self._nothing.answer(request.command, {})
                return Answer(refused.body, result=False, error=failure("no-such-card"))
            file = shown or file
        return file.answer(
            request.command, request.params, baseline=self._baseline, origin=self._origin
        )

    def _shown(self, params: Body) -> Answers | None:
        """The file whose timeline is asked for: only the timeline knows of cards."""
        card = next((params[name] for name in CARD_PARAMS if name in params), None)
        return self._cards.get(card) if isinstance(card, str) else None

    # --- opening and closing -------------------------------------------------------------------

    def _import(self, request: Request) -> Iterator[Body]:
        """Any other path than that of the served file is refused unseen.

        A project can be shown again once the file was imported into it.
        """
        action = request.params.get("projectAction")
        if is_integer(action) and action not in (TRANSFER_PROJECT, ADD_FILE, UNKNOWN_ACTION):
            return  # so does the viewer's server
        params = read_params(request.command, request.params)
        problem = None
        if not params["projectName"] or params["projectAction"] == UNKNOWN_ACTION:
            problem = failure("parameters")
        elif params["projectAction"] == TRANSFER_PROJECT:
            if params["projectName"] != self._project:
                problem = failure("unknown-project")
        elif not params["path"]:
            problem = failure("no-path")
        elif not all(_names(self.served, path) for path in params["path"]):
            problem = failure("no-such-file")
        if problem:
            yield self._response(request, Answer(not_imported(), result=False, error=problem))
            return
        self._close()
        self._project = params["projectName"]
        if not self.served.blocks.accepted:
            error = "the first block is not that of a bin file"
            yield self._event("parse/fail", {"rankId": "", "error": error})
            yield self._response(request, Answer(self.served.import_body()))
            return
        self._is_open = True
        yield self._response(request, Answer(self.served.import_body()))
        yield from self._parse(self.served, self.served.card)

    def _reset(self, request: Request) -> Iterator[Body]:
        self._close()
        yield self._response(request, Answer({}))

    def _set_baseline(self, request: Request) -> Iterator[Body]:
        """A file path must be that of the offered baseline, or that of the file itself."""
        params = read_params(request.command, request.params)
        self._drop_baseline()
        nothing = body("setBaselineBody")
        path = params["filePath"]
        is_self = bool(path) and _names(self.served, path) and self._is_open
        offered = self.served if is_self else self.offered
        reason = None
        if not params["projectName"] or not self._is_open or offered is None:
            reason = "no project of that name can be the baseline"
        elif path and not _names(offered, path):
            reason = "no such file is served as the baseline"
        if reason or offered is None:
            refused = Answer({**nothing, "errorMessage": reason}, result=False)
            yield self._response(request, refused)
            return
        card = BASELINE_PREFIX + offered.card
        fields = {"rankId": card, "cardName": BASELINE_PREFIX + card, "dbPath": offered.database}
        if is_self:
            fields["errorMessage"] = "the file is compared with itself"
        self._baseline = offered
        yield self._response(request, Answer({**nothing, **fields}))
        if not is_self:
            yield from self._parse(offered, card)
        offsets = [
            {"cardId": name, "offset": self._offset(file)} for name, file in self._cards.items()
        ]
        yield self._event(
            "allPagesSuccess",
            {"isAllPageParsed": True, "cardOffsets": offsets, "minTime": str(self._origin)},
        )

    def _cancel_baseline(self, request: Request) -> Iterator[Body]:
        self._drop_baseline()
        yield self._response(request, Answer({}))

    def _close(self) -> None:
        self._is_open = False
        self._baseline = None
        self._cards.clear()
        self._origin = NO_ORIGIN

    def _drop_baseline(self) -> None:
        self._baseline = None
        for card in [name for name in self._cards if name.startswith(BASELINE_PREFIX)]:
            del self._cards[card]

    # --- the timeline is read ------------------------------------------------------------------

    def _parse(self, file: Answers, card: str) -> Iterator[Body]:
        """Progress by block, then success, or failure; nothing where the headers are damaged."""
        if not file.blocks.complete:
            return
        if file.timeline_problem:
            yield self._event("parse/fail", {"rankId": card, "error": file.timeline_problem})
            return
        self._cards[card] = file
        total = sum(len(payload) for payload in file.payloads)
        read = 0
        for payload in file.payloads:
            read += len(payload)
            progress = min(100 * read // max(total, 1), MAX_PROGRESS)
            sizes = {"parsedSize": read, "totalSize": total, "progress": progress}
            yield self._event("parse/progress", {"fileId": card, **sizes})
        yield self._event("parse/success", self._success(file, card))
        done = {"parseResult": True, "errorMsg": "", "unitName": FLOWS_UNIT}
        yield self._event("parse/unitCompleted", {**done, "dbId": file.database})

    def _success(self, file: Answers, card: str) -> Body:
        bounds = file.timeline.bounds()
        # The start that was reported before stays the origin of times, even if its card is gone.
        self._origin = min([self._origin, *(start for start, _ in self._groups())])
        ranks = {"clusterId": "", "host": "", "rankId": card, "rankName": card, "deviceId": card}
        return {
            **body("parseSuccess"),
            "startTime": str(self._origin),
            "maxTimeStamp": max((end - start for start, end in self._groups()), default=0),
            "offset": self._offset(file),
            "startTimeUpdated": bounds is not None and bounds != (0, 0),
            "unit": file.unit(card),
            "rankList": [ranks],
            "dbPath": file.database,
        }

    def _groups(self) -> list[tuple[int, int]]:
        """The times of all cards, those that overlap as one."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted(
            bounds for file in self._cards.values() if (bounds := file.timeline.bounds())
        ):
            if merged and start <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(merged[-1][1], end)
            else:
                merged.append((start, end))
        return merged

    def _offset(self, file: Answers) -> int:
        bounds = file.timeline.bounds()
        if bounds is None:
            return 0
        group = next(start for start, end in self._groups() if start <= bounds[0] <= end)
        return group - self._origin

    # --- messages ------------------------------------------------------------------------------

    def _response(self, request: Request, answer: Answer) -> Body:
        return response(next(self._responses), request, answer)

    def _event(self, name: str, body: Body) -> Body:
        return event(next(self._events), name, body)


_OPENING: Mapping[str, Callable[[Session, Request], Iterator[Body]]] = {
    "import/action": Session._import,
    "remote/reset": Session._reset,
    "global/setBaseline": Session._set_baseline,
    "global/cancelBaseline": Session._cancel_baseline,
}


def _names(file: Answers, path: Any) -> bool:
    """Whether a path of a client is that of a file, or its name. Nothing on disk is looked at."""
    return path in (file.card, PurePath(file.card).name)


assert not COMMANDS.keys() & _OPENING.keys()  # noqa: S101 - each command has one meaning
