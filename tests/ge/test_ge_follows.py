"""What explain names is what a simulated run has that is collected by the same options."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ge_following import PRODUCTS, does, written
from slices import some

from ascend_ref.ge.options.explain import Explanation, explain
from ascend_ref.ge.options.given import Given, decide
from ascend_ref.ge.options.settings import settings_of
from ascend_spec import catalog, ge_catalog

FIRST: Mapping[str, Any] = {"output": "folder"}
VALUES: Mapping[str, tuple[Any, ...]] = {
    "storage_limit": ("500MB", "1MB", "none"),
    "training_trace": ("on", ""),
    "fp_point": ("data", ""),
    "bp_point": ("gradients",),
    "task_trace": ("on", "off", "l0", "l1", "l2"),
    "task_time": ("on", "off", "l0", "l1", "l2", "l3", ""),
    "ge_api": ("l0", "l1", "off", ""),
    "hccl": ("on", "off", ""),
    "aicpu": ("on", "off", ""),
    "aic_metrics": ("PipeUtilization", "", "Memory", "MemoryL0", "MemoryUB", "L2Cache"),
    "l2": ("on", "off"),
    "msproftx": ("on", "off"),
    "runtime_api": ("on", "off", ""),
    "task_memory": ("on", "off"),
    "task_tsfw": ("on", "off"),
    "task_block": ("all", "off"),
    "instr_profiling": ("on", "off"),
    "instr_profiling_freq": (300, 30_000),
    "sys_hardware_mem_freq": (1, 50, 100),
    "sys_io_sampling_freq": (1, 100),
    "sys_interconnection_freq": (1, 50),
    "sys_cpu_freq": (1, 50),
    "dvpp_freq": (1, 100),
    "sys_lp_freq": (1, 100),
    "sys_mem_serviceflow": ("a",),
    "llc_profiling": ("read", "write"),
    "host_sys": ("cpu", "mem,disk", "network,osrt", "cpu,mem,disk,network,osrt,numa", "numa"),
    "host_sys_usage": ("cpu", "mem", "mem,cpu"),
    "host_sys_usage_freq": (1, 50),
    "optype": ("MatMulV2,Add",),
}
"""Values of each key, as its documents have them."""
SAMPLE = "A2"
REPEATED = {"Reduce Start(us)", "Reduce Duration(us)"}
"""As often as an iteration has collectives."""


def explained(product: str, options: Mapping[str, Any]) -> Explanation:
    return explain(Given("1", json.dumps(options)), product)


@cache
def is_taken(product: str, name: str, value: object) -> bool:
    """Whether the collector takes a value there."""
    decision = decide(Given("1", json.dumps({**FIRST, name: value})))
    return decision.on and not settings_of(decision, product).problems


def product_of(name: str) -> str:
    """A product that takes a key."""
    return next(one for one in (SAMPLE, *PRODUCTS) if is_taken(one, name, VALUES[name][0]))


@cache
def drawn(seed: int) -> tuple[str, dict[str, Any]]:
    """A product and options that it takes."""
    choice = random.Random(seed)
    product = choice.choice(PRODUCTS)
    options = dict(FIRST)
    for name, values in VALUES.items():
        value = choice.choice(values)
        if choice.random() < 0.4 and is_taken(product, name, value):
            options[name] = value
    return product, options


def compare(product: str, options: Mapping[str, Any], folder: Path) -> None:
    """Names and headers of what is there, with what is named."""
    explanation = explained(product, options)
    assert explanation.settings is not None
    assert not explanation.settings.problems
    named = {
        one.address: list(one.columns) for one in explanation.things if does(one.program, product)
    }
    there = written(folder, product, options)
    if explanation.settings.level is None:  # without tasks there may be no name to be hashed
        for held in (there, named):
            held.pop("raw/hash_dic", None)
    assert sorted(there.keys() - named.keys()) == []
    assert sorted(named.keys() - there.keys()) == []
    for address, columns in there.items():
        if columns:
            assert set(named[address]) - REPEATED == set(columns) - REPEATED, address


def test_every_key_has_values() -> None:
    assert {*VALUES, *FIRST} == set(ge_catalog().options)


KEYS = [(name, value) for name, values in VALUES.items() for value in values]


@pytest.mark.parametrize(("name", "value"), some(KEYS, every=48))
def test_g29_what_a_key_records_is_what_is_named(name: str, value: Any, tmp_path: Path) -> None:
    product = product_of(name)
    if not is_taken(product, name, value):
        pytest.skip(f"{product} does not take it")
    compare(product, {**FIRST, name: value}, tmp_path)


@pytest.mark.parametrize("seed", some(range(200), every=100))
def test_g29_what_drawn_options_record_is_what_is_named(seed: int, tmp_path: Path) -> None:
    compare(*drawn(seed), tmp_path)


def test_g29_drawn_options_are_many_and_of_all_products() -> None:
    every = [drawn(seed) for seed in range(200)]
    assert {product for product, _ in every} == set(PRODUCTS)
    assert {name for _, options in every for name in options} >= set(ge_catalog().options)


def test_g29_every_product_of_the_matrix_is_simulated_or_has_no_database() -> None:
    assert {one for one in catalog().products if one not in PRODUCTS} == {"310"}
