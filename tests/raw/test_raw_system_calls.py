"""Calls of the operating system, from lines as perf and ltrace print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from raw_trees import WALL_US, write_tree

from ascend_ref.capture import SystemCalls
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.system_calls import is_shown
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN

START = WALL_US * 1000
"""Unix ns at which the collection began."""
OF_KERNEL = [
    "         ? (         ): MSVP_UploaderD/18072  ... [continued]: nanosleep()) = 0",
    "191419454.930 ( 0.002 ms): MSVP_UploaderD/18072 clock_gettime(which_clock: MONOTONIC_RAW, "
    "tp: 0x7f43583b3a50          ) = 0",
    "191419454.934 ( 1.057 ms): MSVP_UploaderD/18072 nanosleep(rqtp: 0x7f43583b3a40         ) = 0",
    "",
    "191419455.995 ( 0.002 ms): ioctl(fd: 3, cmd: 0x5401) = 0",
    "191419455.996 ( 0.001 ms): python/7 getppid(which: 1) = 0",
]
"""The first lines of what upstream's tests call a file (upstream-msprof HostSyscallPresenter)."""
OF_THREADS = [
    "[pid 18145] 1615405971.249133 +++ exited (status 0) >",
    "[pid 19618] 1615843248.065895 libascendcl.so->pthread_once(0x23e49f0) = 0 <0.000012>",
    "[pid 19618] 1615843248.066000 libascendcl.so->pthread_mutex_lock(0x23e49f0, 0) = 0 <0.000430>",
    "[pid 19619] 1615843248.066001 <... pthread_cond_wait resumed> ) = 0 <1.500000>",
]


def read(folder: Path, **files: Sequence[str]) -> RawCapture:
    content = {
        f"{name}.data.slice_0": "".join(f"{one}\n" for one in lines).encode()
        for name, lines in files.items()
    }
    (found,) = read_raw(write_tree(folder / "PROF_1", content, {}))
    return found


def rows(found: RawCapture) -> list[tuple[str, int, int, int]]:
    """Name, thread, ns since the start, and length of each call."""
    calls, texts = found.capture.system_calls, found.capture.texts.all
    names = [texts[name] for name in calls.name.tolist()]
    numbers = (calls.thread, calls.start - START, calls.end - calls.start)
    return list(zip(names, *(one.tolist() for one in numbers), strict=True))


def test_calls_of_the_kernel_count_from_the_first_one(tmp_path: Path) -> None:
    """The first call is the beginning, shown or not; a call without a thread is of the process."""
    found = read(tmp_path, host_syscall=OF_KERNEL)
    pid = found.capture.origin.pid
    assert rows(found) == [("nanosleep", 18072, 4_000, 1_057_000), ("ioctl", pid, 1_065_000, 2_000)]
    assert [one.message for one in found.damage] == [
        f"no line of host_syscall: {OF_KERNEL[0][:57] + '...'!r}"
    ]
    assert found.capture.switches.host_sys == ("osrt",)


def test_calls_of_threads_count_from_the_first_one(tmp_path: Path) -> None:
    found = read(tmp_path, host_pthreadcall=OF_THREADS)
    assert rows(found) == [
        ("pthread_mutex_lock", 19618, 105_000, 430_000),
        ("pthread_cond_wait", 19619, 106_000, 1_500_000_000),
    ]


def test_calls_of_both_files_stand_in_order_of_start(tmp_path: Path) -> None:
    found = read(tmp_path, host_syscall=OF_KERNEL, host_pthreadcall=OF_THREADS)
    assert [one[0] for one in rows(found)] == [
        *("nanosleep", "pthread_mutex_lock", "pthread_cond_wait", "ioctl")
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    # The list of upstream-msprof StrConstant is searched for anywhere in a name.
    [
        ("read", True),
        ("preadv2", True),
        ("pselect6", True),
        ("_sysctl", True),
        ("clock_nanosleep", True),
        ("rt_sigtimedwait", True),
        ("clock_gettime", False),
        ("gettid", False),
        ("stat", False),
        ("getrandom", False),
    ],
)
def test_names_that_exporters_show(name: str, shown: bool) -> None:
    assert is_shown("host_syscall", name) == shown


