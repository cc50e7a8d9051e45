"""Raw files of steps, AI CPUs, the data pipeline and communication are written as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mindspore_real import real
from other_captures import (
    aicpu_records,
    aicpu_text,
    fetches,
    gpu_operators,
    gpu_steps,
    hccl_traces,
    pipeline,
)
from step_captures import made_steps

from ascend_ref.mindspore.raw.records import decode_records, encode_records, layout_of
from ascend_ref.raw.json_text import decode_json, encode_json
from ascend_ref.raw.lines import decode_lines, encode_lines
from ascend_spec import mindspore_catalog

TAG = "profiler_default_tag.0.slice_0"
RECORDS = {
    "training_trace": "2020-06-20",
    "ts_track": "2021-12-16",
    "aicpu": "2023-07-02",
}
TEXTS = {
    "aicpu": [lambda seed: aicpu_text(seed, False), lambda seed: aicpu_text(seed, True)],
    "minddata_aicpu": [fetches],
    "gpu_step_trace": [gpu_operators, gpu_steps],
}


def records_again(kind: str, content: bytes) -> bytes:
    return encode_records(decode_records(content, layout_of(kind, RECORDS[kind])))


def lines_again(kind: str, content: bytes) -> bytes:
    catalog = mindspore_catalog()
    grammar = catalog.grammars[catalog.files[kind].grammar or kind]
    return encode_lines(decode_lines(content, grammar), grammar)


def kinds_of_lines(kind: str, content: bytes) -> Iterator[str | None]:
    catalog = mindspore_catalog()
    grammar = catalog.grammars[catalog.files[kind].grammar or kind]
    return (one.line for one in decode_lines(content, grammar))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("training_trace", f"mindinsight/JOB1/training_trace.46.dev.{TAG}"),
        ("aicpu", "mindspore/JOB_AICPU/data/DATA_PREPROCESS.AICPU.0.slice_0"),
    ],
)
def test_m22_m29_real_records_are_written_as_they_were(kind: str, path: str) -> None:
    content = real(path).read_bytes()
    file = decode_records(content, layout_of(kind, RECORDS[kind]))
    assert encode_records(file) == content
    assert (len(file.others[0]), file.rest) == (0, b"")


def test_m22_real_text_of_ai_cpus_is_written_as_it_was() -> None:
    content = real("mindinsight/JOB_AICPU/data/DATA_PREPROCESS.dev.AICPU.0.slice_0").read_bytes()
    assert lines_again("aicpu", content) == content
    found = list(kinds_of_lines("aicpu", content))
    assert found == ["kernel", "thread", "kernel", "thread", "other_kernel", "thread"]


def test_m49_the_real_pipeline_is_written_as_it_was() -> None:
    content = real("mindinsight/JOB2/pipeline_profiling_0.json").read_bytes()
    assert encode_json(*decode_json(content)) == content


@given(st.integers(0, 10**6), st.sampled_from(["2020-06-20", "2021-12-16", "2023-07-02"]))
def test_m29_points_are_written_as_they_were(seed: int, day: str) -> None:
    capture = made_steps(seed, day)
    kind = "ts_track" if capture.is_track else "training_trace"
    for content in capture.contents:
        assert records_again(kind, content) == content


@given(st.integers(0, 10**6))
def test_m22_m37_text_and_records_are_written_as_they_were(seed: int) -> None:
    content = aicpu_records(seed)
    assert records_again("aicpu", content) == content
    for kind, makers in TEXTS.items():
        for make in makers:
            text = make(seed)
            assert lines_again(kind, text) == text
            assert None not in set(kinds_of_lines(kind, text))


@given(st.integers(0, 10**6))
def test_m49_documents_are_written_as_they_were(seed: int) -> None:
    for content in (pipeline(seed), *hccl_traces(seed)[0].values()):
        assert encode_json(*decode_json(content)) == content


@given(st.sampled_from(list(RECORDS)), st.binary(max_size=400))
def test_m52_whatever_bytes_are_written_as_they_were(kind: str, content: bytes) -> None:
    assert records_again(kind, content) == content


@given(st.sampled_from(list(TEXTS)), st.binary(max_size=200))
def test_m52_whatever_text_is_written_as_it_was(kind: str, content: bytes) -> None:
    assert lines_again(kind, content) == content


@given(st.lists(st.sampled_from([b"\0", b"\n\0", b"\n", b"Thread[ 1]", b"\xff"]), max_size=9))
def test_m52_ends_of_texts_are_written_as_they_were(pieces: list[bytes]) -> None:
    content = b"".join(pieces)
    assert lines_again("aicpu", content) == content


def test_m29_padding_of_records_is_kept() -> None:
    content = bytes(range(200)) * 2
    file = decode_records(content, layout_of("ts_track", "2023-07-02"))
    places, rows = file.records["TS_TRACK"]
    assert encode_records(file) == content
    assert np.array_equal(places, np.arange(10))
    assert rows["bufSize"][0] == 0x0302


def test_m67_the_queues_of_a_run_are_written_as_they_were() -> None:
    content = b"0 0 1 10\n1 64 1 0 1632000000000\n"
    assert lines_again("device_queue", content) == content
    path = Path("GetNext 1 2 3\n")
    assert lines_again("gpu_getnext", str(path).encode()) == str(path).encode()
