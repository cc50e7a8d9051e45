"""Jobs with files that are changed anywhere: commands end as their help says, and say why."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from slices import marked

from ascend_ref.cli import main
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import mindspore_catalog

JOBS = [
    ("mindspore-raw", "2020-07-01"),
    ("mindspore-raw", "2020-10-30"),
    ("mindspore-raw", "2021-09-01"),
    ("mindspore-raw", "2021-12-16"),
    ("mindspore-raw", "2022-05-08"),
    ("mindspore-raw", "2023-03-03"),
    ("mindspore-raw", "2023-07-04"),
    ("mindspore-raw", "2024-05-01"),
    ("mindspore-gpu", "2021-12-16"),
    ("mindspore-gpu", "2022-10-01"),
]
"""Days on which each generation and its files were of another form."""
LIMITS = [
    b"9223372036854775808",
    b"-1",
    b"1e999",
    b"nan",
    b"",
    b"\xff" * 8,
    bytes(8),
    b"\xe2\x80\xa8",
]
OURS = ("Traceback", "internal error", "REF001")
"""What none may print: a fault of a command or of a rule."""
A_PART = 25
"""Mutations of one case, of which make campaign has four hundred."""


Job = Callable[[str, str], tuple[Path, Path]]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Writes the raw files of one rank and what a parser makes of them, once for each day."""
    folder = tmp_path_factory.mktemp("jobs")

    @cache
    def made(form: str, day: str) -> tuple[Path, Path]:
        scenario = override(preset("cnn-910a"), ranks=2, steps=2, level=None)
        below = folder / form / day
        raw = write_run(scenario, 0, below / "run", [form], generation=day).profiles[0]
        assert main(["mindspore", "parse", str(raw), "-o", str(below / "parsed")]) == 0
        return raw, below / "parsed"

    return made


def mutate(content: bytes, draw: random.Random) -> bytes:
    """Content with a piece lost, added, doubled or of another value."""
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    near = min(end, start + draw.randrange(1, 90))
    match draw.randrange(7):
        case 0:
            return content[:start]
        case 1:
            return content[:start] + content[near:]
        case 2:
            return content[:start] + draw.randbytes(near - start) + content[near:]
        case 3:
            return content[:near] + content[start:]
        case 4:
            one = draw.choice(LIMITS)
            return content[:start] + one + content[start + len(one) :]
        case 5:
            return content[:start] + draw.choice(LIMITS) + content[start:]
        case _:
            place = start // 8 * 8
            return content[:place] + (2**63).to_bytes(8, "little") + content[place + 8 :]


def mutate_files(folder: Path, draw: random.Random) -> None:
    """Change one to three files of a folder."""
    files = sorted(one for one in folder.rglob("*") if one.is_file())
    for path in draw.sample(files, min(len(files), draw.choice([1, 1, 2, 3]))):
        path.write_bytes(mutate(path.read_bytes(), draw))


def journey(draw: random.Random, folder: Path, raw: Path, parsed: Path) -> list[list[str]]:
    """What a user runs who has a job; the files of one folder are changed."""
    analysers = [one for one in mindspore_catalog().analysers if draw.random() < 0.1]
    source, output = str(folder / "raw"), str(folder / "out")
    shutil.copytree(raw, source)
    commands = [["mindspore", "parse", source, "-o", output]]
    if draw.random() < 0.5:
        mutate_files(folder / "raw", draw)
    else:
        commands.clear()
        shutil.copytree(parsed, output)
        mutate_files(folder / "out", draw)
    commands += [["mindspore", "analyse", one, output] for one in analysers]
    commands.append(["mindspore", "propose", output])
    if draw.random() < 0.1:
        commands.append(["check", source if draw.random() < 0.5 else output])
    if draw.random() < 0.3:
        one = draw.choice([source, output])
        commands.append(["mindspore", "convert", one, "-o", str(folder / "converted")])
    return commands


def ends(commands: Sequence[Sequence[str]], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Which commands end otherwise than they may."""
    found = []
    for command in commands:
        code = main([*command])
        text = "".join(capsys.readouterr())
        if code not in (0, 1, 2) or any(one in text for one in OURS):
            found.append(f"{' '.join(command)}: {code}: {text[-600:]}")
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "part",
    [
        0,
        *(marked(one, pytest.mark.campaign) for one in range(1, 400)),
    ],
)
def test_m52_ten_thousand_mutations_are_stated(
    part: int, job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in range(part * A_PART, (part + 1) * A_PART):
        draw = random.Random(seed)
        raw, parsed = job(*draw.choice(JOBS))
        capsys.readouterr()
        folder = tmp_path / str(seed)
        assert ends(journey(draw, folder, raw, parsed), capsys) == [], seed
        shutil.rmtree(folder)
