"""Real files: no violation, the epoch named, old forms as advice that names its erratum."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ascend_conformance.finding import FileReport
from ascend_conformance.media.bin.judge import judge_bin
from ascend_conformance.media.bin.rules import load_bin_rules
from ascend_conformance.media.bin.selftest import trials
from ascend_spec import bin_catalog

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "bin"
FILES = {"base_info.bin": "E0", "mix.bin": "E2", "roofline_data.bin": "E2"}
each_file = pytest.mark.parametrize("name", FILES)


@cache
def report(name: str) -> FileReport:
    if not (DATA / name).exists():
        pytest.skip("../shared/data/bin is not here")
    return judge_bin(DATA / name)


@each_file
def test_a_real_file_has_no_violation(name):
    assert [finding for finding in report(name).findings if finding.verdict == "violation"] == []


@each_file
def test_a_real_file_is_of_its_epoch(name):
    assert report(name).seen.revision == FILES[name]


@each_file
def test_all_that_is_found_is_known_of_old_epochs(name):
    findings = report(name).findings
    assert findings
    assert {finding.rule for finding in findings} == {"BIN128"}
    assert {finding.erratum for finding in findings} <= bin_catalog().errata.keys()
    assert report(name).skipped == ()


def test_the_departures_of_the_mix_file_are_those_measured():
    """bin-blocks.md 8.2: what changed between E2 and E3."""
    found = {(finding.erratum, finding.place) for finding in report("mix.bin").findings}
    heat_map = "0x08 memory heat map: /core_memory_map/*/memory_unit/*"
    tables = "0x09 memory tables: /table_per_block/*/table_detail/*"
    assert found == {
        ("B42", "0x05 basic info: /cur_freq"),
        ("B42", "0x05 basic info: /rated_freq"),
        ("B43", f"{tables}/row/*/name"),
        ("B43", f"{tables}/table_name"),
        ("B44", f"{tables}/header_name"),
        ("B45", f"{heat_map}/bandwidth_suffix"),
        ("B45", f"{heat_map}/request_suffix"),
        ("B47", "0x07 compute load table: /subblock_detail/*/name"),
        ("B48", "0x0C inter-core load: /op_detail/*/core_detail/*/subcore_type"),
    }


def test_a_finding_of_a_real_file_tells_the_byte():
    old = [one for one in report("mix.bin").findings if one.column and "subcore_type" in one.column]
    (finding,) = old
    content = (DATA / "mix.bin").read_bytes()
    assert finding.pointer == "/op_detail/0/core_detail/0/subcore_type"
    assert content[finding.offset :].startswith(b'"vector"')


@pytest.mark.exhaustive
def test_damage_to_a_real_file_wakes_exactly_its_rule():
    """Independent of our own clean files; the old forms of the file stay as they are."""
    known = report("mix.bin").findings
    content = (DATA / "mix.bin").read_bytes()
    found = trials("mix.bin", content, load_bin_rules().values(), known)
    tried = [one for one in found if one.not_broken is None]
    assert len(tried) > 70
    assert [f"{one.rule}: {one.fired}" for one in tried if not one.caught] == []
    assert [f"{one.rule}: {one.false_alarms}" for one in tried if one.false_alarms] == []
    assert "BIN626" in {one.rule for one in tried}
