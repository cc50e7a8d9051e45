"""A dask.distributed cluster, whose workers see the same files under the same absolute paths."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from distributed import Client
from distributed.client import CancelledError
from distributed.core import connect as connect_to
from distributed.scheduler import KilledWorker

from .executor import Common, Item, Job, NoCluster, Result, WorkerLost

PATIENCE_SECONDS = 10
ADDRESS = re.compile(r"[a-z]+://\S+:\d+")
EXAMPLE = "tcp://127.0.0.1:8786"


@contextmanager
def connect(address: str) -> Iterator[Cluster]:
    """The cluster behind a scheduler's address. Raises :class:`NoCluster`."""
    if not ADDRESS.fullmatch(address):
        raise NoCluster(f"dask: the address is {address!r}; expected one such as {EXAMPLE}")
    try:
        asyncio.run(_shake_hands(address))
    except (OSError, TypeError, ValueError) as error:  # TypeError: tls without certificates
        raise NoCluster(
            f"dask: no scheduler answers at {address!r}; expected the address of a running one, "
            f"such as {EXAMPLE}"
        ) from error
    with Client(address, timeout=PATIENCE_SECONDS, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE_SECONDS)
        except TimeoutError as error:
            raise NoCluster(
                f"dask: the scheduler at {address!r} has no worker; expected at least one"
            ) from error
        yield Cluster(client)


async def _shake_hands(address: str) -> None:
    """Raise ``OSError``, ``TypeError`` or ``ValueError`` where no scheduler is: a Client that never
    came up would hang while it is thrown away.
    """
    async with asyncio.timeout(PATIENCE_SECONDS):
        channel = await connect_to(address)
    await channel.close()


@dataclass(frozen=True, slots=True)
class Cluster:
    """The workers that a client reaches."""

    client: Client

    def map(
        self, function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
    ) -> Generator[Result, None, None]:
        """See :meth:`.Executor.map`. What runs on a worker when the loop ends early, runs on."""
        job = self.client.scatter([Job(function, common)], broadcast=True, hash=False)[0]
        futures = self.client.map(_perform, items, job=job, pure=False)
        try:
            for future in futures:
                yield future.result()
        except (KilledWorker, CancelledError) as error:
            raise WorkerLost("a dask worker was lost while it worked on an item") from error
        finally:
            self.client.cancel(futures)


def _perform(item: Item, job: Job[Common, Item, Result]) -> Result:
    return job(item)
