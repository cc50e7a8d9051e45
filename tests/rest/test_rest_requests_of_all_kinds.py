"""Requests of every kind that the description allows: M72.

Building them takes seconds; :func:`conftest.pytest_ignore_collect` spares a run that tries none.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from rest_files import Client, served
from rest_requests import (
    CATALOG,
    DAY,
    OF_FILES,
    of_known_folders,
    positive_data_acceptance,
    runs,
    validate,
)

from ascend_spec.mindspore import openapi_document

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(tmp_path_factory.mktemp("served")) as client:
        yield client


def of_one_analyser(document: Any) -> Any:
    """The description with the first of many analysers that a body may name.

    Schemathesis tries a thousand bodies for each.
    """
    for path in document["paths"].values():
        for operation in path.values():
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            if len(schema.get("anyOf", ())) > 3:
                schema["anyOf"] = schema["anyOf"][:1]
    return document


SOME = of_one_analyser(openapi_document(CATALOG, DAY))


@pytest.mark.campaign
@schemathesis.openapi.from_dict(SOME).parametrize()
@runs(1)
def test_m72_schemathesis_finds_nothing(case: Any, client: Client) -> None:
    """Not every text is a folder."""
    validate(case, client, [positive_data_acceptance])


@schemathesis.openapi.from_dict(of_known_folders(copy.deepcopy(SOME))).parametrize()
@runs(1)
def test_m72_schemathesis_finds_nothing_in_known_folders(case: Any, client: Client) -> None:
    of_files = case.operation.definition.raw["operationId"] in OF_FILES
    validate(case, client, [positive_data_acceptance] if of_files else [])
