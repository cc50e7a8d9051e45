"""Which switch makes which record, on which product; and that nothing else changes.

The table below is that of seed 001 (the products of each file), text-outputs.md 3.1 and 3.9, and of
msprof's own options; none of it comes from the code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from record_rows import EVERYTHING, TRAINS, captured, everything, scenario
from slices import few, some

from ascend_ref.capture import RECORDS, Capture, Switches
from ascend_ref.capture.merge import merged
from ascend_ref.db.encode import encode
from ascend_simulator import simulate
from ascend_simulator.choices import ProductName
from ascend_simulator.faker import RunNames, run_names
from ascend_simulator.scenario import ScenarioError, override, parse, preset
from ascend_spec import catalog
from ascend_spec.db.model import Carrier

PRODUCTS: tuple[ProductName, ...] = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
NOTHING = Switches(aic_metrics=None, record_shapes=False)
REVISION = "1.2.0-2026-07"
TRANSLATES = {"A2", "A3", "950"}
"""Products whose translations of addresses are counted."""
FLOWS = {"A2", "A3"}
"""Products whose groups of cores are sampled; a 950 records single instructions in their place."""
PROCESSORS = {
    f"{processor}_{name}": products
    for processor, products in {
        "ai_cpu": set(PRODUCTS),
        "ctrl_cpu": set(PRODUCTS),
        "ts_cpu": set(PRODUCTS) - {"950"},
    }.items()
    for name in ("top_function", "pmu_events")
}
VOLTAGES = {"A2", "A3"}
"""Products that record their voltages, whatever is asked for."""
GRAPH = {"fusion_op", "step_trace", "step_trace_get_next"}

MADE: Mapping[str, tuple[dict[str, Any], dict[str, set[str]]]] = {
    "nothing": ({}, {}),
    "l2": ({"l2": True}, {"l2_cache": set(PRODUCTS)}),
    "soc_pmu": ({"soc_pmu": True}, {"soc_pmu": TRANSLATES, "page_fault": TRANSLATES}),
    "aicpu": (
        {"aicpu": True},
        {"aicpu": set(PRODUCTS), "aicpu_mi": set(PRODUCTS), "dp": {"910A"}},
    ),
    "dvpp": ({"dvpp": 50}, {"dvpp": set(PRODUCTS) - {"310P"}}),
    "memory": ({"memory": True}, {"static_op_mem": set(PRODUCTS)}),
    "sys_profiling": (
        {"sys_profiling": 10},
        {"sys_mem": set(PRODUCTS), "cpu_usage": set(PRODUCTS)},
    ),
    "sys_pid": (
        {"sys_pid": 10},
        {"process_mem": set(PRODUCTS), "process_cpu_usage": set(PRODUCTS)},
    ),
    "sys_cpu": ({"sys_cpu": 50}, PROCESSORS),
    "instr": (
        {"instr": 30_000},
        {"biu_flow": FLOWS, "biu_cycles": FLOWS, "biu_perf": {"950"}},
    ),
    "sys_interconnection": (
        {"sys_interconnection": 50},
        {
            f"ccu_{name}": {"950"}
            for name in ("mission", "channel", "task_info", "group_info", "wait_signal_info")
        }
        | {"pa_link": {"A2", "A3"}, "pcie_link": {"950"}},
    ),
    "host_sys_usage cpu": (
        {"host_sys_usage": ("cpu",)},
        {"cpu_usage": set(PRODUCTS), "process_cpu_usage": set(PRODUCTS)},
    ),
    "host_sys_usage mem": (
        {"host_sys_usage": ("mem",)},
        {"sys_mem": set(PRODUCTS), "process_mem": set(PRODUCTS)},
    ),
    "host_sys cpu": ({"host_sys": ("cpu",)}, {"host_cpu_usage": set(PRODUCTS)}),
    "host_sys mem": ({"host_sys": ("mem",)}, {"host_mem_usage": set(PRODUCTS)}),
    "host_sys network": ({"host_sys": ("network",)}, {"host_network_usage": set(PRODUCTS)}),
}
"""Switch: what it sets, and the records that it makes of a graph whose device prepares data."""


def expected(product: str, switch: str) -> set[str]:
    made = {name for name, products in MADE[switch][1].items() if product in products}
    usual = GRAPH | ({"step_trace_reduce"} if product in TRAINS else set())
    return made | usual | ({"voltage"} if product in VOLTAGES else set())


def taken(capture: Capture) -> set[str]:
    """Records with rows, all of one length and of the columns that are declared."""
    for name, columns in capture.records.items():
        assert list(columns) == list(RECORDS[name].columns)
        assert len({len(values) for values in columns.values()}) == 1
        assert all(values.dtype == np.int64 for values in columns.values())
        assert len(columns[next(iter(columns))])
    return set(capture.records)


@pytest.mark.exhaustive
@pytest.mark.parametrize("product", few(PRODUCTS, every=3))
def test_every_switch_makes_its_records(product: ProductName) -> None:
    for switch, (chosen, _) in MADE.items():
        capture = captured(scenario(product), replace(NOTHING, **chosen))
        assert taken(capture) == expected(product, switch), switch


@pytest.mark.parametrize("product", PRODUCTS)
def test_without_the_device_nothing_is_told(product: ProductName) -> None:
    assert taken(captured(scenario(product), replace(EVERYTHING, npu=False))) == set()


def test_some_product_has_every_record() -> None:
    found = {name for product in PRODUCTS for name in taken(everything(product))}
    assert found == RECORDS.keys()


def test_the_preset_makes_every_record() -> None:
    """On one product or another."""
    museum = preset("text-museum")
    found: set[str] = set()
    for product in PRODUCTS:
        hardware = replace(museum.hardware, product=product)
        ranks = 2 if product in TRAINS else 1
        chosen = override(replace(museum, hardware=hardware), ranks=ranks)
        found |= taken(simulate(chosen, 0).capture(0))
    assert found == RECORDS.keys()


OF_BOTH = {"sys_mem", "process_mem", "cpu_usage", "process_cpu_usage"}
"""Records of the device and the host, which have switches of their own."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("product", some(PRODUCTS, every=2))
def test_a_record_is_the_same_whatever_else_is_on(product: ProductName) -> None:
    whole = everything(product)
    texts = [*whole.texts.all, None]
    for chosen, _ in MADE.values():
        part = captured(scenario(product), replace(NOTHING, level=2, **chosen))
        own = [*part.texts.all, None]
        for name in part.records.keys() - OF_BOTH:
            for column, values in part.records[name].items():
                other = whole.records[name][column]
                if column in RECORDS[name].texts:
                    assert [own[at] for at in values] == [texts[at] for at in other]
                else:
                    assert values.tolist() == other.tolist(), (name, column)


