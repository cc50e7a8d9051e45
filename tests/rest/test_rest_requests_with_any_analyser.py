"""Requests of every kind that the description allows, with any analyser: M72."""

from __future__ import annotations

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

pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(tmp_path_factory.mktemp("served")) as client:
        yield client


WHOLE = openapi_document(CATALOG, DAY)


@schemathesis.openapi.from_dict(of_known_folders(WHOLE)).parametrize()
@runs(50)
def test_m72_schemathesis_finds_nothing_with_any_analyser(case: Any, client: Client) -> None:
    of_files = case.operation.definition.raw["operationId"] in OF_FILES
    validate(case, client, [positive_data_acceptance] if of_files else [])
