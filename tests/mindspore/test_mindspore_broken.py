"""Raw files with whatever in them: what cannot be read is stated, and nothing fails."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_captures import (
    aicpu_records,
    aicpu_text,
    fetches,
    gpu_operators,
    gpu_steps,
    hccl_traces,
    pipeline,
)
from slices import some
from step_captures import made_steps

from ascend_ref.mindspore.parse.parse import parse
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

DAYS = ["2020-06-20", "2020-12-20", "2021-09-01", "2021-12-16", "2022-01-01", "2023-07-02"]


def write_all(folder: Path, seed: int, day: str) -> None:
    """A file of each kind of a device and of a GPU."""
    made_steps(seed, day).write(folder)
    data = folder / "data"
    aicpu = aicpu_records(seed) if seed % 2 else aicpu_text(seed, bool(seed % 3))
    (data / "DATA_PREPROCESS.AICPU.0.slice_0").write_bytes(aicpu)
    (data / "DATA_PREPROCESS.AICPUMI.0.slice_0").write_bytes(fetches(seed))
    (folder / "pipeline_profiling_0.json").write_bytes(pipeline(seed))
    gpu = gpu_operators(seed) if seed % 2 else gpu_steps(seed)
    (folder / "step_trace_profiling_0.txt").write_bytes(gpu)
    (folder / "device_queue_profiling_0.txt").write_bytes(b"0 0 1 10\n1 64 1 0\n")
    for name, content in hccl_traces(seed)[0].items():
        path = folder / "hccl_info_0" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def broken(content: bytes, random: Random) -> bytes:
    """Content with some of it lost, doubled or other."""
    place, end = sorted(random.randrange(len(content) + 1) for _ in range(2))
    middle = random.choice(
        [b"", content[place:end] * 2, random.randbytes(9), b"\xff" * 40, b"-1", b"1e999", b"null"]
    )
    return content[:place] + middle + content[end:] * random.choice([0, 1, 1])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), day=st.sampled_from([*DAYS, None]))
def test_m52_broken_files_never_fail(
    tmp_path_factory: pytest.TempPathFactory, seed: int, day: str | None
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    random = Random(seed)
    write_all(folder / "raw", seed, day or "2021-12-16")
    for path in sorted(one for one in (folder / "raw").rglob("*") if one.is_file()):
        if random.random() < 0.6:
            path.write_bytes(broken(path.read_bytes(), random))
    done = parse(folder / "raw", folder / "out", day)
    assert all("\n" not in line for one in done for line in one.damage)
    shutil.rmtree(folder)


@pytest.mark.parametrize("day", DAYS)
def test_m52_empty_files_are_no_damage_of_others(tmp_path: Path, day: str) -> None:
    write_all(tmp_path / "raw", 3, day)
    for path in (tmp_path / "raw").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    (done,) = parse(tmp_path / "raw", tmp_path / "out", day)
    assert all(not path.name.startswith("step_trace_raw") for path in done.files)


@pytest.mark.parametrize("day", DAYS)
def test_m52_files_that_cannot_be_opened_are_stated(tmp_path: Path, day: str) -> None:
    write_all(tmp_path / "raw", 2, day)
    (tmp_path / "raw" / "pipeline_profiling_0.json").unlink()
    (tmp_path / "raw" / "pipeline_profiling_0.json").symlink_to("nowhere")
    (done,) = parse(tmp_path / "raw", tmp_path / "out", day)
    assert all(not path.name.startswith("minddata_pipeline") for path in done.files)


def simulated(folder: Path, form: str, day: str) -> Path:
    """The folder of a rank of a job with every kind of file of its day."""
    scenario = override(preset("cnn-910a"), ranks=2, steps=2, level=None)
    return write_run(scenario, 0, folder, [form], generation=day).profiles[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("form", "day"),
    some(
        [
            ("mindspore-raw", "2021-12-16"),
            ("mindspore-raw", "2023-10-15"),
            ("mindspore-raw", "2024-05-01"),
            ("mindspore-raw", "2020-07-01"),
            ("mindspore-gpu", "2021-12-16"),
        ],
        every=4,
    ),
)
def test_m52_each_file_of_a_job_may_end_early_or_be_empty(
    tmp_path: Path, form: str, day: str
) -> None:
    job = simulated(tmp_path / "run", form, day)
    for path in sorted(one for one in job.rglob("*") if one.is_file()):
        whole = path.read_bytes()
        for rest in {b"", whole[: len(whole) // 2]}:
            path.write_bytes(rest)
            done = parse(job, tmp_path / "out", day)
            assert all("\n" not in line for one in done for line in one.damage)
            shutil.rmtree(tmp_path / "out")
        path.write_bytes(whole)
