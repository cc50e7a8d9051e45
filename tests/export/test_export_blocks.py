"""``visualize_data.bin`` in ``spec``: pages, lists, and payload schemas to hand on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from json_schemas import exported_schema

from ascend_ref.cli import main
from ascend_ref.markdown import PLAIN
from ascend_ref.tools.spec.disagreements import disagreements
from ascend_ref.tools.spec.lookup import find, subjects
from ascend_ref.tools.spec.pages import hexed
from ascend_spec import bin_catalog
from ascend_spec.bin import HEADER, TRACE_RECORD
from ascend_spec.core.dialect import walk

BLOCKS = list(bin_catalog().blocks.values())
WITH_JSON = [block for block in BLOCKS if bin_catalog().has_schema(block.code)]


def shown(name: str) -> str:
    return find(name).section(PLAIN)


def output(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.slug)
def test_a_block_type_is_shown_under_its_code_name_and_slug(block: Any) -> None:
    page = shown(hexed(block.code))
    assert page.startswith(f"# {hexed(block.code)} {block.name}\n")
    assert page == shown(f"block/{block.name}") == shown(f"0x{block.code:02x}")
    assert page == shown(f"BLOCK/{block.slug.upper()}")
    for erratum in block.errata:
        assert f"`{erratum}`" in page


@pytest.mark.parametrize("block", WITH_JSON, ids=lambda block: block.slug)
def test_a_page_has_a_row_for_every_place_of_every_epoch(block: Any) -> None:
    page = shown(hexed(block.code))
    for epoch in bin_catalog().epochs:
        for place, node in walk(bin_catalog().payload_schema(block.code, epoch.id)):
            if place and "description" in node:
                assert page.count(f"| `{place}` |") == 1, place


def test_a_row_tells_unit_epochs_and_errata() -> None:
    rows = {
        line.split("`")[1]: line for line in shown("0x05").splitlines() if line.startswith("| `")
    }
    assert "| MHz |" in rows["/cur_freq"]
    assert "Required. From E3. See `B42`." in rows["/cur_freq"]
    assert rows["/block_detail/*/core_type"].endswith("Until E2. |")
    assert "Sometimes required." in rows["/mix_block_detail"]


def test_records_are_shown_with_offsets_and_values() -> None:
    page = shown("0x0A")
    offset = 0
    for part in TRACE_RECORD.subcons:
        assert f"| {offset} | `{part.name}` | " in page
        offset += part.sizeof()
    assert "| 2 | `space` | i8 | 0 PRIVATE, 1 GM, 2 L1," in page
    assert "| 8 | `addr` | u64 |  |" in page


def test_the_framing_is_on_the_first_page() -> None:
    from ascend_ref.tools.spec.site import spec_pages, spec_targets

    pages = spec_pages(spec_targets())
    for part in HEADER.subcons:
        assert f"`{part.name}`" in pages["blocks/index.md"]
    for epoch in bin_catalog().epochs:
        assert f"### {epoch.id}\n" in pages["blocks/index.md"]
    assert {f"blocks/{block.slug}.md" for block in BLOCKS} <= set(pages)
    for enum in bin_catalog().enums.values():
        assert f"## {enum.name}\n" in pages["blocks/values.md"]
    for erratum in bin_catalog().errata:
        assert f"## {erratum}\n" in pages["errata.md"]


def test_errata_of_all_formats_have_ids_of_their_own() -> None:
    identifiers = [one for errata, _ in disagreements() for one in errata]
    assert len(set(identifiers)) == len(identifiers)
    assert {identifier[0] for identifier in identifiers} == {"A", "B", "E", "G", "M", "P", "T", "U"}
    assert {f"erratum/{one}" for one in identifiers} <= set(subjects())


def test_an_erratum_tells_its_places_and_its_resolution() -> None:
    page = shown("b12")
    assert "`0x08/core_memory_map/*/memory_unit/*/display`" in page
    assert "**Resolution:** The integer 1." in page


@pytest.mark.parametrize(
    ("kind", "first", "count"), [("blocks", "block/0x00", 16), ("epochs", "epoch/E0", 4)]
)
def test_block_types_and_epochs_are_listed(
    kind: str, first: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = output(["spec", "list", kind], capsys).splitlines()[1:]
    assert lines[0].split()[0] == first
    assert len(lines) == count


# --- schemas to hand on ---------------------------------------------------------------------------


def keys(node: Any) -> Iterator[str]:
    """The keywords of a schema, at any depth."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            for inner in value.values() if key == "properties" else [value]:
                yield from keys(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from keys(inner)


@pytest.mark.parametrize("block", WITH_JSON, ids=lambda block: block.slug)
def test_an_exported_schema_is_plain_and_marks_what_is_ours(block: Any) -> None:
    since = [one for one in bin_catalog().epochs if bin_catalog().axis.in_force(block, one.id)]
    for epoch in since:
        schema = exported_schema(f"block/0x{block.code:02X}", epoch.id)
        jsonschema_rs.meta.validate(schema)
        assert {"unit", "erratum", "advisory", "references"} & set(keys(schema)) == set()
        assert schema["$id"] == f"urn:ascend-ref:bin:{block.code:02X}:{epoch.id}"


def test_a_key_of_the_format_keeps_its_name() -> None:
    schema = exported_schema("block/0x07")
    entry = schema["properties"]["subblock_detail"]["items"]
    assert "unit" in entry["properties"]
    assert "unit" in entry["allOf"][1]["required"]
    assert entry["allOf"][1]["x-erratum"] == "B9"


def test_a_schema_is_exported_by_name_at_the_newest_epoch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["spec", "export"]
    newest = output([*words, "memory heat map"], capsys)
    assert newest == output([*words, "block/0x08", "--at", "E3"], capsys)
    assert newest != output([*words, "0x08", "--at", "E1"], capsys)
    assert main([*words, "0x08", "-o", f"{tmp_path}/"]) == 0
    (written,) = tmp_path.iterdir()
    assert written.name == "ascend-bin-08-memory-heat-map-E3.schema.json"
    assert written.read_text("utf-8") == newest


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("memory-heat", "unknown name 'memory-heat'; did you mean block/0x08"),
        ("block/0x10", "unknown name 'block/0x10'; did you mean "),
        ("block/0x0B", "block/0x0B cache records holds no JSON"),
        ("block/0x08 --as ddl", "block/0x08 is exported as json-schema only"),
        ("block/0x0C --at E0", "block/0x0C inter-core load has been there since E2"),
        ("block/0x08 --at E9", "unknown epoch 'E9'; known: E0, E1, E2, E3"),
        ("record/header", "record/header is not exported; what is: carrier/"),
    ],
)
def test_a_wrong_word_is_an_error_with_a_hint(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spec", "export", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"ascend-ref: error: {line}")
    assert err.count("\n") == 1
