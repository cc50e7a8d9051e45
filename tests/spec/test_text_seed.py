"""Each field of each CSV section of seed 001 is in the spec or named by an erratum."""

from __future__ import annotations

import re
from itertools import product

import pytest
from seed_tables import seed_text
from text_seed import FieldTable, Section, text_sections

from ascend_spec import text_catalog

REGISTERS = "寄存器值"


@pytest.fixture(scope="module")
def sections() -> list[Section]:
    return text_sections()


def csv_tables(sections: list[Section]) -> list[FieldTable]:
    return [table for section in sections for table in section.tables if table.csv]


def headers(table: FieldTable) -> set[str]:
    """Every header text that the file has, of the table's metrics where it names some."""
    texts = text_catalog()
    file = texts.csv[str(table.csv)]
    if file.pmu is None:
        return {name for column in file.columns for name in column.names}
    groups = [table.metrics] if table.metrics else list(texts.pmu.groups)
    found: set[str] = set()
    for writer, metrics in product(file.writers.values(), groups):
        for family in set(writer.families) & set(texts.pmu.groups[metrics].families):
            for scene in ((), ("per-graph",)):
                found |= set(
                    file.header(writer=writer.id, family=family, metrics=metrics, scene=scene)
                )
    return found | {name for column in file.own_columns for name in column.names}


def spelled(field: str) -> list[str]:
    """What a field with stars may be called: a leading one stands for the core, one after r for
    a channel.
    """
    names = (
        [prefix + field[2:] for prefix in ("aic_", "aiv_", "")] if field[:2] == "*_" else [field]
    )
    return [name.replace("r*_", f"r{channel}_") for name in names for channel in (0, 1)]


def errata_about(csv: str, field: str) -> list[str]:
    """The errata on a file or on the layout of its counters that quote a field of the document."""
    name = field.removeprefix("*_")
    return [
        erratum.id
        for erratum in text_catalog().errata.values()
        if {csv, "pmu-layout"} & {place.partition("/")[0] for place in erratum.at}
        and name in " ".join((erratum.title, *(claim for _, claim in erratum.says)))
    ]


def test_the_seed_was_read_completely(sections: list[Section]) -> None:
    assert len(sections) == 50
    assert all(section.families for section in sections)
    assert sum(len(section.csv) for section in sections) == 46
    assert len(csv_tables(sections)) == 61
    assert sum(len(table.fields) for table in csv_tables(sections)) == 457
    timeline = [table for s in sections for table in s.tables if not table.csv]
    assert sum(len(table.fields) for table in timeline) == 139


def test_a_file_whose_section_has_no_table_is_shown_in_a_picture(sections: list[Section]) -> None:
    tabulated = {table.csv for table in csv_tables(sections)}
    assert {name for section in sections for name in section.csv} - tabulated == {"npu_mem"}
    assert "T24" in text_catalog().csv["npu_mem"].errata


def test_every_field_is_in_the_spec_or_named_by_an_erratum(sections: list[Section]) -> None:
    missing = {
        (table.csv, table.metrics, field): errata_about(str(table.csv), field)
        for table in csv_tables(sections)
        for known in [headers(table)]
        for field in table.fields
        if field != REGISTERS and not known.intersection(spelled(field))
    }
    assert missing == {
        ("op_summary", "Memory", "*_l2_read_bw"): ["T28", "T46"],
        ("op_summary", "Memory", "*_l2_write_bw"): ["T28", "T46"],
        ("op_summary", "PipelineExecuteUtilization", "cube_utilization(%)"): ["T13", "T40", "T47"],
        ("ai_core_utilization", "Memory", "l2_read_bw"): ["T28", "T46"],
        ("ai_core_utilization", "Memory", "l2_write_bw"): ["T28", "T46"],
    }


def test_a_column_that_no_table_names_is_not_graded_documented(sections: list[Section]) -> None:
    named: dict[str, set[str]] = {}
    for table in csv_tables(sections):
        names = {name for field in table.fields for name in spelled(field)}
        named.setdefault(str(table.csv), set()).update(names)
    stated = {
        (file.name, column.name)
        for file in text_catalog().csv.values()
        for column in file.own_columns
        if column.grade == "documented"
        and not named.get(file.name, set()).intersection(column.names)
    }
    assert stated == set()


