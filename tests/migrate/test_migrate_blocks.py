"""Files of blocks from one epoch to another: against what that one's exporter writes, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plain_rounds import DATA

from ascend_conformance.check import check
from ascend_ref.bin import Block, canonical, open_file, parse, write_file
from ascend_ref.migrate.account import Account, Migrated
from ascend_ref.migrate.profile import NotMigrated, migrate_profile
from ascend_ref.states import Target
from ascend_simulator.operator.run import write_kernel
from ascend_simulator.operator.scenario import KERNEL

OF_REAL = ("bin/mix.bin", "bin/roofline_data.bin")


def migrate(source: Path, epoch: str, out: Path) -> tuple[Migrated, Path]:
    account: Account = migrate_profile(source, [Target("epoch", epoch)], out)
    (found,) = account.files
    return found, out / source.name


def payloads(path: Path) -> dict[int, Any]:
    with open_file(path) as file:
        return {one.type: parse(file.payload(one)) for one in file.entries if one.type >= 0x05}


def real(name: str) -> Path:
    if not (DATA / name).is_file():
        pytest.skip(f"needs the real files of {DATA}")
    return DATA / name


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By the exporter of today, of the operator that mix.bin is of."""
    folder = tmp_path_factory.mktemp("blocks") / "kernel"
    write_kernel(KERNEL.preset("matmul-leakyrelu"), folder)
    return folder / "visualize_data.bin"


def form(blocks: dict[int, Any]) -> dict[str, Any]:
    """What a file's figures are called: tables with their headers and rows, charts, entries."""
    tables = blocks[0x09]["table_per_block"][0]["table_detail"]
    return {
        "basic": sorted(blocks[0x05]),
        "loads": [
            [(one["block_type"], one["name"]) for one in blocks[code]["subblock_detail"]]
            for code in (0x06, 0x07)
        ],
        "paths": [sorted(one) for one in blocks[0x08]["core_memory_map"][0]["memory_unit"]],
        "tables": {
            one["table_name"]: (one["header_name"], [row["name"] for row in one["row"]])
            for one in tables
            if not one["table_name"].startswith("Scalar")
        },
        "between": [one["subcore_type"] for one in blocks[0x0C]["op_detail"][0]["core_detail"]],
    }


def test_a_real_file_of_2024_gets_the_form_of_todays_exporter(kernel: Path, tmp_path: Path) -> None:
    """All but the tables Scalar, of which nothing is known."""
    account, out = migrate(real("bin/mix.bin"), "E3", tmp_path / "out")
    assert (account.before, account.after) == ("E2", "E3")
    assert form(payloads(out)) == form(payloads(kernel))


def test_a_file_of_today_gets_the_form_of_2024(kernel: Path, tmp_path: Path) -> None:
    """All but what 2024 has more: rows of pipes, and the amount of data that was computed."""
    account, out = migrate(kernel, "E2", tmp_path / "out")
    found, wanted = form(payloads(out)), form(payloads(real("bin/mix.bin")))
    more = [one for one in wanted["loads"][1] if one not in found["loads"][1]]
    assert {name for _, name in more} == {"Cube Compute Data Size", "Vector Compute Data Size"}
    wanted["loads"][1] = [one for one in wanted["loads"][1] if one not in more]
    for name in ("Pipe Vector Core0", "Pipe Vector Core1"):
        headers, rows = wanted["tables"][name]
        wanted["tables"][name] = headers, [one for one in rows if one not in ("MTE1", "FIXP")]
    assert found == wanted
    lost = {one.place for one in account.entries if one.effect == "lost"}
    assert {"0x05: cur_freq", "0x0E", "0x09: table_detail/Scalar Cube"} <= lost


