"""Files that are absent or damaged are counted, and what is left is answered: M73."""

from __future__ import annotations

from pathlib import Path

from rest_files import running, write_exported, write_ranks

from ascend_spec.mindspore.requests import PREFIX

SEED = 5
"""Of ranks in a pipeline."""


def test_m73_damaged_exports_are_counted(tmp_path: Path) -> None:
    write_exported(tmp_path / "job/profiler")
    for path in (tmp_path / "job/profiler").rglob("msprof_*"):
        path.write_bytes(b"[" * 100_000)
    path = f"{PREFIX}profile/msprof_timeline?dir=job&rank_list=1,7"
    with running(tmp_path) as client:
        status, events, headers = client.send("GET", path)
        assert (status, {one["pid"] for one in events}) == (200, {11})
        assert int(headers["x-damage"]) > 1


def test_m73_without_the_file_of_memory_there_is_no_answer(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job/profiler", SEED)
    names = ("memory-summary", "memory-graphics", "memory-breakdowns")
    with running(tmp_path) as client:
        for text in (b"[", b"[3]", b"\xff", b'{"a": NaN}', b'{"a":' * 20_000):
            for path in (tmp_path / "job/profiler").glob("memory_*_0.json"):
                path.write_bytes(text)
            for name in names[:2]:
                assert client.code(name, dir="job") == (400, "50546085")
        for path in (tmp_path / "job/profiler").glob("memory_*_0.json"):
            path.unlink()
        for name in names:
            assert client.code(name, dir="job") == (400, "50546084")


def test_m73_a_rank_without_details_of_memory_is_counted(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job/profiler", SEED)
    (tmp_path / "job/profiler/memory_usage_details_1.json").unlink()
    with running(tmp_path) as client:
        url = "/v1/mindinsight/profile/marey-graph/memory-data?train_id=job&device_type=ascend"
        status, answer, headers = client.send("GET", url)
        assert (status, answer["device1"]["details"], headers["x-damage"]) == (200, {}, "1")
        assert answer["device0"]["details"]
