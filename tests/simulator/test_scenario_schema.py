"""The published schema, the dataclasses and the presets say the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, fields
from functools import partial
from typing import Any, get_args

import pytest
from hypothesis import find, given, settings
from jsonschema import Draft202012Validator

from ascend_ref.capture import Switches
from ascend_simulator.choices import FaultKind, ModelKind
from ascend_simulator.scenario import (
    FaultChoice,
    HardwareChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
    parse,
    preset,
    preset_names,
    preset_text,
    presets,
    run_schema,
    to_document,
    to_yaml,
    validate,
)
from ascend_simulator.scenario.estimate import rows_per_rank
from ascend_simulator.strategies import scenarios

SECTIONS = {
    "hardware": HardwareChoice,
    "model": ModelChoice,
    "parallelism": Parallelism,
    "schedule": Schedule,
    "capture": Switches,
    "fault": FaultChoice,
}
VALIDATOR = Draft202012Validator(run_schema().value)


def pairs() -> Iterator[tuple[str, dict[str, Any], type, Field[Any]]]:
    """Every field of a section, as the schema and as the dataclass have it."""
    for section, kind in SECTIONS.items():
        for field in fields(kind):
            yield (
                section,
                run_schema().value["$defs"][section]["properties"][field.name],
                kind,
                field,
            )


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(run_schema().value)


@pytest.mark.parametrize("section", SECTIONS)
def test_both_have_the_same_fields_in_the_same_order(section: str) -> None:
    described = run_schema().value["$defs"][section]["properties"]
    assert list(described) == [field.name for field in fields(SECTIONS[section])]


def test_the_schema_has_the_sections_of_a_scenario() -> None:
    assert list(run_schema().value["properties"]) == [field.name for field in fields(Scenario)]


@pytest.mark.parametrize(("section", "described", "kind", "field"), list(pairs()))
def test_every_field_is_described_and_bounded(
    section: str, described: dict[str, Any], kind: type, field: Field[Any]
) -> None:
    assert described["description"].endswith("."), f"{section}.{field.name}"
    if "integer" in described.get("type", ()) and "enum" not in described:
        assert {"minimum", "maximum"} <= described.keys()


def test_types_choices_and_defaults_come_from_the_fields() -> None:
    """One of each form, as it stood in the schema when that stated it by hand."""
    capture, fault = run_schema().fields("capture"), run_schema().fields("fault")
    level = {"type": "integer", "enum": [0, 1, 2], "default": 1}
    assert {key: capture["level"][key] for key in level} == level
    gc = {"type": "boolean", "default": False}
    assert {key: capture["gc"][key] for key in gc} == gc
    host = {"type": "array", "uniqueItems": True, "default": []}
    assert {key: capture["host_sys"][key] for key in host} == host
    assert capture["host_sys"]["items"]["enum"] == ["cpu", "mem", "disk", "network", "osrt"]
    link = {"type": ["array", "null"], "minItems": 2, "maxItems": 2, "default": None}
    assert {key: fault["link"][key] for key in link} == link
    assert fault["link"]["items"] == {"type": "integer", "minimum": 0, "maximum": 65535}
    assert run_schema().value["$defs"]["fault"]["required"] == ["kind"]
    assert run_schema().value["properties"]["faults"]["default"] == []
    assert "default" not in fault["kind"]


@pytest.mark.parametrize("kind", get_args(ModelKind))
def test_every_kind_of_model_names_what_it_reads(kind: str) -> None:
    assert set(run_schema().read_by("model", kind)) <= {field.name for field in fields(ModelChoice)}


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_every_kind_of_fault_names_what_it_reads(kind: str) -> None:
    assert set(run_schema().read_by("fault", kind)) <= {field.name for field in fields(FaultChoice)}


def test_every_field_is_read_by_some_kind() -> None:
    models = {name for kind in get_args(ModelKind) for name in run_schema().read_by("model", kind)}
    faults = {name for kind in get_args(FaultKind) for name in run_schema().read_by("fault", kind)}
    assert models == {field.name for field in fields(ModelChoice)}
    assert faults == {field.name for field in fields(FaultChoice)}


def test_an_empty_mapping_is_the_default_scenario() -> None:
    assert parse("{}") == Scenario()


def test_there_are_presets_for_every_kind_of_model_and_product() -> None:
    assert len(presets()) >= 10
    assert {one.model.kind for one in presets().values()} == set(get_args(ModelKind))
    assert {one.hardware.product for one in presets().values()} == {
        "A2",
        "A3",
        "910A",
        "310P",
        "200I-500-A2",
        "950",
    }


def test_presets_come_smallest_first() -> None:
    sizes = [rows_per_rank(one) * one.parallelism.ranks for one in presets().values()]
    assert sizes == sorted(sizes)
    assert next(iter(presets())) == "single-op"
    assert presets()["moe-64"].parallelism.ranks == 64


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_valid_named_and_summed_up_in_a_line(name: str) -> None:
    scenario = preset(name)
    assert scenario.name == name
    assert 10 < len(scenario.summary) <= 100
    assert scenario.summary.endswith(".")
    VALIDATOR.validate(to_document(scenario))
    assert parse(preset_text(name)) == presets()[name]


@settings(deadline=None, max_examples=30)
@given(scenarios())
def test_drawn_scenarios_are_possible_and_survive_being_written(scenario: Scenario) -> None:
    assert validate(scenario) == scenario
    VALIDATOR.validate(to_document(scenario))
    assert parse(to_yaml(scenario)) == scenario


@settings(deadline=None, max_examples=20)
@given(scenarios(max_ranks=1, max_steps=1, max_faults=0))
def test_drawn_scenarios_keep_their_bounds(scenario: Scenario) -> None:
    assert scenario.parallelism.ranks == scenario.schedule.active == 1
    assert not scenario.faults


def differs(section: str, name: str, scenario: Scenario) -> bool:
    """Whether a field has another value than its default."""
    own, default = (getattr(one, section) for one in (scenario, Scenario()))
    return bool(getattr(own, name) != getattr(default, name))


@pytest.mark.exhaustive
def test_every_field_is_drawn_at_other_values_than_its_default() -> None:
    """A field that no draw reaches is one that no property is tested with."""
    names = {(section, field.name) for section, _, _, field in pairs() if section != "fault"}

    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @given(scenarios(max_faults=0, of_cann=True))
    def strike(scenario: Scenario) -> None:
        names.difference_update([place for place in names if differs(*place, scenario)])

    strike()
    for section, name in names:  # rarer ones, each searched for; raises NoSuchExample
        find(
            scenarios(max_faults=0, of_cann=True),
            partial(differs, section, name),
            settings=settings(max_examples=3000, deadline=None, database=None),
        )


@pytest.mark.campaign
def test_drawn_scenarios_shrink_to_one_operator_on_one_rank() -> None:
    simplest = find(scenarios(), lambda _: True)
    assert simplest.model.kind == "single-operator"
    assert set(simplest.model.shape) == {1}
    assert simplest.parallelism == Parallelism()
    assert simplest.schedule == Schedule(warmup=0, active=1)
    assert not simplest.faults
