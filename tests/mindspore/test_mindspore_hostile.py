"""Raw files of the operator chain with damage of any kind: M52."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from mindspore_captures import record, write_capture
from mindspore_real import parsed
from slices import some

from ascend_spec.raw.records import MAGIC

DAYS = [
    "2020-06-15",
    "2020-06-20",
    "2020-10-30",
    "2021-12-16",
    "2021-12-20",
    "2022-05-03",
    "2022-07-01",
    "2022-10-01",
    "2023-03-03",
    "2023-07-02",
]
PIECES = [b"\n", b"\r", b" ", b":", b'"', b"9" * 20, b"-1", "é\u2028".encode(), b"\xff", b"\0" * 9]


def damaged(draw: random.Random, content: bytes) -> bytes:
    """Bytes some of which are changed, lost or added."""
    changed = bytearray(content)
    for _ in range(draw.choice([0, 1, 3, 20])):
        place = draw.randrange(len(changed) + 1)
        length = draw.randrange(100)
        match draw.randrange(4):
            case 0:
                changed[place : place + 1] = draw.randbytes(1)
            case 1:
                del changed[place : place + length]
            case 2:
                changed[place:place] = draw.randbytes(length)
            case _:
                changed[place:place] = draw.choice(PIECES)
    return bytes(changed)


@pytest.mark.parametrize("day", some(DAYS, every=3))
@pytest.mark.parametrize("seed", some(range(24), every=4))
def test_m52_damage_of_any_kind_is_stated(tmp_path: Path, day: str, seed: int) -> None:
    """The parsers say what they cannot read, and go on."""
    draw = random.Random(f"{day} {seed}")
    job = tmp_path / "JOB"
    write_capture(job, seed, day, back_end=draw.choice(["vm", "ge"]))
    for path in sorted((job / "data").iterdir()):
        path.write_bytes(damaged(draw, path.read_bytes()))
        if draw.random() < 0.05:
            path.unlink()
        elif draw.random() < 0.05:
            path.rename(path.with_name(f"{path.name[:-1]}{draw.randrange(50)}"))
    code = parsed(job, tmp_path / "out", day)
    assert code == (tmp_path / "out/incomplete.txt").exists()


@pytest.mark.parametrize("name", [b"a b", b"a\nb", b"", "a\u00a0b".encode()])
def test_m52_a_name_that_is_no_word(tmp_path: Path, name: bytes) -> None:
    """It is written as one, so that the rows of text keep their columns."""
    day = "2023-07-02"
    job = tmp_path / "JOB"
    write_capture(job, 1, day)
    for path in (job / "data").glob("Framework.task_desc_info.*"):
        path.unlink()
    text = {"opName": {"kind": 1, "content": name}, "opType": {"kind": 1, "content": b"A"}}
    tasks = [
        record("TASK_DESC_INFO", {"magicNumber": MAGIC, "streamId": at, "taskId": task, **text})
        for at in range(5)
        for task in range(31)
    ]
    (job / "data/Framework.task_desc_info.0.slice_0").write_bytes(b"".join(tasks))
    assert parsed(job, tmp_path / "out", day) == 1
    rows = (tmp_path / "out/output_op_compute_time_0.txt").read_text().splitlines()[3:-1]
    assert len(rows) == 1
    assert len(rows[0].split()) == 4
    assert "a name that is no word" in (tmp_path / "out/incomplete.txt").read_text()
