"""A process with the library, its modules, and the calls that control them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ascend_spec import ge_catalog, raw_catalog

from ..life_cycle import Call, Command, Environment, LifeCycle, Returned, Rules
from .library import ACL, GE, Field, Library, Report

FIRST_TICK = 1_000
STEP = 10
"""Ticks that pass whenever the time is asked."""
MAIN = 1


class Process:
    """What a program finds when it calls the graph engine.

    ``enabled``: types of profiling that GlobalProfilingWrapper has switched on; ``acl_is_on``:
    whether calls of ACL are profiled; ``is_on``: whether the graph engine was started. With
    ``to_standard_output`` (GE_PROFILING_TO_STD_OUT) a start switches kGeHost alone, and calls of
    ACL are not reported (ge-profiling 1.8). The clock is a count that goes on whenever it is asked.
    """

    def __init__(
        self,
        environment: Environment | None = None,
        rules: Rules | None = None,
        *,
        to_standard_output: bool = False,
    ) -> None:
        self.library = Library()
        self.enabled: frozenset[str] = frozenset()
        self.acl_is_on = False
        self.is_on = False
        self.thread = MAIN
        self.texts: dict[str, list[tuple[int, int, str, str, str]]] = {"ge": [], "gert": []}
        self._to_standard_output = to_standard_output
        self._life_cycle = LifeCycle(environment, rules)
        self._profiling = self._life_cycle.begin()
        self._now = FIRST_TICK
        self.library.register(ACL, self._acl)
        self.library.register(GE, self._ge)

    def call(self, call: Call) -> Returned:
        """Call a function of ``ge/ge_prof.h``; what follows from it has happened on return."""
        self._profiling, returned = self._life_cycle.respond(self._profiling, call)
        for command in returned.commands:
            self.library.command(command)
        return returned

    def shut_down(self) -> None:
        """GEFinalize, which calls MsprofFinalize: each device is stopped, and the rest written."""
        for device, bits in sorted(self._profiling.collecting.items()):
            self.library.command(Command("STOP", (device,), bits))
        self.library.command(Command("FINALIZE"))

    def kill(self) -> tuple[Report, ...]:
        """The process ends at once; returns the records that are lost."""
        self._switch(frozenset(), acl=False, on=False)
        return self.library.kill()

    def now(self) -> int:
        """MsprofSysCycleTime."""
        self._now += STEP
        return self._now

    @contextmanager
    def in_thread(self, thread: int) -> Iterator[None]:
        """What is called inside is called by another thread."""
        before, self.thread = self.thread, thread
        try:
            yield
        finally:
            self.thread = before

    def is_enabled(self, kind: str) -> bool:
        """Whether a type of profiling is switched on."""
        return kind in self.enabled

    def switches_on(self, component: str) -> bool:
        """Whether one of the types that a component needs is switched on."""
        return not self.enabled.isdisjoint(ge_catalog().components[component].switched_by)

    def report(
        self,
        function: str,
        file: str,
        of: tuple[int, int, str],
        fields: dict[str, Field],
        record: str | None = None,
    ) -> int:
        """Report a record of this thread.

        ``of``: level, type and the name of the type. ``record``: the first of its file if ``None``.
        """
        level, number, name = of
        record = record or raw_catalog().files[file].members[0].record
        made = Report(function, file, record, level, number, name, self.thread, fields)
        return self.library.report(made)

    def _acl(self, command: Command) -> None:
        if command.name == "START":
            bit = ge_catalog().switch_bits["ACL_API"].mask
            self.acl_is_on = bool(command.bits & bit) and not self._to_standard_output
        elif command.name in ("STOP", "FINALIZE"):
            self.acl_is_on = False

    def _ge(self, command: Command) -> None:
        if command.name == "START":
            found = {"kGeHost"} if self._to_standard_output else types_of(command.bits)
            self._switch(self.enabled | found, acl=self.acl_is_on, on=True)
        elif command.name in ("STOP", "FINALIZE"):
            self._switch(frozenset(), acl=self.acl_is_on, on=False)

    def _switch(self, enabled: frozenset[str], *, acl: bool, on: bool) -> None:
        self.enabled, self.acl_is_on, self.is_on = enabled, acl, on


def types_of(bits: int) -> frozenset[str]:
    """Types of profiling that a start with these bits switches on."""
    known = ge_catalog().switch_bits
    return frozenset(
        name
        for name, one in ge_catalog().profiling_types.items()
        if any(bits & known[bit].mask for bit in one.switched_by)
    )
