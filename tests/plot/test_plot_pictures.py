"""The files: the same bytes each time, whatever the names in them; and the command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from plot_cases import ORIGIN, Run, event, process, words, write_summary, write_timeline

from ascend_ref.cli import main
from ascend_ref.tools.plot.draw import draw
from ascend_ref.tools.plot.errors import CannotDraw

HOSTILE = [
    "$x^2$ \\frac{1}{0}",
    "$unbalanced",
    "<script>alert('&amp;')</script>",
    "矩阵乘法",
    "مرحبا",
    "\u202eevil",
    "line\nbreak\ttab\x00\x1b[31m",
    "x" * 20_000,
    "%s {0}",
    "😀",
]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with names that mean something to a format, each of an operator of its own."""
    folder = tmp_path / "ho$t<&>"
    folder.mkdir()
    runs = [
        Run("AI_CORE", 2_000_000 * place, 1_900_000 - place, name)
        for place, name in enumerate(HOSTILE)
    ]
    write_summary(folder / "op_summary_1.csv", runs)
    return folder


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_names_are_shown_as_they_are_and_the_bytes_are_always_the_same(
    form: str, hostile: Path, tmp_path: Path
) -> None:
    files = [tmp_path / f"{place}.{form}" for place in range(2)]
    for path in files:
        draw(hostile, None, path)
    assert files[0].read_bytes() == files[1].read_bytes()
    begin = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[form]
    assert files[0].read_bytes().startswith(begin)
    if form == "svg":
        shown = words(files[0])
        assert "ho$t<&>" in shown
        for name in HOSTILE[:5]:
            assert name in shown
        assert "\\u202eevil" in shown
        assert not any("x" * 200 in word for word in shown)


@pytest.mark.exhaustive
def test_another_process_draws_the_same_bytes(tmp_path: Path) -> None:
    path = write_summary(tmp_path / "op_summary_1.csv", [Run("AI_CORE", 0, 4_000)])
    draw(path, None, tmp_path / "here.svg")
    command = [sys.executable, "-m", "ascend_ref", "plot", path.name, "-o", "there.svg"]
    environment = {"PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1", "MPLCONFIGDIR": str(tmp_path)}
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nsvg.fonttype: path\n")
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "there.svg").read_bytes() == (tmp_path / "here.svg").read_bytes()