@pytest.mark.exhaustive
@pytest.mark.parametrize("carrier", some(["pytorch", "msprof"], every=2))
@pytest.mark.parametrize("product", ["A2", "910A"])
def test_databases_know_nothing_of_what_only_texts_tell(product: ProductName, carrier: Any) -> None:
    schema = catalog().at(catalog().revisions[-1].id, carrier)
    before = encode(captured(scenario(product), NOTHING), schema)
    for switch, (chosen, _) in MADE.items():
        if switch in ("memory", "sys_interconnection") or switch.startswith("host_sys "):
            continue
        after = encode(captured(scenario(product), replace(NOTHING, **chosen)), schema)
        for name, columns in before.items():
            for column, values in columns.items():
                assert after[name][column].tolist() == values.tolist(), (switch, name, column)


BEFORE = {
    "single-op": "a24df0dbb3cd6e07397deda2f366937d689025e56e95db6f821c71ced50fe9c8",
    "edge-310b": "0ac4f38ae72d657d1f94de4ba4af94e0b183338c4fa41750f6d5355b49ec7c61",
    "inference-310p": "c8f7f48f1c29f24de47ebd2fab09b7debdc874a195b057e7e1c4c2506152e03d",
}
"""Digests of what databases held before there were records, with seed 7 at revision REVISION.

Those of edge-310b and inference-310p were taken anew when loaders began after their step, which
moved two starts of PYTORCH_API in each, and that of edge-310b when its chip had one cache in place
of four (U18). No other value was another one.
"""


