"""The database of a cluster analysis: its document, and the tables that it is computed from."""

from __future__ import annotations

import pytest
from test_vocabulary import errors

from ascend_spec import catalog, cluster_catalog, packaged
from ascend_spec.cluster.catalog import DOCUMENT

TABLES = cluster_catalog().tables


def test_the_document_obeys_its_meta_schema() -> None:
    assert errors("cluster_database", packaged().folder.read(DOCUMENT)) == []


@pytest.mark.parametrize("name", TABLES)
def test_keys_and_sources_of_a_table_are_known(name: str) -> None:
    table = TABLES[name]
    assert set(table.key) <= set(table.columns)
    assert set(table.of) <= {*catalog().tables, *TABLES}
    assert table.grade == "observed"


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("ClusterCommunicationTime", "CommAnalyzerTime"),
        ("ClusterCommunicationBandwidth", "CommAnalyzerBandwidth"),
        ("ClusterCommunicationMatrix", "CommAnalyzerMatrix"),
        ("ClusterStepTraceTime", "StepTraceTime"),
    ],
)
def test_a_column_that_is_passed_on_has_the_type_of_the_ranks(name: str, source: str) -> None:
    """Ranks within a group become those of the cluster; nothing else changes its kind."""
    mine, theirs = TABLES[name].columns, catalog().tables[source].columns
    shared = mine.keys() & theirs.keys() - {"type", "src_rank", "dst_rank"}
    assert len(shared) >= 8
    assert {one: mine[one].type for one in shared} == {one: theirs[one].type for one in shared}
    assert {one: mine[one].unit for one in shared} == {one: theirs[one].unit for one in shared}
