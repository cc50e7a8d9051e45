"""Sequences of calls tried on an implementation, none of them twice."""

from __future__ import annotations

from ascend_simulator.ge.life_cycle import Call, Environment
from ascend_spec.ge import Reading

from .implementation import Heard, Implementation, Session

MOST_LATE = 3
"""Late answers after which nothing new is tried: each takes its whole time."""

Calls = tuple[Call, ...]


class Trials:
    """What an implementation answers, by the calls before.

    An implementation whose answers are not the same each time is judged by the first ones.
    """

    def __init__(
        self, implementation: Implementation, environment: Environment, reading: Reading
    ) -> None:
        self._implementation = implementation
        self._environment = environment
        self._reading: Reading = reading
        self._known: dict[Calls, Heard] = {}
        self._ends: dict[Calls, Heard] = {}
        self._session: Session | None = None
        self._made: Calls = ()
        self.started = 0
        self.late = 0

    def can_try(self, calls: Calls) -> bool:
        """Whether the answer to the last of these calls is known, or can be waited for."""
        return calls in self._known or self.late < MOST_LATE

    def answer(self, calls: Calls) -> Heard:
        """The answer to the last of these calls; to none of them, that to start."""
        if calls not in self._known:
            self._known[calls] = self._ask(calls)
        return self._known[calls]

    def end_of(self, calls: Calls) -> Heard:
        """What the implementation does at the end of its input after these calls."""
        if calls not in self._ends:
            session = self._at(calls)
            found = session.finish() if session else Heard("answered")
            self._ends[calls] = found
            self.late += found.how == "late"
            self._session = None
        return self._ends[calls]

    def close(self) -> None:
        """End what runs."""
        if self._session is not None:
            self._session.end()
            self._session = None

    def _ask(self, calls: Calls) -> Heard:
        if not calls:
            self.close()
            session = self._implementation.open()
            self._session, self._made = session, ()
            self.started += 1
            found = session.start(self._environment, self._reading)
        else:
            before = self._at(calls[:-1])
            if before is None:
                return Heard("broken", "it does not answer the same calls in the same way")
            found = before.call(calls[-1])
            self._made = calls
        self.late += found.how == "late"
        if found.how != "answered":
            self.close()
        return found

    def _at(self, calls: Calls) -> Session | None:
        """A session in which these calls were made; ``None`` where one of them has no answer."""
        if self._session is not None and self._made == calls:
            return self._session
        self.close()
        session = self._implementation.open()
        self.started += 1
        heard = session.start(self._environment, self._reading)
        for call in calls:
            if heard.how != "answered":
                break
            heard = session.call(call)
        if heard.how != "answered":
            session.end()
            return None
        self._session, self._made = session, calls
        return session
