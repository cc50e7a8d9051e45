"""What of texts exporters are compared by."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path

import pytest

from ascend_conformance.difference.files import texts_below
from ascend_conformance.difference.texts import differences
from ascend_conformance.harness.exporters import Msprof, MsprofAnalyze
from ascend_ref.recorded import from_captures
from ascend_ref.timeline import write_timeline
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override, preset
from ascend_spec import text_catalog, timeline_catalog

LATE_US = 15
SECOND_US = 1_000_000


@pytest.mark.parametrize("exporter", [Msprof, MsprofAnalyze])
def test_what_an_exporter_writes_are_kinds_of_files(exporter: type) -> None:
    """Of a name that no file has nothing would ever be compared."""
    (claimed,) = (one.default for one in fields(exporter) if one.name == "features")
    assert claimed
    assert claimed - {*text_catalog().csv, *timeline_catalog().files} == set()


def test_arrows_are_paired_by_their_work(tmp_path: Path) -> None:
    """Late starts are wrong starts of these arrows, and no others that came or went."""
    capture = simulate(override(preset("cnn-910a"), ranks=2, steps=1)).capture(0)
    folders = [tmp_path / "own", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
        (path,) = write_timeline(
            from_captures([capture], "msprof"), folder, timestamp="20260101000000"
        )
    events = json.loads(path.read_text())
    starts = [one for one in events if one.get("cat") == "HostToDevice" and one["ph"] == "s"]
    for one in starts:
        one["ts"] = str(Decimal(one["ts"]) + LATE_US)
    path.write_text(json.dumps(events))
    own, other = (list(texts_below(folder)) for folder in folders)
    assert [(one.place, one.column, one.count) for one in differences(own, other)] == [
        ("msprof.json: arrows", "start_ns", len(starts))
    ]


def test_rows_of_two_devices_are_paired_on_their_own(tmp_path: Path) -> None:
    """All of one device are late by a second, and so behind all of the other device."""
    run = simulate(override(preset("dense-8"), ranks=2, steps=1))
    folders = [tmp_path / "own", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
        captures = [run.capture(0), run.capture(1)]
        (path,) = write_timeline(
            from_captures(captures, "msprof"), folder, timestamp="20260101000000"
        )
    events = json.loads(path.read_text())
    layers = [one["pid"] for one in events if one.get("args", {}).get("name") == "Overlap Analysis"]
    free = [one for one in events if one["name"] == "Free" and one["pid"] in layers]
    for one in free:
        late = SECOND_US if one["pid"] == min(layers) else LATE_US
        one["ts"] = str(Decimal(one["ts"]) + late)
    path.write_text(json.dumps(events))
    own, changed = (list(texts_below(folder)) for folder in folders)
    assert [(one.place, one.column, one.count) for one in differences(own, changed)] == [
        ("msprof.json: Overlap Analysis", "ts", len(free))
    ]


@pytest.mark.exhaustive
def test_rates_of_qos_are_compared_as_databases_hold_them(tmp_path: Path) -> None:
    """Whole between texts of raw files; of a database what 32 bits of Byte/s hold (erratum E36)."""
    capture = simulate(override(preset("observed-everything"), ranks=1, steps=1)).capture(0)
    rates = capture.samples["QOS"]["bandwidth"]
    assert rates.max() >> 32
    kept = dict(capture.samples["QOS"], bandwidth=rates % (1 << 32))
    sides = []
    for name, samples in (("whole", capture.samples["QOS"]), ("kept", kept)):
        folder = tmp_path / name
        folder.mkdir()
        shown = replace(capture, samples={**capture.samples, "QOS": samples})
        write_timeline(from_captures([shown], "msprof"), folder, timestamp="20260101000000")
        sides.append(list(texts_below(folder)))
    assert differences(*sides, of_database=True) == []
    (found,) = differences(*sides)
    assert (found.place, found.column) == ("msprof.json: QoS", "value")
    assert found.count == int((rates >> 32 > 0).sum())
