"""What raw records of the host hold that only timelines show, at offsets of the document."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path

import pytest

from ascend_ref.capture import Capture
from ascend_ref.raw.encode.write import write_raw
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN

REAL = Path(__file__).resolve().parents[3] / "shared/data"
ALL_ONES = 0xFFFFFFFF
HOST_COMMUNICATION = 7
ACL, KINDS = 20000, {1: "ACL_OP", 3: "ACL_RTS", 5: "ACL_NN", HOST_COMMUNICATION: "HOST_HCCL"}


@pytest.fixture(scope="module")
def capture() -> Capture:
    return simulate(RUN.preset("cnn-910a")).capture(0)


@pytest.fixture(scope="module")
def host(capture: Capture, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw") / "PROF_1"
    write_raw(folder, capture)
    return folder / "host" / "data"


def records(host: Path, kind: str, size: int) -> list[bytes]:
    content = b"".join(path.read_bytes() for path in sorted(host.glob(f"*{kind}*.slice_?")))
    assert len(content) % size == 0
    return [content[at : at + size] for at in range(0, len(content), size)]


def texts(host: Path) -> dict[int, str]:
    lines = b"".join(path.read_bytes() for path in host.glob("*hash_dic*.slice_?")).decode()
    return {int(number): text for number, text in (one.split(":", 1) for one in lines.split())}


def test_tasks_of_communication_without_data_have_no_types(host: Path) -> None:
    """raw-prof 4.5: estimate @88, size @112, types of data, link, transport and RDMA @124."""
    names, seen = texts(host), Counter[str]()
    for one in records(host, "hccl_info", 256):
        kind = names[struct.unpack_from("<Q", one, 24)[0]]
        (estimate,), (size,) = struct.unpack_from("<d", one, 88), struct.unpack_from("<Q", one, 112)
        data, link, _, rdma = struct.unpack_from("<4I", one, 124)
        seen[kind] += 1
        assert rdma == ALL_ONES
        if kind.startswith("Notify"):
            assert data == ALL_ONES
            # Some records go over a link.
            assert link == ALL_ONES or (kind == "Notify_Record" and link < 255)
            assert estimate == {"Notify_Record": 1.0, "Notify_Wait": 0.02}[kind]
        else:
            constant = {"Memcpy": 1.5, "Reduce_Inline": 0.6}[kind]
            assert estimate == pytest.approx(constant + size / 19_300)
            assert link < 255
    assert set(seen) == {"Notify_Record", "Notify_Wait", "Memcpy", "Reduce_Inline"}


def test_calls_of_acl_have_the_class_that_real_timelines_show(host: Path) -> None:
    """raw-prof 4.0: the class is the upper half of the type; item of communication alone."""
    names, numbers = texts(host), {}
    lines = b"".join(path.read_bytes() for path in host.glob("*type_info_dic*.slice_?")).decode()
    for line in lines.splitlines():
        level, _, rest = line.partition("_")
        if int(level) == ACL:
            number, _, name = rest.partition(":")
            numbers[int(number)] = name
    timeline = REAL / "text/pytorch_level1_rank0/ASCEND_PROFILER_OUTPUT/trace_view.json"
    if not timeline.exists():
        pytest.skip("there are no real profiles in ../shared/data")
    shown = [one.get("args", {}) for one in json.loads(timeline.read_bytes())]
    modes = {one["id"]: one["Mode"] for one in shown if one.get("level") == "acl"}
    compared = Counter[str]()
    for one in records(host, "api_event", 40):
        level, kind = struct.unpack_from("<HI", one, 2)[0], struct.unpack_from("<I", one, 4)[0]
        if level != ACL:
            continue
        name, (item,) = numbers[kind], struct.unpack_from("<Q", one, 32)
        assert names.get(item, "0") == (name if kind >> 16 == HOST_COMMUNICATION else "0")
        if name in modes:
            compared[modes[name]] += 1
            assert KINDS[kind >> 16] == modes[name]
    assert compared.keys() >= {"ACL_OP", "ACL_RTS", "HOST_HCCL"}
