"""Against files that real chips made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kernel_bytes import Written, walk

from ascend_ref.bin import to_bytes
from ascend_simulator.operator import simulate_kernel
from ascend_simulator.operator.scenario import preset

REAL = Path(__file__).parents[3] / "shared" / "data" / "bin"
SHARED_LINES = {
    "matmul-leakyrelu": {
        "GM/L1 to L0A",
        "GM/L1 to L0B",
        "L0C to GM",
        "L1 Read + Write",
        "Read from L0C",
        "Read from L1",
        "Write to L0A",
        "Write to L0B",
        "Write to L1",
        "Read from UB",
        "UB Read + Write",
        "Vector Read UB",
        "Vector Write UB",
        "Write to UB",
        "L2 Read + Write",
    },
    "matmul": {"MTE2", "L1 Read + Write"},
}
"""Lines whose bandwidth is a constant of the chip, or one where copies are as long as there."""


def real(name: str, code: int) -> Any:
    path = REAL / name
    if not path.is_file():
        pytest.skip("no real files in ../shared/data/bin")
    return next(one.json for one in walk(path.read_bytes()) if one.type == code)


def simulated(name: str) -> Written:
    run = simulate_kernel(preset(name))
    content = to_bytes(run.blocks())
    return Written(run, content, walk(content))


def requests(core: dict[str, Any]) -> dict[int, int]:
    return {one["memory_path"]: int(one["request"]) for one in core["memory_unit"]}


def test_the_preset_moves_through_the_cube_what_mix_bin_moves() -> None:
    expected = real("mix.bin", 0x08)["core_memory_map"]
    file = simulated("matmul-leakyrelu")
    found = file.json(0x08)["core_memory_map"]
    assert len(found) == len(expected)
    for own, theirs in zip(found, expected, strict=True):
        first, second = requests(own), requests(theirs)
        assert set(first) == set(second)
        # L1 to L0, L0 to the cube and back: they do not depend on how it was compiled.
        assert {path: first[path] for path in range(4, 12)} == {
            path: second[path] for path in range(4, 12)
        }
        # To the vector cores, through them and away; the real one also copies its tiling.
        for path in range(12, 20):
            assert first[path] == pytest.approx(second[path], rel=5e-3)
        assert own["Cube"]["cycle"] == pytest.approx(theirs["Cube"]["cycle"], rel=2e-3)


@pytest.mark.parametrize("name", SHARED_LINES)
def test_roofs_are_those_of_a_real_chip(name: str) -> None:
    def roofs(page: dict[str, Any]) -> dict[str, float]:
        return {
            line["bw_name"]: line["bw"]
            for chart in page["multiple_rooflines"]
            for line in chart["rooflines"]
            if line["computility_name"].startswith("Cube") or "UB" in line["bw_name"]
        }

    expected, found = roofs(real("roofline_data.bin", 0x0D)), roofs(simulated(name).json(0x0D))
    assert SHARED_LINES[name] <= set(expected) & set(found)
    for line in SHARED_LINES[name]:
        assert found[line] == pytest.approx(expected[line], rel=2e-7)


def test_the_cubes_of_a_real_chip_can_do_as_much() -> None:
    charts = real("roofline_data.bin", 0x0D)["multiple_rooflines"]
    expected = charts[0]["rooflines"][0]["computility"]
    found = simulated("matmul").json(0x0D)["multiple_rooflines"][0]["rooflines"][0]["computility"]
    assert found == expected
