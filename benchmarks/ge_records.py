"""Speed of reading and judging the graph engine's record streams, as ratios in one run.

    python benchmarks/ge_records.py [--records 4000000] [--judged 200000] [--folder DIR]

Reading decodes calls of 40 bytes, compact records of 64 and additional ones of 256 and checks the
magic number of each, and that none is torn; the alternative is ``struct.iter_unpack`` of the
standard library with the same check, on a twentieth of the records. Judging is what
``ascend-ref check`` does with a PROF_* of calls and operators, all rules included; the alternative
is reading alone.
"""

from __future__ import annotations

import argparse
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from lines import Line, best, show

from ascend_conformance.media.raw.judge import judge_raw
from ascend_ref.derive.text_hash import name_id
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.fields import numbers
from ascend_ref.raw.layout import layout_of
from ascend_ref.raw.series import Slice
from ascend_ref.raw.slices import read_blocks
from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw.records import MAGIC

CHIP = 5
MILLION = 1_000_000
PARTS = 20
KINDS = {
    "api_event": ("API_EVENT", "<HHIIIQQQ", ("threadId", "beginTime", "endTime", "itemId")),
    "node_basic_info": ("NODE_BASIC_INFO", "<HHIIIQQIQII12x", ("timeStamp", "opName", "taskType")),
    "tensor_info": ("TENSOR_INFO", "<HHIIIQQI220x", ("timeStamp", "opName", "tensorNum")),
}
"""By kind of file its declaration, the same for ``struct``, and fields that are summed up."""


def made(kind: str, count: int) -> npt.NDArray[Any]:
    """Records of launches that follow each other, with an operator in each."""
    record = KINDS[kind][0]
    rows = np.zeros(count, dtype_of(raw_catalog().record(record)))
    file = raw_catalog().files[kind]
    rows["magicNumber"] = MAGIC
    rows["level"] = file.levels[0] if file.levels else 10000
    rows["type"] = file.type if file.type is not None else 5
    rows["threadId"] = 4242
    ends = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(100)
    name = name_id("Conv2D")
    if kind == "api_event":
        rows["beginTime"], rows["endTime"], rows["itemId"] = ends - np.uint64(50), ends, name
    else:
        rows["timeStamp"], rows["opName"] = ends, name
    if kind == "node_basic_info":
        rows["opType"], rows["blockNum"] = name, 24
    if kind == "tensor_info":
        rows["tensorNum"] = 1
    return rows


def checked(path: Path, kind: str) -> int:
    """Every record with the checks of the reader, sorted by kind; how many there are."""
    layout = layout_of(raw_catalog().files[kind], CHIP, {})
    damage: list[Damage] = []
    number = 0
    for block in read_blocks([Slice(path, 0, ())], layout, "host", damage):
        number += sum(int(np.count_nonzero(mask)) for mask in layout.split(block.rows))
    assert not damage
    return number


def read(path: Path, kind: str) -> int:
    """The sums of the fields, by our reader."""
    layout = layout_of(raw_catalog().files[kind], CHIP, {})
    declaration = layout.declaration(layout.members[0])
    damage: list[Damage] = []
    total = 0
    for block in read_blocks([Slice(path, 0, ())], layout, "host", damage):
        rows = layout.view(0, block.rows)
        for name in KINDS[kind][2]:
            total += int(np.sum(numbers(declaration, name, rows), dtype=np.uint64))
    assert not damage
    return total % (1 << 64)


def unpacked(path: Path, kind: str) -> int:
    """The same by the standard library."""
    form = struct.Struct(KINDS[kind][1])
    places = {
        "api_event": (3, 5, 6, 7),
        "node_basic_info": (5, 6, 7),
        "tensor_info": (5, 6, 7),
    }[kind]
    total = 0
    for row in form.iter_unpack(path.read_bytes()):
        assert row[0] == MAGIC
        for place in places:
            total += row[place]
    return total % (1 << 64)


def reading(folder: Path, kind: str, count: int) -> Iterator[Line]:
    """Reading of one kind against the alternative."""
    whole, part = folder / f"{kind}.whole", folder / f"{kind}.part"
    rows = made(kind, count)
    whole.write_bytes(rows.tobytes())
    part.write_bytes(rows[: count // PARTS].tobytes())
    assert read(part, kind) == unpacked(part, kind)
    assert checked(whole, kind) == count
    rate = count / best(lambda: checked(whole, kind)) / MILLION
    yield Line(f"{kind}: records with checks", rate, 20, "M/s", False, "")
    times = best(lambda: unpacked(part, kind)) * PARTS / best(lambda: read(whole, kind))
    yield Line(f"{kind}: fields summed up", times, 4, "x", False, "struct.iter_unpack")
    whole.unlink()


def judged(folder: Path, count: int) -> Line:
    """Judging of calls and operators against reading them."""
    data = folder / "PROF_000001_20260101000000000_ABCDEFGHIJKLMNOP/host/data"
    data.mkdir(parents=True)
    for kind, name in (
        ("api_event", "unaging.api_event.data.slice_0"),
        ("node_basic_info", "unaging.compact.node_basic_info.slice_0"),
    ):
        (data / name).write_bytes(made(kind, count).tobytes())
    text = f"{name_id('Conv2D')}:Conv2D\n"
    (data / "unaging.additional.hash_dic.slice_0").write_text(text, encoding="utf-8")
    (data / "unaging.additional.type_info_dic.slice_0").write_text("10000_5:launch\n")

    def alone() -> None:
        for path in data.glob("*api_event*"):
            read(path, "api_event")
        for path in data.glob("*node_basic*"):
            read(path, "node_basic_info")

    assert judge_raw(data.parents[1]).findings == ()
    ours = best(lambda: judge_raw(data.parents[1]), 1)
    rate = 2 * count / ours / MILLION
    times = ours / best(alone)
    return Line("judged with all rules", rate, 0.05, "M/s", False, f"{times:.0f} x reading alone")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=4_000_000)
    parser.add_argument("--judged", type=int, default=200_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        lines = [one for kind in KINDS for one in reading(Path(place), kind, options.records)]
        show([*lines, judged(Path(place), options.judged)])


if __name__ == "__main__":
    main()