def test_charts_have_the_titles_and_lines_of_their_epoch(kernel: Path, tmp_path: Path) -> None:
    """Those of a real file of 2024, for a file of today, and the other way round."""
    old, new = payloads(real("bin/roofline_data.bin"))[0x0D], payloads(kernel)[0x0D]
    down = payloads(migrate(kernel, "E2", tmp_path / "down")[1])[0x0D]
    up = payloads(migrate(real("bin/roofline_data.bin"), "E3", tmp_path / "up")[1])[0x0D]

    def lines(charts: Any) -> dict[str, list[str]]:
        return {
            one["title"]: [line["bw_name"] for line in one["rooflines"]]
            for one in charts["multiple_rooflines"]
        }

    assert lines(up).keys() == lines(new).keys()
    assert lines(down).keys() == lines(old).keys()
    for title in ("Pipeline(Vector)", "GM/L2"):
        assert lines(up)[title] == lines(new)[title]
    for title in ("Pipe Line Vector", "HBM/L2"):
        assert lines(down)[title] == lines(old)[title]

    def names(charts: Any) -> set[str]:
        return {
            line["computility_name"].partition("(")[2].partition(")")[0]
            for one in charts["multiple_rooflines"]
            for line in one["rooflines"]
            if line["computility_name"].startswith("Cube_FP")
        }

    assert (names(up), names(down)) == ({"100%"}, {"100.000000%"})


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Values by keys and by what the elements of lists are called, in a plain way."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*place, key))
    elif isinstance(value, list):
        counts: Counter[Any] = Counter()
        for inner in value:
            name = ()
            if isinstance(inner, dict):
                keys = ("table_name", "title", "bw_name", "name", "block_id", "block_type")
                keys += ("core_no", "core_id", "memory_path", "subcore_type", "subcore_id")
                name = tuple(str(inner[key]) for key in keys if key in inner)
            yield from leaves(inner, (*place, name, counts[name]))
            counts[name] += 1
    else:
        yield place, value


@pytest.mark.parametrize("name", [*OF_REAL, "kernel"])
def test_a_file_comes_back_but_for_what_is_stated(name: str, kernel: Path, tmp_path: Path) -> None:
    source, way = (kernel, ("E2", "E3")) if name == "kernel" else (real(name), ("E3", "E2"))
    there, up = migrate(source, way[0], tmp_path / "there")
    back, again = migrate(up, way[1], tmp_path / "back")
    assert back.lost == 0
    before, after = payloads(source), payloads(again)
    lost: Counter[str] = Counter()
    for code, value in before.items():
        ours = dict(leaves(value))
        theirs = dict(leaves(after[code])) if code in after else {}
        lost[f"0x{code:02X}"] = sum(theirs.get(key) != one for key, one in ours.items())
    stated = {one.place.partition(":")[0] for one in there.entries if one.effect == "lost"}
    assert stated == {code for code, count in lost.items() if count}
    # Of a value that is another then, each is counted.
    values = [one for one in there.entries if one.effect == "lost" and one.place.endswith("size")]
    tables = dict(leaves(after[0x09]))
    sizes = sum(
        tables.get(key) != one
        for key, one in leaves(before[0x09])
        if "size" in key and not any("Scalar" in str(part) for part in key)
    )
    assert sum(one.count for one in values) == sizes


def test_nothing_changes_where_a_file_is_of_the_epoch(kernel: Path, tmp_path: Path) -> None:
    account, out = migrate(kernel, "E3", tmp_path / "out")
    assert (account.before, account.entries) == ("E3", ())
    assert out.read_bytes() == kernel.read_bytes()


@pytest.mark.parametrize("name", ["bin/mix.bin", "kernel"])
def test_what_is_migrated_conforms_but_for_what_is_counted_otherwise(
    name: str, kernel: Path, tmp_path: Path
) -> None:
    """The main memory paths are those of another counter, which the account names."""
    source, epoch = (kernel, "E2") if name == "kernel" else (real(name), "E3")
    account, out = migrate(source, epoch, tmp_path / "out")
    kept = {one.place for one in account.entries if one.effect == "kept"}
    assert kept == {f"0x08: core_memory_map/memory_unit: path {path}" for path in (0, 1)}
    verdict = check([out])
    found = {one.rule for one in verdict.findings if one.verdict == "violation"}
    assert found <= {"BIN608", "BIN626"}
    assert all("0x08" in one.place for one in verdict.findings if one.verdict == "violation")


def loads(**detail: Any) -> bytes:
    entry = {"block_id": 0, "block_type": "vector", **detail}
    return canonical({"advice": [], "subblock_detail": [entry]})


