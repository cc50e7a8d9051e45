"""What an executor is, the plainest one, and how a function fails in another process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from ascend_spec import Spec

Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")


class NoCluster(Exception):
    """The dask cluster cannot be used; the text is one clear line."""


class WorkerLost(Exception):
    """A worker ended without an answer; the text is one clear line."""


class WorkerFailed(Exception):
    """A worker's error of a kind that cannot travel between processes, as text."""


class Executor(Protocol):
    """Runs a function on many items."""

    def map(
        self, function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
    ) -> Generator[Result, None, None]:
        """``function(common, item)`` for each item, in their order.

        Other processes receive ``common`` once and each item for itself; both, the function (by
        its name) and the results are pickled. An item may be worked on a second time, where a
        worker was lost. An exception of the function is raised here as it is, and
        :class:`WorkerLost` where a worker died for good. Closing the generator, or Ctrl-C, ends
        the work: close it with ``contextlib.closing`` where the loop over it may end early.
        """


@dataclass(frozen=True, slots=True)
class InProcess:
    """One item after the other, here."""

    def map(
        self, function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
    ) -> Generator[Result, None, None]:
        """See :meth:`Executor.map`."""
        for item in items:
            yield function(common, item)


def _spec_in_use() -> Spec:
    from ascend_spec import current

    return current()


@dataclass(frozen=True, slots=True)
class Job(Generic[Common, Item, Result]):
    """A function with what it has in common for all items, the spec in use among it."""

    function: Callable[[Common, Item], Result]
    common: Common
    spec: Spec = field(default_factory=_spec_in_use)

    def __call__(self, item: Item) -> Result:
        """The result; an exception that pickle cannot carry becomes :class:`WorkerFailed`."""
        from ascend_spec import using

        try:
            with using(self.spec):
                return self.function(self.common, item)
        except Exception as error:
            if _travels(error):
                raise
            raise WorkerFailed(f"{type(error).__name__}: {error}") from None


def _travels(error: Exception) -> bool:
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)  # noqa: S301 - our own bytes
    except Exception:
        return False