def test_a_picture_bears_no_date_and_names_for_who_cannot_see_it(tmp_path: Path) -> None:
    path = write_summary(tmp_path / "op_summary_1.csv", [Run("AI_CORE", 0, 4_000)])
    draw(path, None, tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert "dc:date" not in text
    assert "<title>Whole capture: 4.00 us, 100.0 % computing" in text


def test_the_legend_tells_only_what_occurs(tmp_path: Path) -> None:
    runs = [Run("AI_VECTOR_CORE", 0, 4_000), Run("AI_CORE", 5_000, 4_000)]
    labels = {"cube (AI_CORE)", "vector (AI_VECTOR_CORE)", "AI core", "AI CPU", "copy"}
    draw(write_summary(tmp_path / "op_summary_1.csv", runs), None, tmp_path / "p.svg")
    assert labels & set(words(tmp_path / "p.svg")) == {"cube (AI_CORE)", "vector (AI_VECTOR_CORE)"}
    draw(write_summary(tmp_path / "op_summary_1.csv", runs[1:]), None, tmp_path / "p.svg")
    assert labels & set(words(tmp_path / "p.svg")) == {"AI core"}


def test_a_bar_bears_its_name_only_where_that_fits(tmp_path: Path) -> None:
    runs = [Run("AI_CORE", 0, 500_000, "Wide"), Run("AI_CORE", 600_000, 5_000, "Narrow")]
    draw(write_summary(tmp_path / "op_summary_1.csv", runs), None, tmp_path / "p.svg")
    shown = words(tmp_path / "p.svg")
    # Both stand in the table of operators.
    assert (shown.count("Wide"), shown.count("Narrow")) == (2, 1)


def test_many_lanes_are_drawn_together(tmp_path: Path) -> None:
    runs = [Run("AI_CORE", 0, 1_000 + stream, stream=stream) for stream in range(500)]
    draw(write_summary(tmp_path / "op_summary_1.csv", runs), None, tmp_path / "p.svg")
    shown = words(tmp_path / "p.svg")
    assert [word for word in shown if word.startswith("Stream ")] == [
        f"Stream {number}" for number in range(491, 500)
    ]
    assert "491 other streams" in shown


def test_groups_stand_above_their_planes(tmp_path: Path) -> None:
    threads = [(0, "Group a Communication"), (1, "Plane 0"), (2, "Group b Communication")]
    events = [
        *process(1, "Ascend Hardware", "NPU 0", [(2, "Stream 2")]),
        *process(2, "Communication", "NPU 0", [*threads, (3, "Plane 0"), (4, "Plane 1")]),
        event(2, 0, "hcom_allReduce__1", 0, 9_000),
        event(2, 1, "Notify_Wait", 0, 8_000),
        event(2, 2, "hcom_send__1", 0, 9_000),
        event(2, 3, "Memcpy", 0, 9_000),
        event(2, 4, "Notify_Wait", 0, 9_000),
    ]
    draw(write_timeline(tmp_path / "trace_view.json", events), None, tmp_path / "p.svg")
    shown = [word for word in words(tmp_path / "p.svg") if re.match("Group|plane ", word)]
    assert shown == ["Group a", "plane 0", "Group b", "plane 0", "plane 1"]


@pytest.mark.parametrize("scale", [1, 1_000_000, 100_000_000_000])
def test_any_length_of_time_has_an_axis(scale: int, tmp_path: Path) -> None:
    runs = [Run("AI_CORE", 0, 50 * scale)]
    draw(write_summary(tmp_path / "op_summary_1.csv", runs), None, tmp_path / "p.svg")
    shown = words(tmp_path / "p.svg")
    unit = {1: "ns", 1_000_000: "ms", 100_000_000_000: "s"}[scale]
    at = shown.index(f"time in {unit}")
    assert shown[at + 1] == "0"
    assert shown[at + 2].replace(",", "").isdecimal()


def test_the_command_tells_what_it_drew_from_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = [Run("AI_CORE", 0, 4_000, device=device) for device in (1, 4)]
    write_summary(tmp_path / "op_summary_1.csv", [*runs, Run("AI_CORE", -2 * ORIGIN, 1, device=4)])
    assert main(["plot", ".", "--device", "4", "-o", "p.png"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "wrote p.png: the whole capture, drawn from op_summary_1.csv",
        "not drawn: device 1 (--device N)",
        "left out: 1 row without sane times",
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["gone", "-o", "p.svg"], "gone: No such file or directory"),
        ([".", "-o", "p.gif"], "a picture is called *.svg, *.png or *.pdf, not p.gif"),
        ([".", "--step", "9", "-o", "p.svg"], "op_summary_1.csv: no step 9; it does not state any"),
        ([".", "--rank", "1", "-o", "p.svg"], ".: no rank 1; it does not state any rank"),
        (["notes.txt", "-o", "p.svg"], "notes.txt: no deliverable; expected msprof_*.db"),
        ([".", "-o", "no/p.svg"], "no/p.svg: No such file or directory"),
    ],
)
def test_what_cannot_be_drawn_is_one_line_and_code_2(
    options: list[str],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_summary(tmp_path / "op_summary_1.csv", [Run("AI_CORE", 0, 4_000)])
    (tmp_path / "notes.txt").write_text("x")
    assert main(["plot", *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert not list(tmp_path.glob("p.*"))


def test_without_matplotlib_the_command_tells_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(CannotDraw, match=r"pip install 'ascend-ref\[plot\]'"):
        draw(tmp_path, None, tmp_path / "p.svg")
