"""Everything has one address: what is listed can be shown, and has its place on the site."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache

import pytest
from slices import some

from ascend_conformance.media import load_rules
from ascend_conformance.pages import rule_pages
from ascend_conformance.schema.pages import change_rule_pages
from ascend_ref.cli import main
from ascend_ref.markdown import PLAIN, anchor
from ascend_ref.tools.spec.lookup import NotFound, find, of_kinds, subjects
from ascend_ref.tools.spec.site import spec_pages, spec_targets
from ascend_ref.tools.spec.subject import KINDS

ADDRESSES = list(subjects())
WITHOUT_A_HEADING = {"argument", "header", "key", "member"}
"""Kinds that are rows on the page of what they belong to."""
SAMPLE = list({address.partition("/")[0]: address for address in ADDRESSES}.values())


def output(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(list(words)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@cache
def anchors() -> dict[str, set[str]]:
    """The fragments of every page of the site; a heading that comes again has a number."""
    targets = spec_targets()
    pages = {
        **spec_pages(targets),
        **rule_pages(load_rules(), targets),
        **change_rule_pages(targets),
    }
    found: dict[str, set[str]] = {}
    for path, text in pages.items():
        seen: Counter[str] = Counter()
        for heading in re.findall(r"^#+ (.*)", text, re.M):
            name = anchor(heading)
            found.setdefault(path, set()).add(f"{name}_{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return found


def test_a_name_is_one_that_its_kind_can_have() -> None:
    every = of_kinds(KINDS)
    assert [one.address for one in every if not KINDS[one.kind].has_name(one.name)] == []


def test_no_address_is_given_twice() -> None:
    given = [one.address for one in of_kinds(KINDS)]
    assert [address for address, times in Counter(given).items() if times > 1] == []
    assert len(given) == len(ADDRESSES)


def test_every_kind_has_a_member() -> None:
    assert {address.partition("/")[0] for address in ADDRESSES} == set(KINDS)


def test_what_is_listed_is_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(output("spec", "list", "all", "--json", capsys=capsys))
    assert [one["address"] for one in listed] == ADDRESSES
    assert all(one["summary"] for one in listed)


def test_capitals_do_not_matter_where_they_tell_nothing_apart() -> None:
    alike = Counter(address.casefold() for address in ADDRESSES)
    for address in ADDRESSES:
        if alike[address.casefold()] == 1:
            assert find(address.upper()).address == address


@pytest.mark.exhaustive
def test_every_address_leads_to_its_page() -> None:
    for address, subject in subjects().items():
        assert find(address) is subject
        assert subject.section(PLAIN).startswith("# "), address
        assert json.loads(json.dumps(subject.document()))["address"] == address


def test_every_address_has_its_place_on_the_site() -> None:
    places: dict[str, set[str]] = {}
    for address, subject in subjects().items():
        path, _, fragment = subject.page.partition("#")
        assert path in anchors(), address
        assert not fragment or fragment in anchors()[path], address
        if subject.kind not in WITHOUT_A_HEADING:
            assert fragment not in places.setdefault(path, set()), address
            places[path].add(fragment)


@pytest.mark.parametrize("address", some(SAMPLE, every=18))
def test_an_address_of_each_kind_is_shown_by_the_command(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output("spec", "show", address, capsys=capsys).startswith("# ")
    assert json.loads(output("spec", "show", address, "--json", capsys=capsys))["fact"]
    assert output("explain", address, capsys=capsys).startswith("# ")


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("A3", "product/A3, erratum/A3"),
        ("e1", "epoch/E1, erratum/E1"),
        ("HBM", "table/HBM, csv/hbm, layer/HBM"),
        ("Memory_Record", "table/MEMORY_RECORD, csv/memory_record"),
    ],
)
def test_an_ambiguous_name_is_reported_with_its_addresses(
    name: str, addresses: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in (["spec", "show"], ["explain"], ["spec", "export"]):
        assert main([*verb, name]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert f"{name!r} is the name of several things: {addresses}; give the address" in err


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("task", "table/TASK"),
        ("task.STARTNS", "column/TASK.startNs"),
        ("op_summary.csv", "csv/op_summary"),
        ("op_summary/Block Num", "header/op_summary/Block Num"),
        ("source/details/baseInfo", "command/source/details/baseInfo"),
        ("ACL_AICORE_L2_CACHE", "counter-group/L2Cache"),
        ("header", "record/header"),
        ("no-such-file", "error/4103"),
        ("profiler_level", "switch/task-time"),
        ("Ascend310P", "product/310P"),
        ("MEMORY_RECORD", "table/MEMORY_RECORD"),
        ("memory_record", "csv/memory_record"),
        ("COMMUNICATION_OP.opType", "column/COMMUNICATION_OP.opType"),
        ("db401", "rule/DB401"),
        ("level0", "level/0"),
        ("0x05/cur_freq", "key/0x05/cur_freq"),
        ("ENUM_API_TYPE/10000", "member/ENUM_API_TYPE/10000"),
        ("ENUM_API_TYPE/node", "member/ENUM_API_TYPE/10000"),
        ("ascend_pytorch_profiler_3.db", "carrier/pytorch"),
        ("op_summary_slice_0_20260101170000.csv", "csv/op_summary"),
        ("msprof_20260101170000.json", "timeline/timeline"),
        ("profiler_info_7.json", "document/profiler_info"),
        ("visualize_data.bin", "layout/operator"),
    ],
)
def test_a_name_that_one_thing_has_will_do(name: str, address: str) -> None:
    assert find(name).address == address


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("table/TASKS", "table/TASK"),
        ("comand/source/details/baseInfo", "command/source/details/baseInfo"),
        ("op_sumary", "csv/op_summary"),
        ("DB4O1", "rule/DB401"),
    ],
)
def test_a_near_miss_gets_a_suggestion(name: str, meant: str) -> None:
    with pytest.raises(NotFound, match="did you mean") as raised:
        find(name)
    assert meant in str(raised.value)


# --- narrowing ------------------------------------------------------------------------------------


def test_a_page_shows_the_state_of_a_revision(capsys: pytest.CaptureFixture[str]) -> None:
    old = output("spec", "show", "COMPUTE_TASK_INFO", "--revision", "1.0.0", capsys=capsys)
    assert "`blockDim`" in old
    assert "| `blockNum`" not in old
    assert main(["spec", "show", "table/QOS", "--revision", "1.0.0"]) == 2
    assert "table/QOS is not there under these options" in capsys.readouterr().err


def test_a_page_shows_what_a_level_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("spec", "show", "csv/kernel_details", "--level")
    assert "`HF32 Eligible`" in output(*words, "1", capsys=capsys)
    left = [one for one in output(*words, "0", capsys=capsys).splitlines() if "HF32" in one]
    assert left
    assert all("until 2024-12-10" in one for one in left)  # MindSpore 2.3 and 2.4 copied it


def test_a_page_shows_what_a_product_leaves_of_the_counters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("spec", "show", "op_summary", "--product", "310P")
    shown = output(*words, capsys=capsys)
    assert "| `mac_ratio` |" in shown
    assert "| `aic_mac_ratio` |" not in shown
    assert "| `mac_ratio` |" not in output(*words, "--level", "0", capsys=capsys)
    both = output("spec", "show", "op_summary", "--product", "A2", capsys=capsys)
    assert "| `aicore_time(us)` | `aic_total_time` | us |" in both  # as real databases have it


def test_a_page_shows_what_a_writer_writes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("spec", "show", "op_summary", "--product", "A2", "--writer")
    old, new = (output(*words, writer, capsys=capsys) for writer in ("cpp-2025", "python"))
    assert "| `Block Dim` |" in old
    assert "| `Block Num` |" in new
    assert "| `Task Wait Time(us)` | us | 6 decimals |" in old
    assert "| `Task Wait Time(us)` | us | at most 3 decimals |" in new
    assert "`aic_mac_ratio` |  | at most 3 decimals | `PipeUtilization` | A2 |" in new
    assert "Step Id" not in old + new
    assert main(["spec", "show", "op_summary", "--writer", "adapter"]) == 2
    assert "csv/op_summary is not there under these options" in capsys.readouterr().err
    layer = output("spec", "show", "layer/Communication", "--writer", "python", capsys=capsys)
    assert "`rank_size`" in layer
    assert "`relay`" not in layer


def test_a_column_shows_what_a_writer_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """The adapter copies files of either engine, by the product."""
    words = ("spec", "show", "kernel_details/Wait Time(us)", "--writer")
    copied = output(*words, "adapter", capsys=capsys)
    assert "**Printed as:** on A3, A2, 950: 6 decimals, else at most 3 decimals" in copied
    alone = output(*words, "adapter", "--product", "A2", capsys=capsys)
    assert "**Printed as:** 6 decimals" in alone
    assert main([*words, "cpp"]) == 2
    assert "is not there under these options" in capsys.readouterr().err


def test_a_product_states_its_cores_or_that_they_are_not_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("spec", "show", "--")
    known, unknown = (output(*words, f"product/{one}", capsys=capsys) for one in ("A2", "950"))
    assert "24 cube and 48 vector cores, nominal clock 1800 MHz" in known
    assert "**Cores of a device:** not known" in unknown


@pytest.mark.parametrize(
    ("block", "row"),
    [  # as docs/evidence/bin-blocks.md 3.4, 3.6, 3.8 and 5.1 have it
        ("0x04", "| `GPR Status` | 5 | value; declared: "),
        ("0x07", "| 910B | vector | 0 | `Vector Wait` |"),
        ("0x08", "| 910B | vector | 14 | UB_TO_VEC | 256 | Vector: Vector Read UB |"),
        ("0x09", "| 910B | vector | `GM` | requests, throughput(GB/s) | Read Main Memory, Write "),
        ("0x0D", "| 910B | vector | `GM/L2` | GM Read + Write, L2 Read + Write |"),
    ],
)
def test_a_block_shows_what_it_holds_by_chip_and_operator(
    block: str, row: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert row in output("spec", "show", f"block/{block}", capsys=capsys)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("list errata --level 0", "--level does not narrow errata, but tables, columns, csv"),
        ("show erratum/E1 --product A2", "--product does not narrow errata, but tables"),
        ("list tables --product A4", "unknown product 'A4'; known: 200I-500-A2, 310"),
        ("list tables --revision 9", "unknown revision '9'; known: 1.0.0-2024-10"),
    ],
)
def test_an_option_that_means_nothing_is_refused(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spec", *words.split()]) == 2
    assert line in capsys.readouterr().err
