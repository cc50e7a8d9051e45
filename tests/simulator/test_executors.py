"""Wherever work runs, its results come in order, and its end is prompt and clean."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import executor_jobs
import pytest

from ascend_ref.execution import (
    Executor,
    InProcess,
    NoCluster,
    Processes,
    WorkerFailed,
    WorkerLost,
    cluster,
    open_executor,
)

FOLDER = Path(__file__).parent
PATIENCE_SECONDS = 30


@pytest.fixture(scope="module")
def dask_address() -> Iterator[str]:
    """A cluster of two worker processes on this machine, started from the command line."""
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), "DASK_LOGGING__DISTRIBUTED": "critical"}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    script = (
        "import sys, time\n"
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    host, port = sys.argv[1].removeprefix('tcp://').split(':')\n"
        "    with LocalCluster(n_workers=2, threads_per_worker=1, host=host,\n"
        "                      scheduler_port=int(port), dashboard_address=None):\n"
        "        sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, address],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    with process:
        yield address
        process.communicate()


@pytest.fixture(params=["in-process", "processes", "dask"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "dask":
        with open_executor(dask=request.getfixturevalue("dask_address")) as found:
            yield found
    else:
        with open_executor(2 if request.param == "processes" else 1) as found:
            yield found


def test_results_come_in_the_order_of_the_items(executor: Executor) -> None:
    assert list(executor.map(executor_jobs.multiply, 3, range(10))) == list(range(0, 30, 3))


def test_no_items_are_no_results(executor: Executor) -> None:
    assert list(executor.map(executor_jobs.multiply, 3, [])) == []


def test_an_exception_arrives_as_it_is_after_the_results_before_it(executor: Executor) -> None:
    results = executor.map(executor_jobs.refuse, 0, range(4))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match=r"^item is 2; expected another$"):
        next(results)


def test_an_exception_that_pickle_cannot_carry_arrives_as_text() -> None:
    with pytest.raises(WorkerFailed, match=r"^Stubborn: item 0$"):
        list(Processes(2).map(executor_jobs.refuse_stubbornly, 0, range(4)))


def test_a_worker_that_dies_is_an_error() -> None:
    with pytest.raises(WorkerLost, match=r"^a worker process ended without an answer"):
        list(Processes(2).map(executor_jobs.die, 0, range(4)))


def test_a_dask_worker_that_dies_is_an_error(dask_address: str) -> None:
    with (
        open_executor(dask=dask_address) as executor,
        pytest.raises(WorkerLost, match=r"^a dask worker was lost"),
    ):
        list(executor.map(executor_jobs.die, 0, [0]))


@pytest.mark.exhaustive
def test_processes_have_ended_when_the_loop_ends_early(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        closing(Processes(2).map(fail_beside_others, tmp_path, range(4))) as running,
    ):
        next(running)
    assert not any(alive(process) for process in workers_in(tmp_path))


def fail_beside_others(folder: Path, item: int) -> int:
    if item:
        return executor_jobs.linger(folder, item)
    wait_until(lambda: bool(workers_in(folder)))
    raise ZeroDivisionError


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill"])
def test_processes_end_with_their_parent(sign: signal.Signals, tmp_path: Path) -> None:
    """As in a terminal, where Ctrl-C reaches all processes, and when only the parent dies."""
    parent = subprocess.Popen(
        [sys.executable, executor_jobs.__file__, str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: len(workers_in(tmp_path)) == 2)
    started = time.monotonic()
    if sign is signal.SIGINT:
        os.killpg(parent.pid, sign)
    else:
        parent.send_signal(sign)
    _, errors = parent.communicate(timeout=PATIENCE_SECONDS)
    wait_until(lambda: not any(alive(process) for process in workers_in(tmp_path)))
    assert time.monotonic() - started < 5
    assert errors.count("Traceback") == (sign is signal.SIGINT)  # the parent's own, no worker's


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(NoCluster, match=r"^dask: the address is 'nowhere'; expected one such as"):
        enter(dask="nowhere")


def test_an_address_that_nobody_answers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 0.5)
    with pytest.raises(NoCluster, match=r"^dask: no scheduler answers at 'tcp://127.0.0.1:1'"):
        enter(dask="tcp://127.0.0.1:1")


def test_an_address_where_something_else_listens_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(NoCluster, match=r"^dask: no scheduler answers"):
            enter(dask=address)


def test_without_the_extra_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "ascend_ref.execution.cluster")
    with pytest.raises(NoCluster, match=r"expected the extra: pip install 'ascend-ref\[dask\]'$"):
        enter(dask="tcp://127.0.0.1:8786")


def test_one_worker_is_this_process() -> None:
    with open_executor(1) as executor:
        assert executor == InProcess()


@pytest.mark.exhaustive
def test_executors_import_nothing_heavy() -> None:
    script = (
        "import sys, ascend_ref.execution\n"
        "heavy = {'numpy', 'pyarrow', 'distributed', 'dask', 'click', 'yaml', 'multiprocessing'}\n"
        "sys.exit(', '.join(heavy & sys.modules.keys()) or 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def enter(dask: str) -> None:
    with open_executor(dask=dask):
        pass


def workers_in(folder: Path) -> list[int]:
    """The processes that left a sign."""
    return [int(sign.name.partition("-")[2]) for sign in folder.iterdir()]


def alive(process: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet is dead."""
    with suppress(OSError):
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
        return status.rpartition(")")[2].split()[0] not in "ZX"
    return False


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
