"""Every raw file of simulated jobs is taken apart and written again as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from slices import some

from ascend_ref.mindspore.raw.messages import decode_message, encode_message
from ascend_ref.mindspore.raw.records import decode_records, encode_records, layout_of
from ascend_ref.raw.json_text import decode_json, encode_json
from ascend_ref.raw.lines import decode_lines, encode_lines
from ascend_simulator.choices import (
    HardwareChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
    Switches,
)
from ascend_simulator.run import write_run
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import CaptureFile
from ascend_spec.mindspore.messages import MEMORY

RUN = Scenario(
    name="ranks",
    hardware=HardwareChoice(product="910A"),
    model=ModelChoice(kind="cnn", image=64, channels=8, batch=2, preprocess="device"),
    parallelism=Parallelism(ranks=2),
    schedule=Schedule(active=2),
    capture=Switches(memory=True),
)
DAYS = ["2020-06-10", "2020-07-05", "2021-06-20", "2021-12-16", "2021-12-25", "2023-07-02"]
NOT_WRITTEN = {
    "tdt": "no parser reads it, and no real one is at hand",
    "device_start": "no parser of a job reads it",
    "dataset_iterator": "of a pipeline without a queue to a device",
}
"""Kinds that no simulated job has, and why."""


def again(kind: CaptureFile, day: str, content: bytes) -> bytes:
    """The content of a file, read and written."""
    if kind.form == "json":
        return encode_json(*decode_json(content))
    if kind.form == "messages":
        return encode_message(decode_message(content, MEMORY), MEMORY)
    if kind.members_on(day):
        return encode_records(decode_records(content, layout_of(kind.file, day)))
    grammar = mindspore_catalog().grammars[kind.grammar or kind.file]
    return encode_lines(decode_lines(content, grammar), grammar)


@pytest.mark.parametrize("day", some(DAYS, every=3))
def test_m22_every_file_of_a_job_is_written_as_it_was(day: str, tmp_path: Path) -> None:
    catalog = mindspore_catalog()
    forms = ["mindspore-raw", *(["mindspore-gpu"] if day >= "2020-11-11" else [])]
    run = write_run(RUN, 3, tmp_path / "run", forms, generation=day).folder
    seen = set()
    for path in run.rglob("*"):
        found = catalog.file_of(path.name) if path.is_file() else None
        if found is not None:
            content = path.read_bytes()
            assert again(found[0], day, content) == content, path
            seen.add(found[0].file)
    kinds = {
        kind.file
        for kind in catalog.files.values()
        if kind.places != ("framework",)
        and (kind.since or "") <= day < (kind.until or "9")
        and kind.file not in NOT_WRITTEN
        and (kind.target != "gpu" or len(forms) > 1)
    }
    assert kinds - seen == set()
