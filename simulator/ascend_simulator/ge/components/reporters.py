"""What is made at the beginning of a scope, and reports where it is left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Literal

from ascend_ref.raw.vocabulary import level

from .library import Field
from .process import Process


class _Scope(ABC):
    """The state is asked once, where the scope begins: nothing is noted if it is off then."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._begin = 0

    def __enter__(self) -> None:
        self._begin = self.process.now() if self._is_on() else 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._begin:
            self._leave(self._begin, self.process.now())

    @abstractmethod
    def _is_on(self) -> bool:
        """Whether what it notes is switched on."""

    @abstractmethod
    def _leave(self, begin: int, end: int) -> None:
        """Note it."""


class AclProfilingReporter(_Scope):
    """ACL_PROFILING_REG: a call of ACL, by the number and the name of its AclProfType."""

    def __init__(self, process: Process, number: int, name: str) -> None:
        super().__init__(process)
        self._of = (level("ACL"), number, name)

    def _is_on(self) -> bool:
        return self.process.acl_is_on

    def _leave(self, begin: int, end: int) -> None:
        report_call(self.process, self._of, begin, end, 0)


class GraphProfilingReporter(AclProfilingReporter):
    """GRAPH_PROFILING_REG: a call of the graph engine, through GlobalProfilingWrapper."""

    def _is_on(self) -> bool:
        return self.process.switches_on("GraphProfilingReporter")


class ScopeProfiler(_Scope):
    """PROFILING_SCOPE (``ge``) or RT2_PROFILING_SCOPE (``gert``): begin and end of an event.

    Both are recorded where the scope is left, into texts of the process; nothing is reported.
    """

    def __init__(
        self, process: Process, stack: Literal["ge", "gert"], element: str, event: str
    ) -> None:
        super().__init__(process)
        self._stack = stack
        self._names = (element, event)

    def _is_on(self) -> bool:
        return self.process.switches_on("ScopeProfiler")

    def _leave(self, begin: int, end: int) -> None:
        found, thread = self.process.texts[self._stack], self.process.thread
        found.append((begin, thread, *self._names, "Start"))
        found.append((end, thread, *self._names, "End"))


def report_call(
    process: Process, of: tuple[int, int, str], begin: int, end: int, item: int
) -> None:
    """MsprofReportApi."""
    fields: dict[str, Field] = {"beginTime": begin, "endTime": end, "itemId": item}
    process.report("MsprofReportApi", "api_event", of, fields)
