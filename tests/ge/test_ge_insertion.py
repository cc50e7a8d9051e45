"""Insertion of tasks: random graphs against a plain program, and each quirk by a known answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import insertion_plain
import jsonschema_rs
import pytest
from ge_graphs import documents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascend_ref.ge.trace import Asked, Node, insert
from ascend_ref.ge.trace.document import graph_of
from ascend_spec import ge_catalog
from ascend_spec.ge import ge_schema

Row = dict[str, Any]
SEED = Path(__file__).resolve().parents[3] / "shared/seeds/003_e31998ad8281c695.txt"


def tasks_of(document: Row, **asked: Any) -> list[insertion_plain.Task]:
    found = insert(graph_of(document), Asked(**asked)).tasks()
    return [
        ("own", one.id, 0, False)
        if isinstance(one, Node)
        else (one.place, one.node.id, one.number, one.notify)
        for one in found
    ]


def numbers_of(document: Row, **asked: Any) -> list[tuple[str, str, int]]:
    """Place, name and number of the inserted tasks that are noted."""
    found = insert(graph_of(document), Asked(**asked)).inserted()
    return [(one.place, one.node.name, one.number) for one in found if one.noted]


# --- random graphs --------------------------------------------------------------------------------


NAMED = st.sampled_from(["", "", "n1", "n3", "Node_Output", "nobody"])


def agree(document: Row, fp: str, bp: str, executor: str | None) -> None:
    dynamic = document["dynamic"]
    if executor is not None and (executor == "hybrid") != dynamic:
        executor = None
    asked: Row = {"fp_point": fp, "bp_point": bp, "executor": executor}
    assert tasks_of(document, **asked) == insertion_plain.observed(document, fp, bp, executor or "")
    asked = {"fp_point": fp, "bp_point": bp, "reading": "documented"}
    assert tasks_of(document, **asked) == insertion_plain.documented(document, fp, bp)


EXECUTORS = st.sampled_from([None, None, "hybrid", "queues"])


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), NAMED, NAMED, EXECUTORS)
def test_g85_to_g104_g114_random_graphs_agree_with_a_plain_program(
    document: Row, fp: str, bp: str, executor: str | None
) -> None:
    agree(document, fp, bp, executor)


@pytest.mark.exhaustive
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), NAMED, NAMED, EXECUTORS)
def test_g114_hundreds_of_random_graphs_agree(
    document: Row, fp: str, bp: str, executor: str | None
) -> None:
    agree(document, fp, bp, executor)


@pytest.mark.exhaustive
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(most=200), NAMED, NAMED, EXECUTORS)
def test_g114_hundred_large_random_graphs_agree(
    document: Row, fp: str, bp: str, executor: str | None
) -> None:
    agree(document, fp, bp, executor)


@pytest.mark.campaign
@settings(max_examples=8_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), NAMED, NAMED, EXECUTORS)
def test_g114_thousands_of_random_graphs_agree(
    document: Row, fp: str, bp: str, executor: str | None
) -> None:
    agree(document, fp, bp, executor)


@pytest.mark.campaign
@settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(most=200), NAMED, NAMED, EXECUTORS)
def test_g114_large_random_graphs_agree(
    document: Row, fp: str, bp: str, executor: str | None
) -> None:
    agree(document, fp, bp, executor)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_g113_drawn_graphs_obey_the_published_schema(document: Row) -> None:
    jsonschema_rs.validate(ge_schema(ge_catalog().documents, "graph"), document)
