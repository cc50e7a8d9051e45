"""Samples of the host against what its threads did."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_timeline import kernel, operator, program, random_program, scene, timeline

from ascend_ref.capture import Switches
from ascend_simulator.choices import FaultChoice
from ascend_simulator.program.model import Copy, Launch, Prepare
from ascend_simulator.samples import record_host_samples
from ascend_spec import catalog

ALL = Switches(host_sys=("cpu", "mem", "disk", "network"))


def test_columns_are_those_of_the_newest_schema() -> None:
    newest = catalog().at(catalog().revisions[-1].id, "msprof")
    run = timeline(random_program(3, 200), 4, lead=50_000_000)
    tables = record_host_samples(scene(run, ALL))
    assert set(tables) == {
        "CPU_USAGE",
        "HOST_MEM_USAGE",
        "HOST_DISK_USAGE",
        "HOST_NETWORK_USAGE",
    }
    for name, table in tables.items():
        assert set(table) == set(newest.tables[name].columns)
        assert len({len(column) for column in table.values()}) == 1
        assert (table["timestampNs"] >= run.session[0]).all()
        assert (table["timestampNs"] <= run.session[1]).all()
        assert (table["usage"] >= 0).all()
        assert (table["usage"] <= 100).all()


@pytest.mark.parametrize("sampler", ["cpu", "mem", "disk", "network"])
def test_each_sampler_brings_its_table_and_moves_no_other(sampler: str) -> None:
    run = timeline(random_program(3, 200), 4, lead=50_000_000)
    alone = record_host_samples(scene(run, Switches(host_sys=(sampler,))))  # type: ignore[arg-type]
    together = record_host_samples(scene(run, ALL))
    (name,) = alone
    assert all((alone[name][key] == together[name][key]).all() for key in alone[name])
    assert record_host_samples(scene(run, Switches())) == {}


def test_busy_threads_load_their_processors() -> None:
    items = [Prepare(0, 200_000_000), Launch(1, (kernel(),))]
    run = timeline(program([operator(), operator()], items), 3, lead=50_000_000)
    table = record_host_samples(scene(run, ALL))["CPU_USAGE"]
    usage = table["usage"].reshape(-1, 64)
    most = usage.max(axis=0)
    assert (most > 50).sum() == 1
    length = np.diff(np.append(run.session[0], np.unique(table["timestampNs"])))
    loaded = (usage[:, most.argmax()] / 100 * length).sum()
    assert loaded == pytest.approx(600_000_000, rel=0.05)


def test_what_is_copied_to_the_device_was_read_from_disk() -> None:
    items = [Prepare(0, 200_000_000), Copy(1, 50_000_000, "host to device", 30_000)]
    run = timeline(program([operator(), operator()], items), 3, lead=50_000_000)
    table = record_host_samples(scene(run, ALL))["HOST_DISK_USAGE"]
    length = np.diff(np.append(run.session[0], table["timestampNs"]))
    assert not (table["readRate"] % 1024).any()
    assert (table["readRate"] * length).sum() / 1e9 == pytest.approx(150_000_000, rel=0.01)


def test_lost_samples_are_missing() -> None:
    run = timeline(random_program(3, 2_000), 4, lead=50_000_000)
    fault = FaultChoice("lost-samples", sampler="HOST_MEM_USAGE", steps=(0, 2))
    full = record_host_samples(scene(run, ALL))["HOST_MEM_USAGE"]["timestampNs"]
    left = record_host_samples(scene(run, ALL, (fault,)))["HOST_MEM_USAGE"]["timestampNs"]
    missing = set(full.tolist()) - set(left.tolist())
    assert missing
    assert all(run.step_starts[0] <= time < run.step_ends[2] for time in missing)
