"""The page as a browser shows it: filters, light and dark, without scripts, and never a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from headless_browser import Tab, new_tab
from profiles import change, specimen
from report_samples import HOSTILE, INTERVAL, RULES, SEEN, SWAPPED, file_report, one_report

from ascend_conformance.check import check
from ascend_conformance.media import load_rules
from ascend_conformance.report import write_report

VISIBLE_ROWS = (
    "[...document.querySelectorAll('.cause tbody tr[data-files]')]"
    ".filter(row => !row.hidden && !row.closest('.cause').hidden)"
)

CONTRASTS = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const light = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((one) => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
    return "white";
  };
  const low = [];
  for (const one of document.body.querySelectorAll("*")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || one.localName === "script") continue;
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) low.push(`${one.localName} ${contrast.toFixed(2)} ${one.textContent}`);
  }
  return low;
})()
"""


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with new_tab() as opened:
        yield opened


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page on three ranks with two faults of different verdicts."""
    other = replace(INTERVAL, table="CANN_API")
    findings = ((INTERVAL, SWAPPED), (INTERVAL, other), (SWAPPED,))
    files = (
        file_report(*found, file=f"run/rank_{rank}.db", seen=replace(SEEN, ranks=(rank,)))
        for rank, found in enumerate(findings)
    )
    write_report("html", tmp_path / "report.html", one_report(*files), RULES)
    return tmp_path / "report.html"


def chosen(tab: Tab, **fields: str) -> list[str]:
    """The places that are shown after a choice in the filter."""
    for name, value in fields.items():
        tab.value(
            f"(() => {{ const field = document.forms.filter.elements[{name!r}];"
            f"field.value = {value!r};"
            "field.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
    places = tab.value(f"{VISIBLE_ROWS}.map(row => row.cells[0].textContent)")
    status = tab.value("document.getElementById('shown').textContent")
    assert status == f"{len(places)} of 3 listed places"
    found: list[str] = places
    return found


@pytest.mark.exhaustive
def test_the_filters_keep_what_is_asked_for(tab: Tab, page: Path) -> None:
    tab.open(page)
    everything = ["CANN_API.endNs", "TASK.endNs", "COMPUTE_TASK_INFO.inputShapes"]
    assert chosen(tab) == everything
    assert chosen(tab, verdict="advice") == ["COMPUTE_TASK_INFO.inputShapes"]
    assert chosen(tab, verdict="", rank="1") == ["CANN_API.endNs", "TASK.endNs"]
    assert chosen(tab, rank="0") == ["TASK.endNs", "COMPUTE_TASK_INFO.inputShapes"]
    assert chosen(tab, rank="", file="2") == ["COMPUTE_TASK_INFO.inputShapes"]
    assert chosen(tab, file="", rule="DB401") == ["CANN_API.endNs", "TASK.endNs"]
    assert chosen(tab, rule="", search="cann_api ends") == ["CANN_API.endNs"]
    assert chosen(tab, search="nothing of the kind") == []
    tab.value("document.querySelector('button[type=reset]').click()")
    tab.wait_for(f"{VISIBLE_ROWS}.length === {len(everything)}")
    assert tab.errors == []


def test_the_keyboard_reaches_and_opens_everything(tab: Tab, page: Path) -> None:
    tab.open(page)
    tab.value("document.querySelectorAll('.cause').forEach(one => one.open = false)")
    reached = set()
    for _ in range(60):
        tab.press("Tab")
        reached.add(tab.value("document.activeElement.name || document.activeElement.localName"))
        if tab.value("document.activeElement.localName") == "summary":
            tab.press("Enter")
            break
    assert {"a", "button", "verdict", "rule", "file", "rank", "search", "summary"} <= reached
    assert tab.value("document.activeElement.parentElement.open")


def test_light_and_dark_follow_the_system_and_the_button(tab: Tab, page: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    grounds = []
    for scheme in ("light", "dark"):
        tab.prefers(scheme)
        tab.open(page)
        tab.value("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert tab.value(CONTRASTS) == []
        grounds.append(tab.value(ground))
        tab.value("document.getElementById('theme').click()")
        assert tab.value(CONTRASTS) == []
        grounds.append(tab.value(ground))
    assert grounds == [grounds[0], grounds[1], grounds[1], grounds[0]]
    assert grounds[0] != grounds[1]
    assert tab.errors == []


def test_without_scripts_everything_is_there(tab: Tab, page: Path) -> None:
    tab.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open(page)
        text = tab.text()
        assert "TASK.endNs" in text
        assert "report it to the author of the exporter" in text
        assert "Search" not in text  # a filter that does nothing is not shown
        assert "Light or dark" not in text
    finally:
        tab.ask("Emulation.setScriptExecutionDisabled", value=False)


def test_hostile_names_do_nothing(tab: Tab, tmp_path: Path) -> None:
    names = (
        *HOSTILE,
        "</script><script>window.broken = 1</script>",
        "<img src=x onerror='window.broken = 1'>",
        "javascript:window.broken = 1",
        "</style><style>body { display: none }",
        "<meta http-equiv=refresh content='0;url=https://example.org'>",
    )
    findings = [
        replace(INTERVAL, rule=f"DB{at:03}", name=name, table=name, column=name, message=name)
        for at, name in enumerate(names)
    ]
    report = one_report(file_report(*findings, file="<b>.db", seen=replace(SEEN, product=names[1])))
    write_report("html", tmp_path / "page.html", report, RULES)
    tab.requested.clear()
    tab.open(tmp_path / "page.html")
    tab.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert tab.value("window.broken") is None
    assert tab.value("document.body.innerText").count("alert(1)") > 0
    assert tab.errors == []
    assert [one for one in tab.requested if not one.startswith(("file:", "data:", "about:"))] == []
    assert len([one for one in tab.requested if one.startswith("file:")]) == 1


def test_a_judged_profile_is_shown_whole(tab: Tab, tmp_path: Path) -> None:
    path = change(specimen(tmp_path), "UPDATE TASK SET endNs = startNs - 1 WHERE rowid = 1")
    write_report("html", tmp_path / "page.html", check([path]), load_rules())
    tab.requested.clear()
    tab.open(tmp_path / "page.html", "#rules")
    assert tab.value("document.querySelector('.verdict').textContent.includes('not conform')")
    assert tab.value("[...document.images].every(one => one.complete && one.naturalWidth > 300)")
    tab.value("document.querySelector('.cause dd a').click()")
    tab.wait_for("document.getElementById(location.hash.slice(1)).open")
    assert tab.errors == []
    assert {one.partition(":")[0] for one in tab.requested} <= {"file", "data", "about"}
