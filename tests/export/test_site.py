"""The built site: its size, its sidebar, a place for every address, and a search from disk."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from headless_browser import Tab, new_tab

from ascend_ref.tools.spec.lookup import subjects

SITE = Path(__file__).parents[2] / "site"

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").is_file(), reason="no site: make docs builds it"
)


@cache
def page(path: str) -> str:
    return (SITE / path).read_text(encoding="utf-8")


def html_of(path: str) -> str:
    return f"{path.removesuffix('.md')}.html"


def test_the_whole_site_is_small() -> None:
    held = sum(one.stat().st_size for one in SITE.rglob("*") if one.is_file())
    assert held <= 40_000_000


def test_every_address_has_its_page_and_anchor() -> None:
    lost = []
    for address, subject in subjects().items():
        path, _, fragment = subject.page.partition("#")
        ids = anchors(html_of(path))
        if ids is None or (fragment and fragment not in ids):
            lost.append(address)
    assert lost == []


@cache
def anchors(path: str) -> set[str] | None:
    """The anchors of a page; none where there is no such page."""
    if not (SITE / path).is_file():
        return None
    return set(re.findall(r' id="([^"]*)"', page(path)))


@pytest.mark.parametrize(
    ("path", "listed", "absent"),
    [
        ("rules/db-times.html", "bin-basic.html", "bin-caches.html"),
        ("rules/db-times.html", "db-tasks.html", "mindspore-steps.html"),
        ("tables/TASK.html", "CANN_API.html", "kernel_details.html"),
        ("raw/hwts.html", "aicore.html", "task_track.html"),
        ("check.html", "conform.html", "tables/TASK.html"),
    ],
)
def test_the_sidebar_lists_the_pages_of_the_family(path: str, listed: str, absent: str) -> None:
    """Another family is one line, which leads to its first page."""
    sidebar = page(path).partition("<article")[0]
    assert f'{listed}"' in sidebar
    assert f'{absent}"' not in sidebar


def search(tab: Tab, text: str, expected: str) -> None:
    """Type a text into the box; what is expected is among the first results, some time later."""
    tab.value(
        "(() => { const box = document.querySelector('.md-search__input'); box.focus();"
        f"box.value = {text!r}; box.dispatchEvent(new Event('input', {{bubbles: true}}));"
        "box.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); })()"
    )
    links = "[...document.querySelectorAll('.md-search-result__item a')].slice(0, 8)"
    address = f"{SITE.as_uri()}/{expected}"
    tab.wait_for(f"{links}.some(one => one.href.replace(/[?]h=[^#]*/, '') === {address!r})")


@pytest.mark.exhaustive
def test_the_search_works_from_disk() -> None:
    with new_tab() as tab:
        tab.open(SITE / "index.html")
        search(tab, "DB401", "rules/db-times.html#db401-interval-ends-before-start")
        search(tab, "connectionId", "tables/COMMUNICATION_OP.html#connectionid")
        search(tab, "op_summary", "csv/op_summary.html")
        assert tab.errors == []
        assert {one.partition(":")[0] for one in tab.requested} <= {"file", "data"}
