"""JUnit XML: one test suite per file, one test case per rule that found something or was skipped.

The verdicts map as follows, so that a CI server turns red for violations only: ``violation`` is a
``failure``, a failure of the checker an ``error``; ``advice`` and ``note`` stand in ``system-out``
of a passing case, and so do places where a rule with findings was skipped; a rule that only was
skipped is ``skipped``; a file that cannot be judged is a
suite with one ``error``. A report does not name the rules that ran and found nothing: one passing
case speaks for all of them. There are no times, so that equal input gives equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any
from xml.etree import ElementTree as Xml

from ascend_conformance.finding import FileReport, Finding, Report, Verdict
from ascend_conformance.ruleset import Rule

from .collapse import Listed, listed
from .detail import Detail, Rules
from .escape import visible
from .phrases import counted, enumerated
from .seen_lines import seen_lines
from .sentences import fact, not_listed, paragraph, place, unreadable

_TAGS: Mapping[Verdict, str] = {"failure": "error", "violation": "failure"}
_TOTALS = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def render(report: Report, rules: Rules, detail: Detail) -> Iterator[str]:
    """An XML 1.0 document in UTF-8."""
    root = Xml.Element("testsuites", name="ascend-ref")
    for one in listed(report, detail):
        root.append(_suite(one, rules, detail))
    _count(root)
    del root.attrib["skipped"]  # the schema of Jenkins has it at the suites only
    Xml.indent(root)
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _suite(one: Listed, rules: Rules, detail: Detail) -> Xml.Element:
    path = visible(one.file.file, detail.path)
    suite = Xml.Element("testsuite", name=path)
    properties = Xml.SubElement(suite, "properties")
    for name, value in seen_lines(one.file, detail):
        Xml.SubElement(properties, "property", name=name, value=value)
    suite.extend(_cases(one.file, one.findings, rules, detail))
    for case in suite.iter("testcase"):
        case.set("classname", path)
    _count(suite)
    if one.left_out:
        Xml.SubElement(suite, "system-out").text = not_listed(one)
    return suite


def _cases(
    file: FileReport,
    findings: Iterable[Finding],
    rules: Rules,
    detail: Detail,
) -> Iterator[Xml.Element]:
    if file.unreadable is not None:
        case = Xml.Element("testcase", name="the file can be judged")
        Xml.SubElement(case, "error", message=unreadable(file, detail))
        yield case
    found = {finding.rule for finding in file.findings}
    skipped = _skipped(file, detail)
    by_rule = sorted(findings, key=lambda finding: finding.rule)
    for name, same in groupby(by_rule, key=lambda finding: finding.rule):
        yield _rule_case(tuple(same), rules.get(name), skipped.get(name), detail)
    only_skipped = {name: text for name, text in skipped.items() if name not in found}
    yield from _skipped_cases(only_skipped, rules, detail)
    if file.rules_run > len(found):
        quiet = counted(file.rules_run - len(found), "rule")
        yield Xml.Element("testcase", name=f"{quiet} without a finding")


def _rule_case(
    findings: tuple[Finding, ...], rule: Rule[Any] | None, skipped: str | None, detail: Detail
) -> Xml.Element:
    case = Xml.Element("testcase", name=_case_name(findings[0].rule, findings[0].name, detail))
    for verdict, tag in _TAGS.items():
        grave = [finding for finding in findings if finding.verdict == verdict]
        if grave:
            message = f"{place(grave[0], detail)}: {fact(grave[0], detail)}"
            element = Xml.SubElement(case, tag, type=verdict, message=message)
            element.text = _text(grave, rule, detail)
    others = [finding for finding in findings if finding.verdict not in _TAGS]
    remarks = [_text(others, rule, detail)] if others else []
    if skipped is not None:
        remarks.append(f"skipped at {skipped}")
    if remarks:
        Xml.SubElement(case, "system-out").text = "\n".join(remarks)
    return case


def _skipped(file: FileReport, detail: Detail) -> Mapping[str, str]:
    """By rule, for each that was skipped somewhere: the first place, why, and how many more."""
    ordered = sorted(file.skipped, key=lambda skip: (skip.rule, skip.place, skip.reason))
    found: dict[str, str] = {}
    for name, same in groupby(ordered, key=lambda skip: skip.rule):
        first, *more = same
        where = visible(first.place, 2 * detail.name) or "the file"
        reason = visible(first.reason, detail.prose)
        found[name] = f"{where}: {enumerated([reason], len(more), 'place')}"
    return found


def _skipped_cases(
    skipped: Mapping[str, str], rules: Rules, detail: Detail
) -> Iterator[Xml.Element]:
    for name, message in list(skipped.items())[: detail.entries]:
        words = rules[name].name if name in rules else ""
        case = Xml.Element("testcase", name=_case_name(name, words, detail))
        Xml.SubElement(case, "skipped", message=message)
        yield case
    further = len(skipped) - detail.entries
    if further > 0:
        case = Xml.Element("testcase", name=counted(further, "further rule"))
        Xml.SubElement(case, "skipped", message="skipped, and not listed")
        yield case


def _case_name(rule: str, name: str, detail: Detail) -> str:
    return f"{visible(rule, detail.name)} {visible(name, detail.name)}".rstrip()


def _text(findings: Iterable[Finding], rule: Rule[Any] | None, detail: Detail) -> str:
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{finding.verdict} at {place(finding, detail)}")
        lines += (f"  {line}" for line in paragraph(finding, rule, detail))
    return "\n".join(lines)


def _count(element: Xml.Element) -> None:
    for attribute, tag in _TOTALS.items():
        element.set(attribute, str(sum(1 for _ in element.iter(tag))))
