"""The presets and whole files: which blocks, in which order, and nothing to complain about."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from kernel_bytes import (
    DEVICE,
    EVERYTHING,
    GATHER,
    MIX,
    SIMULATED,
    UNIFIED,
    scenario,
    walk,
    written,
)
from slices import some

from ascend_conformance.media.bin.judge import judge_content
from ascend_ref.bin import to_bytes
from ascend_simulator.operator import simulate_kernel
from ascend_simulator.operator.scenario import KernelScenario, preset_names, presets, to_yaml
from ascend_simulator.operator.strategies import kernel_scenarios

PAGES = [0x05, 0x06, 0x07, 0x08, 0x09]
QUICK = ("simulated-add", "310p-add", "museum", "matmul-leakyrelu")


def findings(content: bytes) -> list[str]:
    report = judge_content(content, "visualize_data.bin")
    assert report.unreadable is None
    return [f"{one.rule}: {one.message}" for one in report.findings]


def test_there_are_presets_for_each_kind_chip_and_mode() -> None:
    found = presets()
    assert len(found) >= 8
    assert all(name == one.name for name, one in found.items())
    assert all(one.summary for one in found.values())
    assert all("." not in name and "/" not in name for name in preset_names())
    assert {one.operator.kind for one in found.values()} == {
        "add", "gelu", "softmax", "matmul", "matmul-leakyrelu", "flash-attention", "gather",
    }  # fmt: skip
    assert {one.capture.mode for one in found.values()} == {"device", "simulator", "everything"}
    assert {one.device.chip[:9] for one in found.values()} == {
        "Ascend910", "Ascend310", "Ascend950",
    }  # fmt: skip


@pytest.mark.parametrize("name", some(QUICK, every=2))
def test_presets_have_nothing_against_them(name: str) -> None:
    assert findings(to_bytes(simulate_kernel(presets()[name]).blocks())) == []


@pytest.mark.parametrize("text", some([*DEVICE, *SIMULATED, *EVERYTHING[::3]], every=9))
def test_files_have_nothing_against_them(text: str) -> None:
    assert findings(written(text).content) == []


@pytest.mark.exhaustive
@given(kernel_scenarios(max_blocks=3))
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
def test_nor_has_any_other_file(drawn: KernelScenario) -> None:
    found = findings(to_bytes(simulate_kernel(drawn, 5).blocks()))
    assert found == [], to_yaml(drawn)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MIX, [0x01, 0x03, 0x04, *PAGES, 0x0C, 0x0D, 0x02, 0x0E]),
        (GATHER, [0x01, 0x03, 0x04, 0x0F, *PAGES, 0x0C, 0x0D, 0x02]),
        (UNIFIED, [*PAGES, 0x0D]),
        (f"{MIX}\ncapture: {{mode: simulator}}", [0x02, 0x01, 0x03, 0x04]),
        (f"{UNIFIED}\ncapture: {{mode: simulator}}", [0x02, 0x01, 0x03, 0x04]),
        (
            f"{GATHER}\ncapture: {{mode: everything}}",
            [0x01, 0x03, 0x04, 0x0F, *PAGES, 0x0C, 0x0D, 0x02, 0x0E, 0x0A, 0x0B],
        ),
        (
            f"{MIX}\ncapture: {{mode: everything}}",
            [0x01, 0x03, 0x04, *PAGES, 0x0C, 0x0D, 0x02, 0x0E, 0x0A, 0x0B],
        ),
    ],
)
def test_blocks_stand_in_the_order_of_the_exporter(text: str, expected: Sequence[int]) -> None:
    file = written(text)
    assert file.types == list(expected)
    assert {(one.type, one.version) for one in file.blocks} == {
        (code, 0 if code == 0x04 else 0x5A) for code in expected
    }
    assert all(bool(one.path) == (one.type == 0x01) for one in file.blocks)


def test_the_museum_has_a_block_of_every_type() -> None:
    blocks = walk(to_bytes(simulate_kernel(presets()["museum"]).blocks()))
    assert sorted(one.type for one in blocks) == list(range(0x01, 0x10))


def test_one_preset_has_millions_of_records() -> None:
    one = presets()["memory-trace"]
    rows = 3 * one.operator.shape[0] * one.operator.shape[1] * one.operator.shape[2]  # type: ignore[index]
    assert one.capture.mode == "everything"
    assert rows * 2 // one.capture.access_bytes > 2_000_000


@pytest.mark.parametrize("text", [MIX, GATHER, f"{MIX}\ncapture: {{mode: simulator}}"])
def test_the_same_seed_gives_the_same_bytes(text: str) -> None:
    again = simulate_kernel(scenario(text), 0)
    assert to_bytes(again.blocks()) == written(text).content
    assert again.truth == written(text).truth


def test_blocks_of_one_run_can_be_asked_for_again() -> None:
    run = written(MIX).run
    assert to_bytes(run.blocks()) == to_bytes(run.blocks())


def test_another_seed_gives_another_run() -> None:
    assert written(GATHER, 1).content != written(GATHER).content
    assert written(MIX, 1).content != written(MIX).content
