"""What kernels cost in the model and in real profiles that it was, and was not, fitted to.

    python benchmarks/costs.py [KERNEL_DETAILS_CSV]

Each kernel of a real kernel_details.csv is made again from its shapes, on a chip with the cores and
the clock of that profile; the table shows the sum of the model by that of the file. ``warm`` has
all operands in L2, ``cold`` has them in memory; ``own`` is between them, as the simulator has it:
what the forward pass left is cold in the backward pass, everything else is warm. The default is the
language model in ../shared next to the project. Operators of ``FITTED`` were fitted to it; the
others to fixtures-2025-01, or inferred, so that it is a validation for them. What validates the
fitted ones stands in ``ELSEWHERE``.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from ascend_simulator.choices import HardwareChoice
from ascend_simulator.hardware import machine
from ascend_simulator.hardware.model import Chip
from ascend_simulator.program.cost import Heads, kinds
from ascend_simulator.program.kernels import WIDTHS, Kernels, Operand

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "generations"
REAL = SHARED / "text_llm_2025_level2_rank0" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
FITTED: Mapping[str, tuple[int, ...]] = {
    "FlashAttentionScore": (),
    "FlashAttentionScoreGrad": (0, 1, 2),
    "RmsNorm": (),
    "RmsNormGrad": (1, 2),
    "SwiGlu": (),
    "SwiGluGrad": (1,),
    "RotaryPositionEmbedding": (),
    "RotaryPositionEmbeddingGrad": (),
}
"""By type, the inputs that the forward pass left."""
TRIANGLES = {(2048, 2048), (4096, 4096)}
"""Shapes of masks with which attention is causal."""


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel: its type, operands as (shape, data type), and us."""

    kind: str
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    outputs: tuple[tuple[tuple[int, ...], str], ...]
    duration: float


def chip_of(cube: int, frequency: int, hbm: int, l2: int) -> Chip:
    """The A2 with other cores, clock (MHz), memory bandwidth (10^9 Byte/s) and L2 (MiB)."""
    whole = machine(HardwareChoice(product="A2")).chip
    per_core = whole.l2_bandwidth // (whole.cube_cores * whole.frequency)
    return replace(
        whole,
        cube_cores=cube,
        vector_cores=2 * cube,
        frequency=frequency,
        hbm_bandwidth=hbm * 1000,
        l2_bandwidth=per_core * cube * frequency,
        l2=l2 << 20,
    )


LLM = chip_of(20, 1650, 800, 96)
"""20 cores and 1650 MHz by the file (cycles by time and cores), 800 GB/s by its ZerosLike."""
_HEADS = (((4096, 2, 512), "DT_BF16"),) * 3
_SUMS = (((2, 4, 4096, 8), "FLOAT"),) * 2
_MASK = (((4096, 4096), "BOOL"),)
_WIDE = (((8192, 2, 640), "DT_BF16"),) * 3
ELSEWHERE: Sequence[tuple[str, Chip, Row]] = (
    (
        "causal, 4 heads (2025-01)",
        chip_of(20, 1800, 800, 96),
        Row("FlashAttentionScore", _HEADS + _MASK, _SUMS + _HEADS[:1], 406.6),
    ),
    (
        "causal, 4 heads (2025-01)",
        chip_of(20, 1800, 800, 96),
        Row(
            "FlashAttentionScoreGrad",
            _HEADS + _HEADS[:1] + _MASK + _SUMS + _HEADS[:1],
            _HEADS,
            759.6,
        ),
    ),
    (
        "full, with dropout (2023-09)",
        chip_of(24, 1850, 1600, 192),
        Row("FlashAttentionScore", _WIDE, (((2, 5, 8192, 8), "FLOAT"), *_WIDE[:1]), 7023.6),
    ),
)
"""Medians of kernels in profiles of other programs, years and chips: four and four rows of
test/ut/advisor/compute_advice/data/kernel_details.csv in msprof-analyze, three of
test_rank_0/ASCEND_PROFILER_OUTPUT/kernel_details.csv in the test data of msinsight's server."""