NINES = "9" * 20
NO_TIME = "host_syscall: 1 of {} samples have times that no clock shows"
NO_NUMBERS = "host_syscall: 1 of {} samples have numbers that they cannot have"


@pytest.mark.parametrize(
    ("lines", "damage"),
    [
        ([f"{NINES}.{NINES} ( 0.002 ms): python/1 read(fd: 1) = 0"], []),
        (["0.0 ( 0.0 ms): x/1 stat(a: 1", f"{NINES}.0 ( 0.0 ms): x/1 read(fd: 1"], [NO_TIME]),
        (["0.0 ( 0.0 ms): x/1 stat(a: 1", f"-{NINES}.0 ( 0.0 ms): x/1 read(fd: 1"], [NO_TIME]),
        (["0.0 ( 0.0 ms): x/1 stat(a: 1", f"0.0 ( {NINES}.0 ms): x/1 read(fd: 1"], [NO_NUMBERS]),
        (["0.0 ( 0.0 ms): x/1 stat(a: 1", f"0.0 ( 0.0 ms): x/{NINES} read(fd: 1"], [NO_NUMBERS]),
        (["0.0 ( -0.001 ms): python/1 read(fd: 1) = 0"], [NO_NUMBERS]),
    ],
)
def test_numbers_that_cannot_be_are_damage(
    tmp_path: Path, lines: list[str], damage: list[str]
) -> None:
    found = read(tmp_path, host_syscall=lines)
    assert [one.message for one in found.damage] == [one.format(1) for one in damage]
    assert len(rows(found)) == 1 - len(damage)


def test_what_is_written_is_what_tracers_print(tmp_path: Path) -> None:
    """To the microsecond, behind a call that readers take for the beginning."""
    capture = simulate(RUN.preset("observed-everything")).capture(0)
    view = raw_view(capture)
    assert not any("system calls" in one for one in view.lost)
    write_raw(tmp_path / "PROF_1", view.capture)
    data = tmp_path / "PROF_1" / "host" / "data"
    first, second = (data / "host_syscall.data.slice_0").read_text().splitlines()[:2]
    assert first.endswith(f" ( 0.000 ms): python/{capture.origin.pid} clock_gettime(fd: 3) = 0")
    names = np.array(capture.texts.all)[capture.system_calls.name]
    call = capture.system_calls.take(np.flatnonzero(names == "read")[:1])
    since = (int(call.start[0]) - capture.origin.start) // 1000
    assert float(second.split()[0]) * 1000 == pytest.approx(float(first.split()[0]) * 1000 + since)
    assert f"python/{int(call.thread[0])} read(" in second
    threads = (data / "host_pthreadcall.data.slice_0").read_text().splitlines()
    assert len(threads) == 1 + int(np.sum(names == "pthread_mutex_lock"))
    assert f" {capture.origin.start / 1e9:.6f} libascendcl.so->pthread_once(" in threads[0]
    before, after = capture.system_calls, view.capture.system_calls
    assert isinstance(after, SystemCalls)
    assert len(before) == len(after)
    assert np.all((before.start - after.start >= 0) & (before.start - after.start < 1000))


def test_calls_that_no_reader_shows_are_stated() -> None:
    capture = simulate(RUN.preset("observed-everything")).capture(0)
    texts = capture.texts.copy()
    calls = replace(capture.system_calls, name=capture.system_calls.name.copy())
    calls.name[:2] = texts.number("two words")
    changed = replace(capture, texts=texts, system_calls=calls)
    assert "2 system calls of names that readers pass over" in raw_view(changed).lost
