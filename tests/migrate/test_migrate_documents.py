"""JSON documents from one generation to another, against what that one writes, and back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plain_rounds import DATA

from ascend_conformance.media.text.loaddocs import document_faults
from ascend_ref.migrate.account import Account, Migrated
from ascend_ref.migrate.profile import NotMigrated, migrate_profile
from ascend_ref.states import Target
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import text_catalog

VIEWERS = ("viewer", "viewer-2025-02")
DOCUMENTS = ("communication", "communication_matrix")


def migrate(source: Path, writer: str, out: Path) -> Account:
    return migrate_profile(source, [Target("writer", writer)], out)


def one_of(account: Account, name: str) -> Migrated:
    (found,) = (one for one in account.files if Path(one.file).name.startswith(name))
    return found


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a document by their places, lists as a whole."""
    if not isinstance(value, dict):
        yield place, value
        return
    for key, inner in value.items():
        yield from leaves(inner, f"{place}.{key}" if place else key)


def read(path: Path) -> dict[str, Any]:
    return dict(leaves(json.loads(path.read_bytes())))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The profile of one rank as generations of MindSpore write it."""
    top = tmp_path_factory.mktemp("documents")
    scenario = override(preset("dense-8"), ranks=2, steps=1)
    found = {}
    for writer in (*VIEWERS, "viewer-2024"):
        day = text_catalog().writers[writer].date
        write_run(scenario, 0, top / writer, ("mindspore-text",), generation=day)
        found[writer] = sorted((top / writer).glob("*_ascend_ms"))[0]
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [("viewer", "viewer-2025-02"), ("viewer-2025-02", "viewer")],
)
def test_options_become_what_the_new_writer_states(
    made: dict[str, Path], tmp_path: Path, old: str, new: str
) -> None:
    """All but what appears, of which nothing is known, and what each says of its own version."""
    (source,) = made[old].glob("profiler_info_*.json")
    account = migrate(source, new, tmp_path / "out")
    entries = one_of(account, "profiler_info").entries
    found = read(tmp_path / "out" / source.name)
    (other,) = made[new].glob("profiler_info_*.json")
    wanted = read(other)
    assert list(found) == list(wanted)
    defaulted = {
        one.place.removeprefix("profiler_info.json: ")
        for one in entries
        if one.effect == "defaulted"
    }
    unlike = {place for place in wanted if found[place] != wanted[place]}
    assert unlike <= defaulted | {"ms_version"}
    assert not document_faults(
        "profiler_info", new, json.loads((tmp_path / "out" / source.name).read_bytes())
    )
    renamed = {one.words for one in entries if one.effect == "renamed"}
    assert renamed <= {"aic_metrics before", "aicore_metrics before"}
    assert renamed


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_one_step_of_early_files_has_no_number(
    made: dict[str, Path], tmp_path: Path, name: str
) -> None:
    (source,) = made["viewer-2024"].rglob(f"{name}.json")
    assert list(json.loads(source.read_bytes())) == ["step"]
    there = migrate(source, "viewer", tmp_path / "there")
    assert list(json.loads((tmp_path / "there" / source.name).read_bytes())) == ["step0"]
    back = migrate(tmp_path / "there" / source.name, "viewer-2024", tmp_path / "back")
    assert (tmp_path / "back" / source.name).read_bytes() == source.read_bytes()
    assert there.is_whole
    assert back.is_whole


def test_a_step_with_a_number_loses_it_and_several_are_not_one(tmp_path: Path) -> None:
    step = '{"p2p": {}, "collective": {}}'
    path = tmp_path / "communication.json"
    path.write_text(f'{{"step7": {step}}}')
    account = migrate(path, "viewer-2024", tmp_path / "one")
    assert (tmp_path / "one" / path.name).read_text() == f'{{"step": {step}}}'
    assert one_of(account, "communication").lost == 1
    path.write_text(f'{{"step7": {step}, "step8": {step}}}')
    with pytest.raises(NotMigrated, match="it holds 2 steps"):
        migrate(path, "viewer-2024", tmp_path / "several")


def test_real_options_come_back_byte_for_byte(tmp_path: Path) -> None:
    source = DATA / "text/pytorch_level1_rank0/profiler_info_0.json"
    if not source.is_file():
        pytest.skip(f"needs the real profiles of {DATA}")
    there = migrate(source, "adapter", tmp_path / "there")
    up = tmp_path / "there" / source.name
    back = migrate(up, "adapter-2025-01", tmp_path / "back")
    assert there.is_whole
    assert back.is_whole
    assert (tmp_path / "back" / source.name).read_bytes() == source.read_bytes()
    appeared = read(up).keys() - read(source).keys()
    assert (
        len(appeared)
        == Counter(one.effect for one in one_of(there, "profiler").entries)["defaulted"]
    )
    assert not document_faults("profiler_info", "adapter", json.loads(up.read_bytes()))


def test_real_options_of_a_newer_adapter_lose_what_is_stated(tmp_path: Path) -> None:
    source = DATA / "generations/text_llm_2025_level2_rank0/profiler_info_0.json"
    if not source.is_file():
        pytest.skip(f"needs the real profiles of {DATA}")
    there = migrate(source, "adapter-2025-01", tmp_path / "there")
    before_it = one_of(there, "profiler").before
    assert before_it is not None
    migrate(tmp_path / "there" / source.name, before_it, tmp_path / "back")
    before, after = read(source), read(tmp_path / "back" / source.name)
    unlike = {place for place in before if before[place] != after.get(place)}
    lost = {
        one.place.removeprefix("profiler_info.json: ")
        for one in one_of(there, "profiler").entries
        if one.effect == "lost"
    }
    assert unlike == lost == {"torch_npu_version", "cann_version"}


def test_where_generations_are_equal_nothing_changes(made: dict[str, Path], tmp_path: Path) -> None:
    for name in DOCUMENTS:
        (source,) = made["viewer"].rglob(f"{name}.json")
        account = migrate(source, "viewer-2025-02", tmp_path / name)
        found = one_of(account, name)
        assert (found.fate, found.entries) == ("migrated", ())
        assert (tmp_path / name / source.name).read_bytes() == source.read_bytes()


@pytest.mark.parametrize(
    ("content", "writer", "words"),
    [
        (b'{"step1": {"p2p": {}, "collective": {', "viewer", "its tail is missing"),
        (b'\xef\xbb\xbf{"step1": {}}', "viewer", "byte order mark"),
        (b'{"step1": {"p2p": NaN}}', "viewer", "byte"),
        (b'{"step1": {"p2p": "\xff"}}', "viewer", "byte"),
        (b"[" * 5_000, "viewer", "byte"),
        (b"", "viewer", "byte 0"),
        (
            b'{"step1": {"p2p": {}, "collective": {}}}',
            "adapter-2023",
            "writes no communication.json",
        ),
    ],
)
def test_what_is_broken_or_has_no_form_is_one_clear_line(
    content: bytes, writer: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "communication.json"
    path.write_bytes(content)
    with pytest.raises(NotMigrated, match=words) as found:
        migrate(path, writer, tmp_path / "out")
    assert len(str(found.value)) <= 600
    assert not (tmp_path / "out").exists()


def test_options_of_another_profiler_are_not_made_up(made: dict[str, Path], tmp_path: Path) -> None:
    (source,) = made["viewer-2024"].glob("profiler_info_*.json")
    with pytest.raises(NotMigrated, match="state different things"):
        migrate(source, "viewer", tmp_path / "out")
