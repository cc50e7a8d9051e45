"""Mutated record files: findings with their places, and never a traceback."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from slices import marked

from ascend_conformance.media.raw.judge import judge_raw
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

HUGE = [(2**one).to_bytes(8, "little") for one in (31, 32, 62)] + [
    (2**63).to_bytes(8, "little"),
    b"\xff" * 8,
    bytes(8),
]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture with records of every kind that simulated graphs have."""
    scenario = override(preset("text-museum"), ranks=2, steps=1)
    run = write_run(scenario, 3, tmp_path_factory.mktemp("raw") / "run", ("raw",)).folder
    found = sorted(run.rglob("PROF_*"))[0]
    small = tmp_path_factory.mktemp("small") / found.name
    shutil.copytree(found, small)
    for path in (small / "host/data").iterdir():
        content = path.read_bytes()
        if "_dic" not in path.name:
            # A few records of each are enough: the reader sees the same fields.
            size = 40 if "api_event" in path.name else 64 if ".compact." in path.name else 256
            path.write_bytes(content[: 24 * size])
    return small


def mutate(path: Path, rng: random.Random) -> None:
    """Change a file somewhere in one of seven ways."""
    content = bytearray(path.read_bytes())
    place = rng.randrange(max(len(content), 1))
    match rng.randrange(7):
        case 0:
            del content[place:]
        case 1:
            del content[place : place + rng.randrange(1, 70)]
        case 2:
            content[place:place] = rng.randbytes(rng.randrange(1, 70))
        case 3:
            start = place // 8 * 8
            content[start : start + 8] = rng.choice(HUGE)
        case 4:
            start = place // 64 * 64
            content[start : start + 2] = b"\xa5\xa5"
        case 5:
            content[place : place + 4] = rng.randbytes(4)
        case 6:
            content *= 2
    path.write_bytes(bytes(content))


def judge_mutated(clean: Path, folder: Path, seed: int) -> None:
    rng = random.Random(seed)
    copy = folder / clean.name
    shutil.copytree(clean, copy)
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    records = [one for one in files if "data" in one.parts[-2]]
    chosen = rng.choice(records if rng.random() < 0.9 else files)
    mutate(chosen, rng)
    report = judge_raw(copy)
    failures = [(one.rule, one.message) for one in report.findings if one.verdict == "failure"]
    assert failures == [], (seed, chosen.name)
    for one in report.findings:
        assert "Traceback" not in one.message
        assert one.offset is None or one.offset >= 0
    shutil.rmtree(copy)


@pytest.mark.exhaustive
def test_g167_mutated_records_are_findings(clean: Path, tmp_path: Path) -> None:
    for seed in range(4):
        judge_mutated(clean, tmp_path, seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("first", "last"),
    [
        (1_000, 1_010),
        marked((1_010, 1_100), pytest.mark.campaign),
        *(marked((one, one + 100), pytest.mark.campaign) for one in range(1_100, 11_000, 100)),
    ],
)
def test_ten_thousand_mutations_are_findings(
    first: int, last: int, clean: Path, tmp_path: Path
) -> None:
    for seed in range(first, last):
        judge_mutated(clean, tmp_path, seed)


def test_a_torn_record_is_stated_by_its_byte(clean: Path, tmp_path: Path) -> None:
    copy = tmp_path / clean.name
    shutil.copytree(clean, copy)
    path = next((copy / "host/data").glob("*.compact.task_track.slice_0"))
    content = path.read_bytes()
    path.write_bytes(content[: 5 * 64] + b"\0\0" + content[5 * 64 + 2 :])
    found = [one for one in judge_raw(copy).findings if one.rule == "RAW101"]
    assert [(one.offset, one.file.endswith(path.name)) for one in found] == [(5 * 64, True)]
