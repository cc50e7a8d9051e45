"""Names of files and folders: those of real profiles, and what the documents show."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from seed_tables import SHARED
from test_vocabulary import errors

import ascend_spec
from ascend_spec import layout_catalog, text_catalog
from ascend_spec.documents import DOCUMENTS

FOLDER = Path(ascend_spec.__file__).parent / "layout"
PRODUCERS = sorted(path.stem for path in FOLDER.glob("*.yaml") if path.stem != "parts")


@pytest.mark.parametrize("name", PRODUCERS)
def test_the_document_of_a_producer_obeys_its_meta_schema(name: str) -> None:
    document = yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8"))
    assert errors("layout", document) == []
    assert document["producer"] == name
    inner = [*document["folders"].values(), *document["files"].values()]
    assert {one["below"] for one in inner if "below" in one} <= set(document["folders"])


def test_the_parts_obey_their_meta_schema() -> None:
    document = yaml.safe_load((FOLDER / "parts.yaml").read_text("utf-8"))
    assert errors("layout_parts", document) == []


def test_the_documents_of_the_spec_are_those_with_names() -> None:
    named = {file.id for file in layout_catalog().files.values() if file.document}
    assert named == {*DOCUMENTS}


def test_signs_are_those_of_files_that_two_producers_have() -> None:
    signs = layout_catalog().signs
    names = {"trace_view", "kernel_details", "memory_record", "profiler_info"}
    assert signs.keys() == {("mindspore", name) for name in names}


# Names from real folders and from docs/evidence (consumers 3, text-outputs 2.1), by hand.
@pytest.mark.parametrize(
    ("name", "producer", "called", "rank", "cut", "numbers"),
    [
        ("ascend_pytorch_profiler_0.db", "pytorch", "database", 0, None, ()),
        ("ascend_pytorch_profiler_1234567890.db", "pytorch", "database", 1234567890, None, ()),
        ("ascend_pytorch_profiler.db", "pytorch", "database", None, None, ()),
        ("ascend_mindspore_profiler_7.db", "mindspore", "database", 7, None, ()),
        ("msmonitor_12_20250101000000123_-1.db", "mindspore", "monitor", -1, None, ()),
        ("msprof_20250109171801.db", "msprof", "database", None, None, ("20250109171801",)),
        ("analysis.db", "pytorch", "analysis", None, None, ()),
        ("profiler_info_0.json", "pytorch", "profiler_info", None, None, ()),
        ("profiler_metadata.json", "pytorch", "profiler_metadata", None, None, ()),
        ("communication_matrix.json", "pytorch", "communication_matrix", None, None, ()),
        ("op_summary_20250109171801.csv", None, "op_summary", None, None, ("20250109171801",)),
        ("op_summary_slice_2_20250109171801.csv", None, "op_summary", None, 2, ("20250109171801",)),
        ("op_statistic.csv", None, "op_statistic", None, None, ()),
        ("kernel_details.csv", None, "kernel_details", None, None, ()),
        ("trace_view.json", None, "trace_view", None, None, ()),
        ("msprof_0_2_1.json", None, "timeline", None, None, ("0", "2", "1")),
        ("msprof_tx_20250109171801.json", None, "msprof_tx", None, None, ("20250109171801",)),
        ("visualize_data.bin", "operator", "blocks", None, None, ()),
    ],
)
def test_what_a_file_is_by_its_name(
    name: str,
    producer: str | None,
    called: str,
    rank: int | None,
    cut: int | None,
    numbers: tuple[str, ...],
) -> None:
    match = layout_catalog().match(name)
    assert match is not None
    assert (match.called, match.rank, match.slice, match.numbers) == (called, rank, cut, numbers)
    assert producer in (None, match.file.producer)


@pytest.mark.parametrize(
    "name",
    [
        "notes.csv",
        "analysis_1.db",
        "msprof.db",
        "ascend_pytorch_profiler_x.db",
        "ascend_pytorch_profiler_12345678901234567.db",
        "ascend_pytorch_profiler_\u0661.db",
        "op_summary_.csv",
        "op_summary.csv\n",
        "trace_view.json.bak",
    ],
)
def test_other_names_are_of_no_profile(name: str) -> None:
    assert layout_catalog().match(name) is None


def test_every_file_of_the_real_profiles_has_a_name_of_the_spec() -> None:
    """But for what is read by no tool here."""
    folders = [SHARED / "data" / one for one in ("db", "generations")]
    if not all(folder.is_dir() for folder in folders):
        pytest.skip("real profiles are not next to the project in ../shared/data")
    names = {path.name for folder in folders for path in folder.rglob("*") if path.is_file()}
    unknown = {name for name in names if layout_catalog().match(name) is None}
    assert unknown <= {"README.md", "memory_data.bin"}


def test_a_name_that_is_written_is_recognised() -> None:
    for file in text_catalog().csv.values():
        for module in file.modules.values():
            name = layout_catalog().file(
                "msprof", "csv", csv=module, slice=3, numbers="20250109171801"
            )
            match = layout_catalog().match(name)
            assert match is not None
            assert (match.called, match.slice) == (file.name, 3)
    assert layout_catalog().file("pytorch", "profiler_info", copy=3) == "profiler_info_3.json"
    assert layout_catalog().folder(
        "msprof", "profile", sequence=1, stamp="20260202024000000", letters="ABCDEFGHIJKLMNOP"
    ) == ("PROF_000001_20260202024000000_ABCDEFGHIJKLMNOP")
    assert layout_catalog().is_inner("ASCEND_PROFILER_OUTPUT")
    assert not layout_catalog().is_inner("host_1_20260202024000000_ascend_pt")


@pytest.mark.parametrize("rank", [-1, "x", 10**17])
def test_a_value_that_a_part_cannot_have_is_refused(rank: object) -> None:
    with pytest.raises(ValueError, match="rank"):
        layout_catalog().file("pytorch", "database", rank=rank)
