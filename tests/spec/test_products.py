"""Products against the documents that name them: the seed, read anew, and the exporter's gates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_vocabulary import errors
from text_seed import FAMILIES, text_sections

import ascend_spec
from ascend_ref.cli import main
from ascend_spec import catalog, text_catalog, timeline_catalog

FOLDER = Path(ascend_spec.__file__).parent / "products"
FAMILY_DOCUMENTS = sorted((FOLDER / "families").glob("*.yaml"))
SEED = frozenset(FAMILIES.values())

# Platforms of each parser in analysis/msconfig/data_parsers_config.py of Ascend/msprof (HEAD of
# 2026-07-21), as far as the matrix cites it.
PARSERS = {
    "AicpuAddInfoParser": "0,1,2,3,4,5,7,8,11,15,16",
    "ApiEventParser": "0,1,2,3,4,5,7,8,11,15,16",
    "BiuPerfChip6Parser": "15,16",
    "BiuPerfParser": "5,7,8,11",
    "CCUChannelParser": "15,16",
    "CCUMissionParser": "15,16",
    "DPUHcclInfoParser": "15,16",
    "FreqParser": "5,7,15,16",
    "FusionAddInfoParser": "0,1,2,3,4,5,7,8,11,15,16",
    "HcclInfoParser": "0,1,2,3,4,5,7,8,11,15,16",
    "L2CacheParser": "1,2,3,4,5,7,8,11,15,16",
    "LpmInfoConvParser": "5",
    "Mc2CommInfoParser": "4,5,15,16",
    "MiniLLCParser": "0",
    "MsprofTxParser": "0,1,2,3,4,5,7,8,11,15,16",
    "NetDevStatsParser": "0,1,2,3,4,5,7,8,11",
    "NonMiniLLCParser": "1,2,3,4,5,7,8,11,15,16",
    "NpuMemParser": "0,1,3,4,5,7,8,11,15,16",
    "NpuModuleMemParser": "1,2,3,4,5,7,8,11,15,16",
    "NpuOpMemParser": "0,1,2,3,4,5,7,8,11,15,16",
    "ParsingAICPUData": "0,1,2,3,4,5,7,8,11,15,16",
    "ParsingAICoreSampleData": "0,1,2,3,4",
    "ParsingAIVectorCoreSampleData": "2,3,4",
    "ParsingCpuUsageData": "0,1,2,3,4,5,7,8,11,15,16",
    "ParsingCtrlCPUData": "0,1,2,3,4,5,7,8,11,15,16",
    "ParsingDDRData": "0,1,2,3,4,7,8,11",
    "ParsingFftsAICoreSampleData": "5,7,8,11,15,16",
    "ParsingHBMData": "0,1,2,3,4,5,7,8,11,15,16",
    "ParsingHCCSData": "0,1,2,3,4,5",
    "ParsingMemoryData": "0,1,2,3,4,5,7,8,11,15,16",
    "ParsingNicData": "0,1,5,7,8,11",
    "ParsingPcieData": "0,1,2,3,4,5,15,16",
    "ParsingPeripheralData": "0,1,5,7,8,11,15,16",
    "ParsingQosData": "5",
    "ParsingRoceData": "0,1,5",
    "ParsingTSData": "0,1,2,3,4,5,7,8,11",
    "ParsingUBData": "15,16",
    "SocPmuParser": "5,15,16",
    "StaticOpMemParser": "0,1,2,3,4,5,7,8,11,15,16",
    "TaskTrackParser": "0,1,2,3,4,5,7,8,11,15,16",
    "TstrackParser": "1,2,3,4,5,7,8,11,15,16",
}
# Platforms by product: ChipModel of the same source, and the product that has the chip.
PLATFORMS = {
    "310": {0},
    "910A": {1},
    "310P": {4},
    "A2": {5},
    "A3": {5},
    "200I-500-A2": {7, 8, 11},
    "950": {15, 16},
}
# Whitelist of ExportDBScene, analysis/common_func/cpp_enable_scene.py of the same source.
EXPORTS_DATABASE = {1, 2, 3, 4, 5, 7, 15, 16}
# Where the products of a section of the seed are not those of the file, by the errata that say so.
MEMORIES = {"hbm": {"200I-500-A2", "310P"}, "ddr": {"A3", "A2"}}
# Parts of the section on the whole timeline: the heading, and the products that it lists.
PARTS = {
    "clock": "查看AI Core频率",
    "sio": "SIO数据分析",
    "qos": "QoS数据分析",
    "voltage": "电压数据分析",
    "fused-communication": "计算及通信算子融合MC²",
}


@pytest.fixture(scope="module")
def matrix() -> Mapping[str, Any]:
    document: Mapping[str, Any] = yaml.safe_load((FOLDER / "matrix.yaml").read_text("utf-8"))
    return document


def products_of(names: str | Sequence[str], known: Sequence[str]) -> set[str]:
    return set(known if names == "all" else names)


# --- the documents ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FAMILY_DOCUMENTS, ids=lambda path: path.stem)
def test_a_product_obeys_its_meta_schema_and_is_called_as_its_file(path: Path) -> None:
    document = yaml.safe_load(path.read_text("utf-8"))
    assert errors("product_family", document) == []
    assert document["product"] == path.stem


@pytest.mark.parametrize("name", ["matrix", "capabilities", "errata"])
def test_a_list_of_products_obeys_its_meta_schema(name: str) -> None:
    document = yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8"))
    assert errors(f"product_{name}", document) == []


def test_every_product_is_in_the_matrix_and_has_known_capabilities() -> None:
    products = catalog().products
    assert list(products) == [*FAMILIES.values(), "310", "950"]
    assert sorted(products) == sorted(path.stem for path in FAMILY_DOCUMENTS)
    used = {name for one in products.values() for name in one.capabilities}
    assert used == set(catalog().products.capabilities)


def test_every_source_switch_and_erratum_of_the_products_exists(
    matrix: Mapping[str, Any],
) -> None:
    known = catalog().products
    cited = [cite for row in matrix["data"].values() for cite in row["says"]]
    for product in known.values():
        cited += [*product.source, *(one for some in product.capabilities.values() for one in some)]
    assert {cite.split(" ")[0] for cite in cited} - set(catalog().documents.sources) == set()
    assert {one for row in known.data.values() for one in row.switches} <= set(
        catalog().documents.switches
    )
    about = {place for erratum in known.errata.values() for place in erratum.at}
    lacking = known["200I-500-A2"].without_value
    assert lacking is not None
    named = {name for name, row in known.data.items() if row.errata}
    assert about >= named
    assert {one for row in known.data.values() for one in row.errata} | set(lacking.errata) == set(
        known.errata
    )


def test_each_row_is_of_some_table_file_layer_or_group() -> None:
    shown = {
        name
        for one in (
            *catalog().tables.values(),
            *text_catalog().csv.values(),
            *timeline_catalog().layers.values(),
        )
        for name in one.data
    }
    rest = set(catalog().products.data) - shown
    assert rest == {
        *("fused-communication", "simt"),
        *("metrics-memory-access", "metrics-l2-cache", "metrics-pipeline-execute"),
    }


def test_a_name_of_products_means_those_that_have_it() -> None:
    known = catalog().products
    assert known.having("stars") == ("A3", "A2", "200I-500-A2", "950")
    assert known.having("not stars") == ("310P", "910A", "310")
    assert known.having(["310", "pmu-v4"]) == ("A3", "A2", "310")
    assert known.having("all") == tuple(known)
    with pytest.raises(KeyError):
        known.having("A7")


def test_chip_names_follow_the_platform() -> None:
    assert {one: catalog().products.chip_name(one) for one in ("A2", "A3", "310P")} == {
        "A2": "Ascend910B",
        "A3": "Ascend910B",
        "310P": "Ascend310P",
    }


# --- against the sources ------------------------------------------------------------------------


def test_where_sources_differ_an_erratum_of_the_row_decides(matrix: Mapping[str, Any]) -> None:
    """Sources as the document states them; a source denies what it knows and does not name."""
    every = matrix["products"]
    for name, row in matrix["data"].items():
        claims: dict[str, set[str]] = {}
        for citation, listed in row["says"].items():
            source = citation.split(" ")[0]
            known = matrix["knows"].get(source, every)
            claims.setdefault(source, set()).update(products_of(listed, known))
            assert claims[source] <= set(known), f"{name}: {source} speaks of no such product"
        said = set(catalog().products.data[name].cells)
        assert said <= set().union(*claims.values()), name
        differing = {
            (source, product)
            for source, claimed in claims.items()
            for product in set(matrix["knows"].get(source, every)) & (claimed ^ said)
        }
        assert bool(differing) == ("errata" in row), f"{name}: {sorted(differing)}"


def test_what_the_matrix_says_of_the_parsers_is_their_list_of_platforms(
    matrix: Mapping[str, Any],
) -> None:
    judged = set()
    for name, row in matrix["data"].items():
        for citation, listed in row["says"].items():
            parser = citation.removeprefix("upstream-msprof ")
            if parser in PARSERS:
                read = {int(platform) for platform in PARSERS[parser].split(",")}
                having = {product for product, own in PLATFORMS.items() if own & read}
                assert products_of(listed, matrix["products"]) == having, f"{name}: {parser}"
                judged.add(parser)
    assert judged == set(PARSERS)


def test_platforms_and_databases_are_those_of_the_exporter() -> None:
    for product in catalog().products.values():
        assert set(product.platforms) == PLATFORMS[product.id]
        exports = bool(EXPORTS_DATABASE & set(product.platforms))
        assert ("database" in product.capabilities) == exports, product.id
    assert all("310" not in table.products for table in catalog().tables.values())


def test_files_layers_and_tables_have_the_products_of_their_section_of_the_seed() -> None:
    layers, judged = timeline_catalog().layers, set()
    for section in text_sections():
        expected = set(section.families)
        names = [name for name in section.name.split("/") if name in layers]
        showers = [text_catalog().csv[name] for name in section.csv] or [layers[n] for n in names]
        for one in showers:
            left_out = MEMORIES.get(one.name, set())
            assert set(one.families) & SEED == expected - left_out, one.name
            judged.add(one.name)
        for name in section.csv:
            for shown in [*_alike(name), *(layers[n] for n in text_catalog().csv[name].timeline)]:
                families = shown.products if hasattr(shown, "products") else shown.families
                assert set(families) & SEED == expected - MEMORIES.get(name, set()), (name, shown)
    assert (
        len(judged) == 42 + 3 + 3
    )  # four files have a section for the device and one for the host


def _alike(name: str) -> Iterator[Any]:
    """The tables of the same data as a CSV file alone."""
    file = text_catalog().csv[name]
    return (one for t in file.tables if set((one := catalog().tables[t]).data) == set(file.data))


@pytest.mark.parametrize(("row", "heading"), PARTS.items())
def test_parts_of_the_whole_timeline_are_of_the_listed_products(row: str, heading: str) -> None:
    """A product beyond the list is that of another source, or of an erratum."""
    section = seed_part(heading)
    listed = {
        family
        for name, family in FAMILIES.items()
        if re.search(rf"^-   (对于)?{re.escape(name)}(\uff0c|$)", section, re.M)
    }
    data = catalog().products.data[row]
    assert listed
    assert listed <= data.cells.keys()
    for product in SEED & set(data.cells) - listed:
        assert not any(one.startswith("seed-001") for one in data.cells[product])
        assert data.errata


def seed_part(heading: str) -> str:
    from seed_tables import seed_text

    found = re.search(
        rf"^\*\*{re.escape(heading)}.*?(?=^\*\*(?!图|表))", seed_text("seed-001"), re.M | re.S
    )
    assert found, f"no heading {heading}"
    return found[0]


def test_a_table_and_what_shows_the_same_have_the_same_products() -> None:
    """A file or layer that shows one table alone has its products, but for those without database;
    it may show more data, and then has more.
    """
    exported = set(catalog().products.having("database"))
    showers = (*text_catalog().csv.values(), *timeline_catalog().layers.values())
    pairs = [
        (one, catalog().tables[one.tables[0]])
        for one in showers
        if len(one.tables) == 1 and catalog().tables[one.tables[0]].data
    ]
    assert len(pairs) > 40
    differing = {}
    for one, table in pairs:
        more, fewer = set(one.families) & exported - set(table.products), set(table.products)
        if more or (one.data == table.data and fewer != set(one.families) & exported):
            differing[one.name, table.name] = sorted(more)
    assert differing == {("AI Core Freq", "AICORE_FREQ"): ["310P"]}


# --- what was wrong, and how it is shown ----------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "products"),
    [
        ("NIC", {"A3", "A2", "200I-500-A2", "310P", "910A"}),
        ("ROCE", {"A3", "A2", "910A"}),
        ("QOS", {"A3", "A2", "950"}),
        ("AICORE_FREQ", {"A3", "A2", "200I-500-A2", "950"}),
        ("SIO", {"A3", "A2", "950"}),
        ("HBM", {"A3", "A2", "910A", "950"}),
        ("DDR", {"200I-500-A2", "310P", "910A"}),
        ("PCIE", {"A3", "A2", "310P", "910A", "950"}),
        ("TASK_PMU_INFO", {"A3", "A2", "200I-500-A2", "950"}),
        ("TASK", {"A3", "A2", "200I-500-A2", "310P", "910A", "950"}),
    ],
)
def test_the_products_of_a_table(table: str, products: set[str]) -> None:
    assert set(catalog().tables[table].products) == products


def test_a_product_is_shown_with_what_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "show", "product/310P"]) == 0
    shown = capsys.readouterr().out
    (nic,) = [line for line in shown.splitlines() if line.startswith("| nic")]
    assert "`sys-io` | `NIC` | `nic` | `NIC` |" in nic
    assert "| roce" not in shown
    assert main(["spec", "show", "product/200I-500-A2"]) == 0
    shown = capsys.readouterr().out
    assert "`vec_ratio`" in shown
    assert all(f"`{erratum}`" in shown for erratum in ("P12", "P13", "P14", "P15"))


# --- counters without value on 200I/500 A2 ------------------------------------------------------


def test_counters_without_value_are_those_of_the_seed_but_for_four_errata() -> None:
    """The seed says it of a field in the rows of its tables of counters."""
    said = "Atlas 200I/500 A2 推理产品不支持该字段\uff0c给予默认值N/A"
    named: set[str] = set()
    other: set[str] = set()
    for section in text_sections():
        for table in section.tables:
            for name, meaning in table.rows:
                found = (named if said in meaning else other) if table.csv else set()
                found.add(re.sub(r"\(.*\)", "", name.removeprefix("*_")))
    lacking = catalog().products["200I-500-A2"].without_value
    assert lacking is not None
    ratios = {name for name in named if not name.endswith("_time")}
    errata = catalog().products.errata
    differing = {errata[one].at[0] for one in lacking.errata}
    assert ratios ^ set(lacking.counters) <= differing
    assert differing == {"main_mem_write_bw", "vec_exe_ratio", "vec_fp16_ratio", "l0c_write_bw"}
    assert differing - ratios == {"l0c_write_bw"}
    assert "vec_fp16_ratio" in named & other
