"""A sheet of paper measured in points from its upper left corner, drawn by matplotlib."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, Literal

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

from ascend_ref.capture.batch import Reals
from ascend_ref.db.display import clip, printable

Format = Literal["svg", "png", "pdf"]
Align = Literal["left", "center", "right"]

_renderer: Any = RendererAgg  # which matplotlib declares no types for

DPI: Final = 144
"""Of a PNG: two pixels for each point."""
POINTS_PER_INCH: Final = 72
UNDATED: Final[Mapping[Format, Mapping[str, None]]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}
TEXT_MAX: Final = 400
ELLIPSIS: Final = "…"

# A viewer of an SVG takes the first of these that it has; all are about as wide as the first,
# which comes with matplotlib and measures the texts.
LATIN: Final = ("DejaVu Sans", "Verdana", "Segoe UI", "Arial")
# Where a PNG or PDF is made, one of these may be there for names that DejaVu cannot show.
ASIAN: Final = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "Microsoft YaHei",
    "PingFang SC",
    "WenQuanYi Micro Hei",
    "SimHei",
)


@contextmanager
def drawing(form: Format) -> Iterator[None]:
    """matplotlib as it comes, whatever the user's settings, and with our few in force."""
    known = set(fontManager.get_font_names())
    families = [name for name in LATIN if form == "svg" or name in known]
    if form != "svg":
        families += [name for name in ASIAN if name in known]
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "font.family": "sans-serif",
                "font.sans-serif": families,
                "svg.fonttype": "none",  # texts stay texts: small, searchable, any script
                "svg.hashsalt": "ascend-ref",
                "text.parse_math": False,
                "pdf.fonttype": 42,
                "path.simplify": False,
            }
        )
        yield


class Canvas:
    """A sheet; to be used and saved within :func:`drawing`."""

    def __init__(self, width: float, height: float) -> None:
        self._width = width
        self._figure = Figure(
            figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH), facecolor="#ffffff"
        )
        flip = Affine2D().scale(1, -1).translate(0, height).scale(1 / POINTS_PER_INCH)
        self._transform: Any = flip + self._figure.dpi_scale_trans
        self._measure: Any = _renderer(1, 1, POINTS_PER_INCH)
        self._order = 0

    def box(self, left: float, top: float, width: float, height: float, colour: str) -> None:
        """A filled rectangle."""
        right = np.array([left + width])
        self.rectangles(np.array([left]), right, top, top + height, colour)

    def rectangles(
        self,
        left: Reals,
        right: Reals,
        top: float,
        bottom: float,
        colour: str,
    ) -> None:
        """Filled rectangles of one colour and height."""
        high, low = np.full(left.shape, top), np.full(left.shape, bottom)
        corners = np.stack(
            [left, high, right, high, right, low, left, low, left, high], axis=1
        ).reshape(-1, 2)
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
        self._fill(corners, np.tile(codes, len(left)), colour)

    def skyline(self, left: float, bottom: float, heights: Reals, colour: str) -> None:
        """Columns of width 1 that stand side by side on a ground; those of height 0 are not."""
        known = np.concatenate([[0.0], heights, [0.0]])
        change = np.flatnonzero(np.diff(known))
        corners: list[tuple[float, float]] = []
        codes: list[Any] = []
        columns = (left + change, known[change], known[change + 1])
        for x, before, behind in zip(*(column.tolist() for column in columns), strict=True):
            corners.append((x, bottom - before))
            codes.append(Path.LINETO if before else Path.MOVETO)
            corners.append((x, bottom - behind))
            codes.append(Path.LINETO)
            if not behind:
                corners.append((0, 0))
                codes.append(Path.CLOSEPOLY)
        if corners:
            self._fill(np.array(corners), np.array(codes), colour)

    def lines(
        self, segments: Sequence[tuple[float, float, float, float]], colour: str, width: float
    ) -> None:
        """Straight lines from (x, y) to (x, y)."""
        if not segments:
            return
        ends = np.array(segments, np.float64).reshape(-1, 2)
        codes = np.tile([Path.MOVETO, Path.LINETO], len(segments))
        self._add_path(ends, codes, edgecolor=colour, linewidth=width, capstyle="butt")

    def disc(self, x: float, y: float, radius: float, colour: str) -> None:
        """A filled circle."""
        circle = Path.unit_circle()
        corners = np.array(circle.vertices) * radius + (x, y)
        self._fill(corners, circle.codes, colour)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float,
        colour: str,
        align: Align = "left",
        bold: bool = False,
    ) -> None:
        """A line of text, ``y`` being the middle of its letters."""
        self._add(
            Text(
                x,
                y + 0.36 * size,  # half of the height of capitals above the base line
                showable(words),
                fontsize=size,
                color=colour,
                fontweight="bold" if bold else "normal",
                horizontalalignment=align,
                verticalalignment="baseline",
                transform=self._transform,
            )
        )

    def width(self, words: str, size: float, *, bold: bool = False) -> float:
        """How wide a line of text is, points."""
        # Letters of East Asia are as wide as high; a font that lacks them measures less.
        wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)
        font = FontProperties(size=size, weight="bold" if bold else "normal")
        measured = self._measure.get_text_width_height_descent(showable(words), font, False)[0]
        return float(measured) + 0.5 * size * wide

    def fitted(self, words: str, room: float, size: float) -> str:
        """The text; its two ends with an ellipsis between where the room is not enough."""
        words = showable(words)
        if self.width(words, size) <= room:
            return words
        low, high = 0, len(words) - 1
        while low < high:  # the most letters that fit
            middle = (low + high + 1) // 2
            fits = self.width(_shortened(words, middle), size) <= room
            low, high = (middle, high) if fits else (low, middle - 1)
        return _shortened(words, low)

    def save(self, file: BinaryIO, form: Format, title: str) -> None:
        """Write the sheet; the same sheet is always the same bytes."""
        metadata = {"Title": showable(title), **UNDATED[form]}
        self._figure.savefig(file, format=form, dpi=DPI, metadata=metadata)

    def _fill(self, corners: Any, codes: Any, colour: str) -> None:
        self._add_path(corners, codes, facecolor=colour, linewidth=0)

    def _add_path(self, corners: Any, codes: Any, **look: Any) -> None:
        colours = {"facecolor": "none", "edgecolor": "none"}
        self._add(PathPatch(Path(corners, codes), transform=self._transform, **(colours | look)))

    def _add(self, artist: PathPatch | Text) -> None:
        self._order += 1  # drawn in the order of the calls
        artist.set_zorder(self._order)
        artist.set_clip_on(False)
        self._figure.add_artist(artist)


def showable(words: str) -> str:
    """A foreign text on one line, without what XML or a font cannot have."""
    return printable(clip(words, TEXT_MAX))


def _shortened(words: str, letters: int) -> str:
    head = (letters + 1) // 2
    return words[:head] + ELLIPSIS + words[len(words) - (letters - head) :]
