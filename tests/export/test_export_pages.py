"""Pages: every object has one, with the facts that the spec states about it."""

from __future__ import annotations

import re

import pytest

from ascend_ref.markdown import PLAIN, RENDERED, Style, anchor, table
from ascend_ref.tools.spec.exports import export_markdown
from ascend_ref.tools.spec.history import history_of
from ascend_ref.tools.spec.lookup import NotFound, find, subjects
from ascend_ref.tools.spec.site import spec_pages, spec_targets
from ascend_ref.tools.spec.subject import KINDS
from ascend_spec import catalog
from ascend_spec.db.model import CARRIERS, Carrier


def shown(name: str) -> str:
    return find(name).section(PLAIN)


def test_a_name_is_found_whatever_its_capitals() -> None:
    assert shown("task.startns") == shown("TASK.startNs")


def test_an_unknown_name_has_no_page() -> None:
    with pytest.raises(NotFound, match="unknown name 'NO_SUCH_TABLE'"):
        find("NO_SUCH_TABLE")


def test_a_table_page_states_its_columns_and_sources() -> None:
    text = shown("TASK")
    assert "| `startNs` | INTEGER | ns |" in text
    assert "`seed-001` TASK (documented)" in text
    assert "`TaskIndex` on (startNs, globalTaskId)" in text


def test_a_column_page_states_sentinels_and_errata() -> None:
    text = shown("TASK.connectionId")
    assert "**No value:** `4294967295` or `-1`" in text
    assert "E33" in text


def test_a_column_with_two_meanings_shows_both() -> None:
    text = shown("column/COMPUTE_TASK_INFO.blockDim")
    assert "## Until 2026-01-28" in text
    assert "## From 2026-06-01" in text


def test_history_tells_renames_and_types() -> None:
    changes = {
        (event.place, event.what)
        for name in ("COMPUTE_TASK_INFO", "HOST_INFO")
        for event in history_of(name)
    }
    assert ("COMPUTE_TASK_INFO.blockNum", "renamed from blockDim") in changes
    assert ("HOST_INFO.hostUid", "declared TEXT instead of INTEGER") in changes


def test_history_tells_new_names_of_enum_members() -> None:
    events = history_of("ENUM_API_TYPE")
    assert [event.what for event in events][:1] == ["hccl became communication"]


def test_a_schema_version_shows_all_its_revisions() -> None:
    headings = re.findall(r"^## (.*)", shown("1.0.0"), re.MULTILINE)
    assert headings == ["1.0.0-2024-10", "1.0.0-2025-01"]


@pytest.mark.parametrize("carrier", CARRIERS)
def test_markdown_export_has_a_row_per_column_and_member(carrier: Carrier) -> None:
    schema = catalog().at("1.2.0-2026-07", carrier)
    rows = export_markdown(schema).count("\n| `")
    columns = sum(
        len(one.columns) for one in schema.tables.values() if one.name not in schema.enums
    )
    assert rows == columns
    headings = re.findall(r"^## (.*)", export_markdown(schema), re.MULTILINE)
    assert sorted(headings) == sorted(schema.tables)


@pytest.mark.exhaustive
def test_every_link_of_the_site_leads_somewhere() -> None:
    pages = spec_pages(spec_targets())
    for path, text in pages.items():
        folder, _, _ = path.rpartition("/")
        for target in re.findall(r"\]\(([^)]*)\)", text):
            if target.startswith(("rules/", "../rules/")):
                continue
            page, _, fragment = target.partition("#")
            known = page.removeprefix("../") if folder else page
            assert known in pages, (path, target)
            headings = re.findall(r"^#+ (.*)", pages[known], re.MULTILINE)
            assert not fragment or fragment in map(anchor, headings), (path, target)


class Strict(Style):
    """Writes no page that names a kind of things which there is not."""

    def link(self, kind: str, name: str, text: str | None = None) -> str:
        assert kind in KINDS, name
        return super().link(kind, name, text)


def test_pages_link_only_kinds_that_there_are() -> None:
    for subject in subjects().values():
        subject.section(Strict())


@pytest.mark.parametrize(
    ("text", "disarmed"),
    [
        ("aic_* and aiv_*", "aic\\_\\* and aiv\\_\\*"),
        ("Notify_Wait", "Notify_Wait"),
        ("<op>-top1", "&lt;op>-top1"),
        ("see `a_*` here", "see `a_*` here"),
    ],
)
def test_prose_is_no_markup(text: str, disarmed: str) -> None:
    assert RENDERED.prose(text) == disarmed
    assert PLAIN.prose(text) == text


def test_cells_keep_their_row() -> None:
    assert table(("a",), [("x|y\nz",)]).splitlines()[-1] == "| x\\|y z |"