class NamesOfBefore(RunNames):
    """The host's name and uid of the time before names came from Faker."""

    def host(self, number: int) -> tuple[str, int]:
        return f"node-{number + 1}", 3_538_958_389_648_580_163 + number


@pytest.mark.parametrize("name", BEFORE)
def test_databases_hold_what_they_held_before_there_were_records(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = NamesOfBefore(**asdict(run_names(7)))
    monkeypatch.setattr("ascend_simulator.world.timeline.run_names", lambda _seed: names)
    found = hashlib.sha256()
    capture = simulate(preset(name), 7).capture(0)
    carriers: tuple[Carrier, ...] = ("pytorch", "msprof", "analysis")
    for carrier in carriers:
        for table, columns in encode(capture, catalog().at(REVISION, carrier)).items():
            for column, values in columns.items():
                found.update(f"{carrier} {table}.{column} {values.tolist()}\n".encode())
    assert found.hexdigest() == BEFORE[name]


def test_a_run_tells_the_same_records_again() -> None:
    again = captured(scenario("910A"))
    assert again.texts.all == everything("910A").texts.all
    for name, columns in everything("910A").records.items():
        for column, values in columns.items():
            assert values.tobytes() == again.records[name][column].tobytes()


def test_several_devices_of_a_process_share_their_host() -> None:
    chosen = replace(scenario("A2"), capture=EVERYTHING)
    parallelism = replace(chosen.parallelism, devices_per_process=2)
    parts = list(simulate(replace(chosen, parallelism=parallelism), 3).captures())
    whole = merged(parts)
    assert whole.records.keys() == parts[0].records.keys()
    texts = [np.array([*one.texts.all, None], object) for one in (whole, *parts)]
    for name, columns in whole.records.items():
        first, second = (part.records[name] for part in parts)
        for column, values in columns.items():
            kept = np.ones(len(second[column]), bool)
            if "device" in second:
                kept = second["device"] != -1
            if column in RECORDS[name].texts:
                after = [texts[0][at] for at in values]
                before = [texts[1][at] for at in first[column]]
                before += [texts[2][at] for at in second[column][kept]]
            else:
                after = values.tolist()
                before = [*first[column].tolist(), *second[column][kept].tolist()]
            assert after == before, (name, column)


WRONG = {
    "capture: {instr: 100}": "capture.instr is 100; expected 0 or at least 300 (cycles)",
    "capture: {instr: 40000}": "expected an integer from 0 to 30000 (cycles)",
    "capture: {sys_profiling: 50}": (
        "capture.sys_profiling is 50; expected an integer from 0 to 10 (Hz)"
    ),
    "capture: {aicpu: 1}": "capture.aicpu is 1; expected true or false",
    "capture: {host_sys_usage: [disk]}": (
        "capture.host_sys_usage[0] is the text 'disk'; expected one of cpu, mem"
    ),
    "model: {kind: cnn, preprocess: dvpp}": (
        "model.preprocess is the text 'dvpp'; expected one of host, device"
    ),
    "model: {kind: moe, preprocess: device}": "model.preprocess is not read by kind moe",
    "model: {kind: single-operator, layers: 2}": (
        "model.layers is not read by kind single-operator; "
        "expected only kind, data_type, operator, shape, graph"
    ),
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_about_a_switch_is_said(line: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(WRONG[line])):
        parse(line, "mine")
