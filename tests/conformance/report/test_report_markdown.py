"""Markdown as a CommonMark processor with tables reads it."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings
from markdown_it import MarkdownIt
from report_samples import FULL_REPORT, INTERVAL, RULES, file_report, one_report, reports

from ascend_conformance.finding import Report
from ascend_conformance.report import FORMATS

TAGS = {"p", "strong", "h2", "ul", "li", "code", "br"}
TABLE_TAGS = {"table", "thead", "tbody", "tr", "th", "td"}


class Page(HTMLParser):
    """The tags of a rendered page, the cells of its rows, and its text outside of code."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.prose = ""
        self.code: list[str] = []
        self._in_code = False
        text = FORMATS["markdown"](report, RULES)
        self.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "code":
            self._in_code = True
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "code":
            self._in_code = False

    def handle_data(self, data: str) -> None:
        if self._in_code:
            self.code[-1] += data
        else:
            self.prose += data


def test_findings_are_a_table() -> None:
    assert FORMATS["markdown"](FULL_REPORT, RULES) == (
        """\
**does not conform: 1 violation, 1 advice, 1 note; 2 checks skipped**

## `run/ascend_pytorch_profiler_1.db`

- carrier: pytorch
- schema: version 1.0.0, revision 1.0.0-2025-01
- product: Ascend910B
- level: 1 (from the rows)
- ranks: 1
- devices: 0, 1
- time: 2025-01-09 08:00:00.123 UTC, 1.333 s
- rows: 12,345 in 2 tables
- coverage: 83 % (212 of 255 columns); missing MEMCPY&#95;INFO, NIC
- readings: as real files have it: E8
- checked: 93 rules at 1,204 places

| verdict | rule | place | finding |
| --- | --- | --- | --- |
| violation | DB401 `interval-ends-before-start` | `TASK.endNs` | An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)<br>expected: `endNs >= startNs`<br>example: `row=88 startNs=2000 endNs=1000`<br>example: `row=90 startNs=NULL` |
| advice | DB420 `swapped-types-and-shapes` | `COMPUTE_TASK_INFO.inputShapes` | Types and shapes are swapped: 7 of 7 rows (first: rowid 1) (erratum E23)<br>expected: `types in inputDataTypes` |
| note | DB006 `written-by-a-viewer` | the file | A viewer has changed this file |

How to fix:

- DB401: Write endNs &#62;= startNs.

2 checks skipped:

- DB301, DB302: table NIC is absent
"""  # noqa: E501 - the expected text has such lines
    )


def test_a_name_cannot_leave_its_cell() -> None:
    page = Page(one_report(file_report(replace(INTERVAL, table="a|b\\|c`<b>"))))
    assert page.tags.count("td") == 4
    assert "a|b\\|c`<b>.endNs" in page.code


def test_prose_mentions_nobody_and_links_nowhere() -> None:
    message = "@everyone #12 https://example.org www.example.org [a](b)"
    page = Page(one_report(file_report(replace(INTERVAL, message=message))))
    assert not re.search(r"@\w|#\d|://|www\.", page.prose)
    assert message in page.prose.replace("\u200b", "")


@settings(max_examples=60, deadline=None)
@given(reports())
def test_no_text_becomes_markup(report: Report) -> None:
    page = Page(report)
    assert set(page.tags) <= TAGS | TABLE_TAGS
    assert not page.attributes
    assert page.tags.count("td") == 4 * len(report.findings)
    assert not re.search(r"@\w|#\d|://|www\.", page.prose)
