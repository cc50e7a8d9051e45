"""Where work on many independent items runs: in this process, in local processes, on a cluster.

``map`` of every executor calls one function with each item and yields the results in the order of
the items, so that what is made of them does not depend on the choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .executor import Executor as Executor
from .executor import InProcess as InProcess
from .executor import NoCluster as NoCluster
from .executor import WorkerFailed as WorkerFailed
from .executor import WorkerLost as WorkerLost
from .processes import Processes as Processes


@contextmanager
def open_executor(workers: int = 1, dask: str | None = None) -> Iterator[Executor]:
    """An executor for the choices of a command line.

    ``dask`` is the address of a scheduler (``tcp://host:8786``) and takes precedence over
    ``workers``, the number of local processes; 1 stands for this process. Raises
    :class:`NoCluster` where the extra is not installed, or no worker is at the address.
    """
    if dask is not None:
        try:
            from .cluster import connect
        except ModuleNotFoundError as error:
            raise NoCluster(
                f"dask: {error.name} is not installed; expected the extra: "
                "pip install 'ascend-ref[dask]'"
            ) from error
        with connect(dask) as cluster:
            yield cluster
    elif workers > 1:
        yield Processes(workers)
    else:
        yield InProcess()
