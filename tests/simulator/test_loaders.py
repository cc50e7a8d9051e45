"""Loaders begin after their step and are over within it, as in every real profile."""

from __future__ import annotations

import pytest
from real_ranks import RANKS, connected

from ascend_simulator.run import simulate
from ascend_simulator.scenario import preset

Calls = list[tuple[str, int, int]]


def assert_within_steps(calls: Calls) -> None:
    """Real ones begin after 0.02 to 0.13 of the time that they then take."""
    calls = sorted(calls, key=lambda call: call[1])
    steps = [call for call in calls if call[0].startswith("ProfilerStep#")]
    loaders = [call for call in calls if call[0].startswith("enumerate(DataLoader)#")]
    assert len(steps) == len(loaders) > 0
    for (_, begun, over), (_, start, end) in zip(steps, loaders, strict=True):
        assert begun < start < end < over
        assert start - begun < end - start


@pytest.mark.parametrize("path", RANKS)
def test_a_real_loader_lies_within_its_step(path: str) -> None:
    with connected(path) as database:
        rows = database.execute(
            "SELECT value, startNs, endNs FROM PYTORCH_API JOIN STRING_IDS s ON s.id = name"
        ).fetchall()
    assert_within_steps([(name, int(start), int(end)) for name, start, end in rows])


@pytest.mark.parametrize("name", ["cnn-910a", "cnn-910b", "dense-8", "edge-310b"])
def test_a_loader_of_a_preset_lies_within_its_step(name: str) -> None:
    capture = simulate(preset(name), 5).capture(0)
    calls, texts = capture.activities, capture.texts.all
    rows = zip(calls.name.tolist(), calls.start.tolist(), calls.end.tolist(), strict=True)
    assert_within_steps([(texts[name], start, end) for name, start, end in rows])
