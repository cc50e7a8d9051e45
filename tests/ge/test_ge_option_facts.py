"""The options, numbers and names of the spec are those of the evidence and of the document."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest

from ascend_ref.cli import main
from ascend_ref.tools.spec.lookup import find
from ascend_spec import catalog, ge_catalog, text_catalog

ROOT = Path(__file__).parents[2]
EVIDENCE = (ROOT / "docs/evidence/ge-profiling.md").read_text("utf-8")
SEED = ROOT.parent / "shared" / "seeds" / "003_e31998ad8281c695.txt"
needs_seed = pytest.mark.skipif(not SEED.is_file(), reason="the document is not in this clone")


def rows_of(section: str) -> list[list[str]]:
    """The rows of the first table of a section of the evidence."""
    part = EVIDENCE.split(f"\n### {section} ", 1)[1].split("\n### ", 1)[0]
    table = re.search(r"(?:^\|.*\n)+", part, re.M)
    assert table is not None
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def seed() -> str:
    return SEED.read_text("utf-8")


KEYS = rows_of("1.3")


def test_g17_g25_g28_the_31_keys_are_those_of_the_evidence() -> None:
    assert [row[0].strip("`") for row in KEYS] == list(ge_catalog().options)
    assert len(KEYS) == 31
    assert {row[0].strip("`") for row in KEYS} == set(ge_catalog().options_schema["properties"])


@pytest.mark.parametrize("row", KEYS, ids=lambda row: row[0].strip("`"))
def test_g28_a_key_has_the_type_and_publicity_of_the_evidence(row: list[str]) -> None:
    name = row[0].strip("`")
    node = ge_catalog().options_schema["properties"][name]
    assert node["type"] == ("integer" if row[1] == "integer" else "string")
    assert ge_catalog().options[name].public == (row[4] == "y")


@needs_seed
def test_g17_g18_g19_g20_g21_g22_g23_g24_g25_keys_of_the_document_are_there() -> None:
    part = seed().split("Configuration Item Description Example Value", 1)[1]
    named = [line.split()[0] for line in part.split("2.5")[0].strip().splitlines()]
    assert named == [
        "output", "training_trace", "fp_point", "bp_point", "task_trace", "hccl", "aicpu",
        "aic_metrics", "msproftx",
    ]  # fmt: skip
    assert set(named) <= set(ge_catalog().options)


@needs_seed
def test_g30_g31_g32_g33_g34_g35_g36_numbers_of_metrics_are_those_of_the_document() -> None:
    found = dict(re.findall(r"^(kAicore\w+) \((\d)\)", seed(), re.M))
    assert len(found) == 7
    metrics = ge_catalog().metrics
    assert {name: str(metrics[name].value) for name in found} == found


def test_g30_to_g38_numbers_and_texts_of_metrics_are_those_of_the_evidence() -> None:
    stated = {
        row[1]: (int(row[0]), re.findall(r"`([^`]+)`", row[2])[0])
        for row in rows_of("1.6")
        if row[1].startswith("kAicore")
    }
    held = {
        one.metric: (one.value, one.text) for one in ge_catalog().metrics.values() if one.public
    }
    assert held == stated
    others = {one.value for one in ge_catalog().metrics.values() if not one.public}
    assert others == {8, 255, None}


def test_g37_each_number_is_a_group_of_counters_with_its_columns() -> None:
    groups = text_catalog().pmu.groups
    for one in ge_catalog().metrics.values():
        if one.group is not None and one.text in (one.group, f"{one.group}:"):
            having = {p.id for p in catalog().products.values() if {*p.platforms} & {*one.chips}}
            assert {*groups[one.group].families} == having, one.metric
    assert {one.group for one in ge_catalog().metrics.values()} - {None} == set(groups)


def test_g156_g157_g158_g159_g160_g161_g162_types_have_the_bits_of_the_evidence() -> None:
    line = next(one for one in EVIDENCE.splitlines() if one.startswith("0 kCannHost (0x1)"))
    stated = {name: int(mask, 16) for name, mask in re.findall(r"(k\w+) \((0x\w+)\)", line)}
    assert {one.name: one.mask for one in ge_catalog().profiling_types.values()} == stated
    assert sum(stated.values()) == 0x7F


@needs_seed
def test_g157_to_g162_types_of_the_document_are_there() -> None:
    named = set(
        re.findall(r"^k(?:TaskTime|GeHost|Device|CannHost|CannHostL1|Memory)\b", seed(), re.M)
    )
    assert len(named) == 6
    assert named <= set(ge_catalog().profiling_types)


def test_g156_bits_of_switches_are_those_of_the_evidence() -> None:
    bits = ge_catalog().switch_bits
    for row in rows_of("1.8"):
        value = 1 << 63 if row[0] == "1<<63" else int(row[0], 16)
        names = re.sub(r" \(L0\)", "", row[1]).split(" = ")
        assert bits[names[0]].mask == value
        assert list(bits[names[0]].also) == names[1:]


@needs_seed
def test_g9_g10_g11_names_that_nothing_reads_are_known_to_be_wrong() -> None:
    named = set(re.findall(r"\b(?:GE|MM_ENV)_PROFILING_(?:MODE|OPTIONS)\b", seed()))
    assert len(named) == 4
    variables = ge_catalog().environment
    for name in named:
        meant = variables[name].instead_of_wrong
        assert meant == f"PROFILING_{name.rpartition('_')[2]}"
        assert "G1" in variables[name].errata


def test_g76_g77_g78_g79_g80_g84_the_order_of_the_initialisation() -> None:
    steps = [one.step for one in ge_catalog().entry.steps]
    assert steps == ["parse", "points", "state", "callback", "init"]
    last = ge_catalog().entry.steps[-1]
    assert "G32" in last.errata


def test_g28_the_schema_is_one_of_json_schema_and_holds_what_is_built_in() -> None:
    schema = ge_catalog().options_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(dict(ge_catalog().entry.built_in))
    for wrong in ({"outputs": "a"}, {"aicpu": True}, {"dvpp_freq": "50"}, {"sys_cpu_freq": 51}, []):
        assert not validator.is_valid(wrong)


NAMES = [
    ("ge.exec.profilingMode", "ge-entry"),
    ("ge.exec.profilingOptions", "ge-entry"),
    ("PROFILING_MODE", "ge-variable"),
    ("GE_PROFILING_MODE", "ge-variable"),
    ("MM_ENV_PROFILING_OPTIONS", "ge-variable"),
    ("training_trace", "ge-option"),
    ("fp_point", "ge-option"),
    ("bp_point", "ge-option"),
    ("task_trace", "ge-option"),
    ("output", "ge-option"),
    ("kAicorePipeUtilization", "aic-metric"),
    ("kAicoreL2Cache", "aic-metric"),
    ("kTaskTime", "profiling-type"),
    ("kCannHostL1", "profiling-type"),
    ("TASK_TIME_L1", "switch-bit"),
    ("InitProfiling", "ge-entry"),
    ("SetExecuteProfiling", "ge-entry"),
    ("EK0001", "ge-error"),
]


@pytest.mark.parametrize(("name", "kind"), NAMES)
def test_g4_g8_g18_g31_g75_g81_g82_g83_g157_a_name_of_the_document_is_found(
    name: str, kind: str
) -> None:
    assert find(name).kind == kind


@pytest.mark.parametrize("name", ["hccl", "aicpu", "aic_metrics", "msproftx", "task_time"])
def test_g22_g23_g24_g25_a_name_that_others_have_leads_on(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["spec", "show", name])
    out, err = capsys.readouterr()
    assert code in (0, 2)
    assert f"ge-option/{name}" in err or "Options of the graph engine" in out or name == "task_time"
    assert main(["spec", "show", f"ge-option/{name}"]) == 0
