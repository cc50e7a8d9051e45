"""The tables of cluster_analysis.db as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.markdown import Style, code, table
from ascend_spec import catalog, cluster_catalog
from ascend_spec.cluster import ClusterColumn, ClusterTable

from .pages import citations
from .subject import Subject, things


def cluster_section(subject: ClusterTable, style: Style) -> str:
    """One table: what it is computed from, what tells its rows apart, and its columns."""
    database = cluster_catalog().database
    rows = (
        (
            code(one.name),
            one.declared,
            one.unit or "",
            "yes" if one.name in subject.key else "",
            style.prose(_words(one)),
        )
        for one in subject.columns.values()
    )
    return style.page(
        subject.name,
        subject.summary,
        ("File", code(f"{database.folder}/{database.file}")),
        ("Computed from", (_source(name, style) for name in subject.of)),
        ("Levels", map(str, subject.levels)),
        ("Grade", subject.grade),
        ("Source", citations(subject.source, style)),
        style.prose(subject.note),
        table(("column", "declared", "unit", "key", "what it is"), rows),
    )


def _source(name: str, style: Style) -> str:
    kind = "table" if name in catalog().tables else "cluster-table"
    return style.link(kind, name)


def _words(one: ClusterColumn) -> str:
    further = [
        f"One of {', '.join(one.members)}." if one.members else "",
        f"Rounded to {one.decimals} decimals." if one.decimals is not None else "",
        f"NULL where {one.nullable}." if one.nullable else "",
        "JSON." if one.form == "json" else "",
    ]
    return " ".join([one.summary, *filter(None, further)])


def cluster_subjects() -> Iterator[Subject]:
    """Every table."""
    yield from things(
        "cluster-table", cluster_catalog().tables, "cluster.md#{anchor}", cluster_section
    )
