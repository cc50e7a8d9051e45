"""What is made at the beginning of a scope, and reports where it is left."""

from __future__ import annotations

from types import TracebackType
from typing import Literal

from ascend_ref.raw.vocabulary import level

from .process import Process

API = ("api_event", "API_EVENT")


class AclProfilingReporter:
    """ACL_PROFILING_REG: a call of ACL, by the number and the name of its AclProfType.

    The state is asked once, where the scope begins: nothing is reported if it is off then.
    """

    def __init__(self, process: Process, number: int, name: str) -> None:
        self._process = process
        self._of = (level("ACL"), number, name)
        self._begin = 0

    def __enter__(self) -> None:
        self._begin = self._process.now() if self._is_on() else 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._begin:
            report_call(self._process, self._of, self._begin, self._process.now(), 0)

    def _is_on(self) -> bool:
        return self._process.acl_is_on


class GraphProfilingReporter(AclProfilingReporter):
    """GRAPH_PROFILING_REG: a call of the graph engine, through GlobalProfilingWrapper."""

    def _is_on(self) -> bool:
        return self._process.is_enabled("kTaskTime")


class ScopeProfiler:
    """PROFILING_SCOPE (``ge``) or RT2_PROFILING_SCOPE (``gert``): begin and end of an event.

    Both are recorded where the scope is left, into texts of the process; nothing is reported.
    """

    def __init__(
        self, process: Process, stack: Literal["ge", "gert"], element: str, event: str
    ) -> None:
        self._process = process
        self._stack = stack
        self._names = (element, event)
        self._begin = 0

    def __enter__(self) -> None:
        self._begin = self._process.now() if self._process.is_enabled("kGeHost") else 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._begin:
            end, thread = self._process.now(), self._process.thread
            found = self._process.texts[self._stack]
            found.append((self._begin, thread, *self._names, "Start"))
            found.append((end, thread, *self._names, "End"))


def report_call(
    process: Process, of: tuple[int, int, str], begin: int, end: int, item: int
) -> None:
    """MsprofReportApi."""
    times = {"beginTime": begin, "endTime": end, "itemId": item}
    process.report("MsprofReportApi", *API, of, {**times})
