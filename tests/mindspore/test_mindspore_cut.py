"""A capture cut to a time has the records of that time, and nothing is lost between two: M6."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mindspore_captures import write_capture
from mindspore_real import parsed, real

from ascend_simulator.mindspore.life_cycle import cut_capture

ALWAYS = 1 << 62
DAYS = ["2020-06-15", "2021-12-16", "2022-05-03", "2023-07-02"]
DEVICE = ("hwts", "training_trace", "ts_track", "DATA_PREPROCESS")


def of_device(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: one for name, one in files.items() if Path(name).name.startswith(DEVICE)}


def joined(folder: Path) -> dict[str, bytes]:
    """The files of the device, all slices of each as one, by the name of the first."""
    return of_device(cut_capture(folder, 0, ALWAYS))


@pytest.mark.parametrize("day", DAYS)
def test_m6_two_parts_of_a_capture_are_the_whole(day: str, tmp_path: Path) -> None:
    job = tmp_path / "JOB"
    write_capture(job, 3, day)
    log = joined(job)[_log(job)]
    times = np.frombuffer(log, "<u8").reshape(-1, 8)[:, 1]
    kinds = np.frombuffer(log, "u1").reshape(-1, 64)[:, 0] & 7
    middle = int(np.median(times[kinds < 3]))
    parts = [cut_capture(job, *one) for one in ((0, middle), (middle, ALWAYS))]
    name = next(one for one in parts[0] if "hwts" in one)
    assert len(parts[0][name]) + len(parts[1][name]) == len(log)
    early = np.frombuffer(parts[0][name], "<u8").reshape(-1, 8)
    has_later = early[:, 0] & 7 == 4  # records whose time stands at another place
    assert {*has_later.tolist()} == {True, False}
    assert (np.where(has_later, early[:, 3], early[:, 1]) < middle).all()
    for part in parts:
        assert {one for one in part if "Framework" in one}
    assert sorted(_records(parts[0][name] + parts[1][name])) == sorted(_records(log))


def _log(job: Path) -> str:
    return next(one for one in joined(job) if "hwts" in one)


def _records(content: bytes) -> list[bytes]:
    return [content[place : place + 64] for place in range(0, len(content), 64)]


@pytest.mark.parametrize("job", ["JOB1", "JOB3"])
def test_m6_the_whole_of_a_real_capture_is_parsed_as_before(job: str, tmp_path: Path) -> None:
    source = real(f"mindinsight/{job}")
    for name, content in cut_capture(source, 0, ALWAYS).items():
        path = tmp_path / "cut" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    codes = {parsed(source, tmp_path / "whole"), parsed(tmp_path / "cut", tmp_path / "again")}
    assert len(codes) == 1
    names = [{one.name for one in (tmp_path / of).iterdir()} for of in ("whole", "again")]
    assert names[0] == names[1]
    for name in names[0] - {"incomplete.txt"}:
        again = (tmp_path / "again" / name).read_bytes()
        assert again == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize("form", ["mindinsight", "mindspore"])
def test_m6_ai_cpus_of_real_captures_are_cut(form: str) -> None:
    """Text of one, records of the other."""
    source = real(f"{form}/JOB_AICPU")
    (whole,) = joined(source).values()
    (path,) = (source / "data").glob("DATA_PREPROCESS*0")
    assert whole == path.read_bytes()
    assert of_device(cut_capture(source, 0, 1)) == {}