def test_the_entries_of_loads_are_nested_in_the_first_files_alone(tmp_path: Path) -> None:
    """E0 has a fraction in the unit of instructions, E1 percent (errata B9, B53)."""
    detail = {"name": "ALL_ACTIVE", "unit": 1, "value": 0.25}
    source = tmp_path / "visualize_data.bin"
    write_file(source, [Block(0x06, loads(data_detail=detail))])
    there, up = migrate(source, "E1", tmp_path / "there")
    assert there.before == "E0"
    (entry,) = payloads(up)[0x06]["subblock_detail"]
    assert (entry["name"], entry["unit"], entry["value"]) == ("ALL_ACTIVE", 3, 25.0)
    assert entry["origin_value"] == float(1 << 64)
    back, again = migrate(up, "E0", tmp_path / "back")
    assert again.read_bytes() == source.read_bytes()
    assert (there.lost, back.lost) == (0, 0)
    write_file(up, [Block(0x06, canonical({"subblock_detail": [{**entry, "origin_value": 6.0}]}))])
    account, _ = migrate(up, "E0", tmp_path / "counted")
    assert account.lost == 1, "the cycles"


def test_what_is_not_known_of_two_epochs_is_refused(kernel: Path, tmp_path: Path) -> None:
    for name, epoch in (("generations/memory_data.bin", "E3"), ("bin/mix.bin", "E1")):
        with pytest.raises(NotMigrated, match="vector operators alone"):
            migrate(real(name), epoch, tmp_path / "out")
    other = tmp_path / "other"
    write_kernel(KERNEL.preset("vector-add"), other)
    with pytest.raises(NotMigrated, match="no file of E2 is known of vector operators on 910B"):
        migrate(other / "visualize_data.bin", "E2", tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content[:-7], "byte"),
        (lambda content: content[:5], "shorter than a block header"),
        (lambda content: content.replace(b'"soc":', b'"soc" ', 1), r"block \d+ \(0x05\), byte"),
        (lambda content: content + b"\x00" * 20, "byte"),
    ],
)
def test_damaged_files_are_one_clear_line(
    change: Any, words: str, kernel: Path, tmp_path: Path
) -> None:
    source = tmp_path / "visualize_data.bin"
    source.write_bytes(change(kernel.read_bytes()))
    with pytest.raises(NotMigrated, match=words) as found:
        migrate(source, "E2", tmp_path / "out")
    assert len(str(found.value)) <= 600
    assert not (tmp_path / "out").exists()


def test_strange_payloads_are_kept_as_they_are(tmp_path: Path) -> None:
    """Whatever stands in the place of tables, rows and cells."""
    basic = {"soc": "Ascend910B4", "op_type": "mix", "mix_block_detail": {}, "name": "x"}
    tables = [
        7,
        {"table_name": "HBM Cube"},
        {"table_name": "L1", "header_name": ["", "requests"], "row": [{"name": "L1 Read HBM"}]},
        {"table_name": "Pipe Cube", "header_name": 3, "row": [None]},
    ]
    source = tmp_path / "visualize_data.bin"
    strange: dict[int, Any] = {
        0x05: basic,
        0x08: {"core_memory_map": [{"memory_unit": [1, None, {"memory_path": "x"}]}]},
        0x09: {"table_per_block": [{"block_id": "0", "table_detail": tables}, "x"]},
        0x0C: {"op_detail": [{"core_detail": [3, {"subcore_type": []}]}]},
        0x0D: {"multiple_rooflines": [{"title": [], "rooflines": {}}, {"title": "HBM/L2"}]},
    }
    write_file(source, [Block(code, canonical(value)) for code, value in strange.items()])
    account, out = migrate(source, "E3", tmp_path / "out")
    found = payloads(out)
    names = [one["table_name"] for one in found[0x09]["table_per_block"][0]["table_detail"][1:]]
    assert names == ["GM Cube", "L1", "Pipe Cube"]
    assert account.before == "E2"


@pytest.mark.parametrize("name", [*OF_REAL, "bin/base_info.bin", "generations/memory_data.bin"])
def test_the_epoch_before_is_that_by_which_a_file_is_judged(name: str, tmp_path: Path) -> None:
    source = real(name)
    (judged,) = check([source]).files
    assert judged.seen is not None
    found = judged.seen.revision
    account, _ = migrate(source, found, tmp_path / "out")
    assert account.before == found
