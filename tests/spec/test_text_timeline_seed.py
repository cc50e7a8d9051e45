"""Seed 001: every field of a table about timelines is in the spec or named by an erratum."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from seed_tables import seed_text
from text_seed import text_sections

from ascend_spec import text_catalog, timeline_catalog
from ascend_spec.timeline import Layer

# The layers that tables are about, by the section and what the heading above them begins with.
ABOUT = {
    ("msprof", "SIO"): ["SIO"],
    ("msprof", "计算及通信算子融合MC²"): ["Ascend Hardware"],
    ("msprof", "电压"): ["Voltage Info"],
    ("task_time", "msprof"): ["Ascend Hardware"],
    ("api_statistic", "msprof"): ["CANN"],
    ("step_trace", "step_trace"): ["Step Trace"],
    ("step_trace", "数据读取时间分析"): ["Step Trace"],
    ("communication_statistic", "msprof"): ["Communication"],
    ("communication_statistic", "计算及通信的流水掩盖分析"): ["Overlap Analysis"],
    ("ai_core_utilization", "msprof"): ["AI Core Utilization"],
    ("hccs", "msprof"): ["HCCS"],
    ("nic", "msprof"): ["NIC"],
    ("roce", "msprof"): ["RoCE"],
    ("pcie", "msprof"): ["PCIe"],
    ("biu_group/aic_core_group/aiv_core_group", "msprof"): [
        "biu_group",
        "aic_core_group",
        "aiv_core_group",
    ],
    ("Acc PMU", "msprof"): ["Acc PMU"],
    ("Stars Soc Info", "msprof"): ["Stars Soc Info"],
    ("Stars Chip Trans", "msprof"): ["Stars Chip Trans"],
    ("llc_read_write", "msprof"): ["LLC"],
    ("host_cpu_usage", "msprof"): ["CPU Usage"],
    ("host_mem_usage", "msprof"): ["Memory Usage"],
    ("host_disk_usage", "msprof"): ["Disk Usage"],
    ("host_network_usage", "msprof"): ["Network Usage"],
    ("os_runtime_statistic", "msprof"): ["OS Runtime API"],
}
FIELDS = {
    "SIO": 8,
    "Ascend Hardware": 6 + 18,
    "Voltage Info": 2,
    "CANN": 6,
    "Step Trace": 12 + 3,
    "Communication": 25,
    "Overlap Analysis": 6,
    "AI Core Utilization": 3,
    "HCCS": 2,
    "NIC": 4,
    "RoCE": 4,
    "PCIe": 4,
    "biu_group": 4,
    "aic_core_group": 4,
    "aiv_core_group": 5,
    "Acc PMU": 4,
    "Stars Soc Info": 2,
    "Stars Chip Trans": 4,
    "LLC": 4,
    "CPU Usage": 3,
    "Memory Usage": 1,
    "Disk Usage": 1,
    "Network Usage": 1,
    "OS Runtime API": 3,
}
# Units of the seed that the spec does not have: what viewers show, and what errata are about.
OTHER_UNITS = {
    "Start": "ms",
    "Wall Duration": "ms",
    "Self Time": "ms",
    "FP Start": "ns",
    "BP End": "ns",
    "Iteration End": "ns",
    "GetNext Start": "ns",
    "GetNext End": "ns",
    "GetNext Time(ns)": "ns",
    "Aicore Time(ms)": "ms",
}


@dataclass(frozen=True)
class Field:
    """One row of a table, and the layer it is about."""

    layer: str
    name: str
    meaning: str

    @property
    def unit(self) -> str | None:
        found = re.search(r"单位([A-Za-z]+(?:/s)?)", self.meaning)
        return found[1] if found and found[1] != "B" else None


def fields() -> Iterator[Field]:
    """Every field of the tables about timelines; a row that names two is two."""
    for section in text_sections():
        for table in section.tables:
            if table.csv is not None:
                continue
            (layers,) = (
                about
                for (name, heading), about in ABOUT.items()
                if section.name == name and table.heading.startswith(heading)
            )
            layer = layers[0]
            for name, meaning in table.rows:
                if name.startswith("**"):
                    layer = name.strip("*") if name.strip("*") in layers else layer
                else:
                    yield from (Field(layer, one, meaning) for one in name.split("、"))


def documented(layer: Layer) -> dict[str, set[str | None]]:
    """What documents call parts of a layer, by the spec, with the units of the values there."""
    facts = timeline_catalog()
    found: dict[str, set[str | None]] = {
        name: {key.unit} for key in facts.keys.values() for name in key.shown_as
    }
    for thread in layer.threads:
        found.update({name: set() for name in thread.documented_as})
    for kind in layer.events:
        units = {arg.unit for arg in kind.args} | {facts.keys["dur"].unit}
        found.update(dict.fromkeys(kind.documented_as, units))
    for kind in layer.events:
        for arg in kind.args:
            for name in arg.documented_as:
                found[name] = {*found.get(name, set()), arg.unit}
    return found


def claims_of_the_seed(*identifiers: str) -> str:
    return " ".join(
        claim
        for identifier in identifiers
        for source, claim in text_catalog().errata[identifier].says
        if source == "seed-001"
    )


def test_every_table_about_timelines_is_read() -> None:
    assert Counter(field.layer for field in fields()) == FIELDS
    assert sum(FIELDS.values()) == 139
    tables = [table for one in text_sections() for table in one.tables if table.csv is None]
    assert len(tables) == len(ABOUT) == 24


def test_every_documented_field_is_in_the_spec_or_named_by_an_erratum() -> None:
    layers = timeline_catalog().layers
    lost = [
        (field.layer, field.name)
        for field in fields()
        if field.name not in documented(layers[field.layer])
    ]
    assert lost == [
        ("Ascend Hardware", "Task Time(us)"),
        ("Ascend Hardware", "Reduce Duration(us)"),
    ]
    assert text_catalog().errata["T30"].at == ("Ascend Hardware",)
    assert all(name in claims_of_the_seed("T30") for _, name in lost)


def test_nothing_is_said_to_be_documented_that_is_not() -> None:
    names = {(field.layer, field.name) for field in fields()}
    shown = {name for key in timeline_catalog().keys.values() for name in key.shown_as}
    for layer in timeline_catalog().layers.values():
        said = {(layer.name, name) for name in set(documented(layer)) - shown}
        assert said - names == set()


def test_an_arg_that_no_table_names_is_not_graded_documented() -> None:
    """Read here from the tables alone: the names that they have, whatever the spec says of them."""
    names = {(field.layer, field.name) for field in fields()}
    stated = {
        (layer.name, kind.kind, arg.name.template)
        for layer in timeline_catalog().layers.values()
        for kind in layer.events
        for arg in kind.args
        if arg.grade == "documented"
        and not any((layer.name, name) in names for name in arg.documented_as)
    }
    assert stated == set()
    assert timeline_catalog().layers["Communication"].grade == "documented"
    operator = timeline_catalog().layers["Communication"].event("operator")
    grades = {arg.name.template: arg.grade for arg in operator.args}
    assert (grades["rank_size"], grades["alg_type"]) == ("observed", "documented")


def test_units_of_documented_fields_are_those_of_the_spec_or_known_exceptions() -> None:
    layers = timeline_catalog().layers
    other = {
        field.name: field.unit
        for field in fields()
        if field.name in documented(layers[field.layer])
        if field.unit and field.unit not in documented(layers[field.layer])[field.name]
    }
    assert other == OTHER_UNITS
    told = claims_of_the_seed("T7", "T72")
    assert {unit for unit in other.values() if unit not in told} == set()


# --- arrows ------------------------------------------------------------------------


def part_of_the_first_section(heading: str) -> str:
    """What follows a heading of the section on the whole timeline."""
    found = re.search(rf"^\*\*{heading}.*?(?=^\*\*(?!图|表))", seed_text("seed-001"), re.M | re.S)
    assert found, f"no heading {heading}"
    return found[0]


def test_documented_arrows_are_the_flows_of_the_spec() -> None:
    text = part_of_the_first_section("查看算子下发方向")
    named = re.findall(r"^-   ([A-Za-z\\_]+)\uff1a", text, re.M)
    categories = [name.replace("\\_", "_") for name in named]
    assert categories == [
        "async_npu",
        "MsTx",
        "async_task_queue",
        "HostToDevice",
        "HostToDevice",
        "fwdbwd",
    ]
    of_mindspore = {"async_mindspore"}
    found = {flow.cat for flow in timeline_catalog().flows.values()}
    assert found - of_mindspore == set(categories)