def rows_of(path: Path) -> list[Row]:
    """The kernels of a file whose type the model knows."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [
            Row(
                row["Type"],
                _operands(row["Input Shapes"], row["Input Data Types"]),
                _operands(row["Output Shapes"], row["Output Data Types"]),
                float(row["Duration(us)"]),
            )
            for row in csv.DictReader(file)
            if row["Type"] in kinds() and row["Output Shapes"].strip('"')
        ]


def _operands(shapes: str, types: str) -> tuple[tuple[tuple[int, ...], str], ...]:
    pairs = zip(shapes.strip('"').split(";"), types.split(";"), strict=False)
    return tuple(
        (tuple(map(int, shape.split(","))), data_type)
        for shape, data_type in pairs
        if shape and data_type in WIDTHS
    )


def modelled(chip: Chip, row: Row, cold: Iterable[int]) -> float | None:
    """us of a kernel in the model, the inputs at some places in memory; None without operands."""
    places = set(cold)
    inputs = [Operand(*one, cold=place in places) for place, one in enumerate(row.inputs)]
    outputs = [Operand(*one) for one in row.outputs]
    if not inputs or not outputs:
        return None
    if row.kind == "GatherV2":
        inputs[0] = replace(inputs[0], moved=outputs[0].size)
    made, unit = Kernels(chip), kinds()[row.kind].unit
    if unit == "attention":
        kernel = made.attention(row.kind, "aclnn", inputs, outputs, _heads(inputs, outputs))
    elif unit == "cube":
        m, n = outputs[0].shape[-2:]
        k = inputs[0].elements // (m if m in inputs[0].shape else n)
        kernel = made.matmul(row.kind, "aclnn", inputs, outputs[0], (1, m, n, k))
    else:
        kernel = made.vector(row.kind, "aclnn", inputs, outputs)
    return kernel.duration / 1000


def _heads(inputs: Sequence[Operand], outputs: Sequence[Operand]) -> Heads:
    (shape,) = {one.shape for one in (*inputs, *outputs) if len(one.shape) == 4}
    batch, count, queries, _ = shape
    width = inputs[0].shape[-1] // count
    causal = any(one.shape in TRIANGLES for one in inputs)
    return Heads(batch, count, queries, inputs[1].shape[0], width, causal)


def table(chip: Chip, rows: Sequence[Row]) -> list[str]:
    """For each type the model's time by the file's; then how many kernels are near."""
    by_kind: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for row in rows:
        every = range(len(row.inputs))
        found = [modelled(chip, row, cold) for cold in ((), every, FITTED.get(row.kind, ()))]
        if None not in found:
            by_kind[row.kind].append((row.duration, *(one for one in found if one is not None)))
    lines = [f"{'type':28} {'n':>5} {'us':>9}  {'warm':>5} {'cold':>5} {'own':>5}  fitted here"]
    for kind, times in sorted(by_kind.items(), key=lambda one: one[0] not in FITTED):
        real, *sums = (sum(column) for column in zip(*times, strict=True))
        warm, cold, own = (each / real for each in sums)
        yes = "yes" if kind in FITTED else "no"
        lines.append(
            f"{kind:28} {len(times):5} {real:9,.0f}  {warm:5.2f} {cold:5.2f} {own:5.2f}  {yes}"
        )
    for fitted, name in ((True, "fitted here"), (False, "not fitted here")):
        chosen = [
            one for kind, each in by_kind.items() if (kind in FITTED) is fitted for one in each
        ]
        factors = [max(own / real, real / own) for real, *_, own in chosen]
        between = sum(real <= 1.5 * cold and warm <= 1.5 * real for real, warm, cold, _ in chosen)
        near = sum(factor <= 1.5 for factor in factors)
        lines.append(
            f"{name}: {near} of {len(chosen)} kernels within a factor of 1.5 (median"
            f" {median(factors):.2f}), {between} within 1.5 of warm to cold"
        )
    return lines


def main() -> None:
    """Print the comparison with the file, and that with kernels elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Formatter)
    parser.add_argument("real", type=Path, metavar="KERNEL_DETAILS_CSV", nargs="?", default=REAL)
    path = parser.parse_args().real
    if path.is_file():
        print("\n".join(table(LLM, rows_of(path))))
    else:
        print(f"{path}: no such file; only the kernels of other profiles are compared")
    for where, chip, row in ELSEWHERE:
        found = modelled(chip, row, FITTED[row.kind]) or 0.0
        factor = found / row.duration
        print(f"{row.kind}, {where}: {row.duration:,.0f} us, model {found:,.0f} us ({factor:.2f})")


_Formatter = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    main()
