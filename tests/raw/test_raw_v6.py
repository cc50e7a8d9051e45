"""Tasks of the chips 15 and 16, whose log has no streams: tracks of the host have them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from plain_capture import plain
from raw_trees import api, device_ticks, host_ticks, task_track, write_tree

from ascend_ref.raw.decode.read import read_raw

THREAD = 7
LATE = 70_000
"""A number beyond 16 bits."""


def log(kind: int, number: int, task: int, ticks: int) -> bytes:
    """32 bytes: a word, the magic number, the task, the counter."""
    return struct.pack("<HHIQ16x", kind | (number % 16) << 6, 0x6BD3, task, ticks)


def test_tasks_have_the_stream_of_their_launch(tmp_path: Path) -> None:
    tracks = [
        task_track(THREAD, host_ticks(10_030 + 100 * at), stream, number & 0xFFFF, 0, 0)
        for at, (stream, number) in enumerate([(2, 5), (9, LATE)])
    ]
    # The upper half of the number stands where older chips have the batch.
    tracks[1] = tracks[1][:30] + struct.pack("<H", LATE >> 16) + tracks[1][32:]
    calls = [
        api(10000, 5, THREAD, host_ticks(10_000 + 100 * at), host_ticks(10_060 + 100 * at))
        for at in range(2)
    ]
    logs = [
        log(kind, number, task, device_ticks(moment))
        for number, (kind, task, moment) in enumerate(
            [(0, 5, 10_070), (1, 5, 10_080), (0, LATE, 10_170), (1, LATE, 10_190)]
        )
    ]
    prof = write_tree(
        tmp_path / "PROF_1",
        {
            "unaging.compact.task_track.slice_0": b"".join(tracks),
            "unaging.api_event.data.slice_0": b"".join(calls),
            "unaging.additional.type_info_dic.slice_0": b"5000_0:KERNEL_AICORE\n10000_5:launch\n",
        },
        {"stars_soc.data.0.slice_0": b"".join(logs)},
    )
    for path in (prof / "host" / "info.json", prof / "device_0" / "info.json.0"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "platform_version": "15"}))
    (found,) = read_raw(prof)
    assert found.damage == []
    tasks = sorted(plain(found.capture)["tasks"])
    assert [(row[3], row[4], row[1] - row[0], row[-1]) for row in tasks] == [
        (2, 5, 10_000, "KERNEL_AICORE"),
        (9, LATE, 20_000, "KERNEL_AICORE"),
    ]
    assert all(isinstance(row[7], tuple) for row in tasks)