def test_a_metric_that_no_table_names_is_not_graded_documented(sections: list[Section]) -> None:
    """Totals have names of their own in headers; registers are named by their numbers."""
    fields = {field for table in csv_tables(sections) for field in table.fields}
    named = {re.sub(r"^(aic_|aiv_|\*_)|\(.*\)$", "", field) for field in fields}
    named |= {re.sub(r"^(aic_|aiv_|\*_)|\(.*\)$", "", name) for name in spelled_all(fields)}
    pmu = text_catalog().pmu
    used = {
        name for group in pmu.groups.values() for order in group.orders for name in order.metrics
    }
    stated = {
        name
        for name in used
        if pmu.metrics[name].grade == "documented" and pmu.metrics[name].shown not in named
    }
    assert stated == set()
    # What the metrics of 950 are made of, the document does not say: it does not know the product.
    assert not any("950" in (*one.families, *one.not_families) for one in sections)
    own = {name for name in used if name.endswith("_v6")}
    assert {name for name in used if pmu.metrics[name].grade != "documented"} == own | {
        *("ub_read_bw_mte", "ub_write_bw_mte", "fixp2ub_write_bw"),
        # The document has their names, but not the registers of 310B.
        *("ub_read_bw_vector_310b", "ub_write_bw_vector_310b"),
    }


def spelled_all(fields: set[str]) -> set[str]:
    return {name for field in fields for name in spelled(field)}


def test_chosen_registers_are_columns_of_op_summary(sections: list[Section]) -> None:
    named = {table.csv for table in csv_tables(sections) if REGISTERS in table.fields}
    assert named == {"op_summary"}
    header = (
        text_catalog()
        .csv["op_summary"]
        .header(writer="cpp", family="A2", metrics="Custom", registers=("r500", "r502"))
    )
    assert header[-8:] == (
        *("aicore_time(us)", "aic_total_cycles", "aic_r500", "aic_r502"),
        *("aiv_time(us)", "aiv_total_cycles", "aiv_r500", "aiv_r502"),
    )


def test_every_csv_file_of_the_spec_is_in_the_seed_or_known_from_elsewhere(
    sections: list[Section],
) -> None:
    documented = {name for section in sections for name in section.csv}
    others = set(text_catalog().csv) - documented
    assert documented - set(text_catalog().csv) == set()
    assert others == {
        *("ccu_channel", "ccu_mission", "llc_aicpu", "llc_bandwidth", "llc_ctrlcpu"),
        *("page_fault", "soc_pmu", "ub"),
        *("dataset", "kernel_details", "operator_details", "step_trace_time"),
    }
    assert {name for name in others if text_catalog().csv[name].grade == "documented"} == set()


def test_a_documented_file_cites_its_section(sections: list[Section]) -> None:
    for section in sections:
        for name in section.csv:
            assert text_catalog().csv[name].grade == "documented", name
            assert any(cited.startswith("seed-001") for cited in text_catalog().csv[name].source)


def test_the_timeline_shows_what_the_seed_says_it_shows(sections: list[Section]) -> None:
    differing = {
        name: section.in_timeline
        for section in sections
        for name in section.csv
        if section.in_timeline not in (None, bool(text_catalog().csv[name].timeline))
    }
    assert differing == {}
    silent = [section.name for section in sections if section.csv and section.in_timeline is None]
    assert silent == ["dp", "aicpu_mi"]


def test_what_is_collected_by_default_is_what_the_seed_lists() -> None:
    listed = re.findall(r"^\|(\w+)_\*\.csv\|", seed_text("seed-001").replace("\\_", "_"), re.M)
    files = text_catalog().csv.values()
    assert {file.name for file in files if file.by_default} == set(listed) - {"msprof_tx"}
    assert set(listed) - {"msprof_tx"} == {
        *("op_summary", "op_statistic", "step_trace", "task_time", "fusion_op", "api_statistic")
    }


def test_what_single_operators_lack_needs_a_graph(sections: list[Section]) -> None:
    text = seed_text("seed-001").replace("\\_", "_")
    lacking = set(re.findall(r"^\|(\w+)_\*\.csv\|[^|]*单算子场景[^|]*无此", text, re.M))
    assert lacking == {"step_trace", "fusion_op"}
    assert {name for name in lacking if "graph" not in text_catalog().csv[name].needs} == set()
