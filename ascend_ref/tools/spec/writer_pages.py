"""Writers of text and groups of performance counters as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ascend_ref.markdown import Style, code, commas, table
from ascend_spec import layout_catalog, text_catalog
from ascend_spec.text import PmuGroup, PmuMetric, Writer
from ascend_spec.text.model import Slicing

from .pages import evidence

LINE_ENDS = {"lf": "LF", "crlf": "CR LF"}
QUOTING = {"none": "never", "minimal": "where a cell holds a comma, a quote or a line break"}


def writer_section(writer: Writer, style: Style) -> str:
    """One generation of a writer."""
    copies = (
        f"{'any other' if family == '*' else family}: {style.link('writer', original)}"
        for family, original in writer.copies.items()
    )
    written = (one.name for one in text_catalog().csv.values() if writer.id in one.writers)
    times = "three decimals and a tab" if writer.tabbed else "no fixed decimals, mostly no tab"
    return style.page(
        writer.id,
        writer.summary,
        ("Folder", layout_catalog().folder(writer.output, "output")),
        ("As of", writer.date),
        ("Products", style.links("product", writer.families)),
        ("File names", " or ".join(map(code, filter(None, (writer.name, writer.sliced))))),
        ("Slices", slices(writer.slicing, writer.sliced)),
        ("Line end", LINE_ENDS[writer.line_end]),
        ("Quotes", QUOTING[writer.quoting]),
        ("Absolute times", times),
        ("Copies files of", copies),
        ("CSV files", style.links("csv", written)),
        *evidence(writer, style),
    )


def group_section(group: PmuGroup, style: Style) -> str:
    """One group of metrics: its columns by layout, and what they are made of."""
    texts = text_catalog()
    layouts: dict[tuple[str, ...], list[str]] = {}
    for family in group.families:
        for engine in ("cpp", "python") if family in texts.writers["cpp"].families else ("python",):
            header = texts.pmu.header(
                mode="task-based", metrics=group.name, family=family, engine=engine
            )
            layouts.setdefault(header, []).append(f"{family} ({engine})")
    names = dict.fromkeys(name for order in group.orders for name in order.metrics)
    metrics = [(name, texts.pmu.metrics[name]) for name in names]
    rows = ((code(name), _made_of(one), style.prose(one.summary)) for name, one in metrics)
    return style.page(
        group.name,
        group.summary,
        ("In options", map(code, group.spelled)),
        ("Products", style.links("product", group.families)),
        ("Errata", style.links("erratum", group.errata)),
        table(("metric", "made of events", "meaning"), rows) if names else "",
        table(
            ("columns of a task", "written for"),
            ((commas(map(code, header)), commas(where)) for header, where in layouts.items()),
        ),
    )


def metric_section(metric: PmuMetric, style: Style) -> str:
    """One metric: what it is made of, in which groups, and where its column holds no number."""
    never = (core for core, names in text_catalog().pmu.never.items() if metric.id in names)
    return style.page(
        metric.id,
        metric.summary,
        ("Kind", metric.kind),
        ("Shown as", code(metric.shown)),
        ("Made of events", _made_of(metric) if metric.events else None),
        ("Groups", style.links("counter-group", (one.name for one in groups_of(metric)))),
        ("Left out of the columns of", (f"{core} cores" for core in never)),
        ("Holds N/A on", not_available(metric.id)),
        ("Errata", style.links("erratum", metric.errata)),
    )


def groups_of(metric: PmuMetric) -> Iterator[PmuGroup]:
    """The groups that a metric is in."""
    for group in text_catalog().pmu.groups.values():
        if any(metric.id in order.metrics for order in group.orders):
            yield group


def not_available(metric: str) -> list[str]:
    """The families on which the column of a metric stands and holds N/A."""
    pmu = text_catalog().pmu
    known = pmu.metric(metric)
    names = {metric, known.id if known else metric}
    return [family for family, listed in pmu.not_available.items() if names & listed]


def slices(slicing: Slicing | None, name: str | None) -> str:
    """How a file is cut, and what its slices are called."""
    if slicing is None or name is None:
        return ""
    return (
        f"of {slicing.rows:,} rows, from {slicing.suffix_from:,} rows on; "
        f"{code(name)} with {{slice}} counted from 0"
    )


def _made_of(metric: PmuMetric) -> str:
    added = " + ".join(map(hex, metric.events))
    taken = "".join(f" - {hex(one)}" for one in metric.minus)
    divided = f" / ({' + '.join(map(hex, metric.over))})" if metric.over else ""
    times = ""
    if metric.factor is not None:
        times = f", times {metric.factor}"
    elif metric.coefficients:
        times = ", times " + ", ".join(
            f"{pipe} * {scalar} ({name})" for name, (pipe, scalar) in metric.coefficients.items()
        )
    elif metric.weights:
        times = ", weighted " + "; ".join(_weights(metric.weights))
    return f"{added}{taken}{divided}{times}"


def _weights(weights: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    for family, given in weights.items():
        yield f"{', '.join(map(str, given))}{'' if family == '*' else f' on {family}'}"
