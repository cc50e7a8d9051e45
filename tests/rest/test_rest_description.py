"""The description of the requests, and that the server keeps to it: M72."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from rest_files import DYNAMIC, Client, running, write_files
from schemathesis.checks import load_all_checks

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.factory import NEWEST
from ascend_ref.tools.serve.rest.answers import ANSWERS
from ascend_spec import mindspore_catalog
from ascend_spec.core.dialect import compile_schema
from ascend_spec.mindspore import openapi_document, refusals_of

CATALOG = mindspore_catalog()
DAY = CATALOG.day_of(NEWEST)
UNANSWERED = {name for name, one in CATALOG.requests.items() if not one.is_answered}
schema = schemathesis.pytest.from_fixture("description")
load_all_checks()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("served")
    write_files(folder / "job/profiler")
    write_files(folder / "dynamic/profiler")
    (folder / "dynamic/profiler/dynamic_shape_info_0.json").write_text(json.dumps(DYNAMIC))
    with running(folder) as client:
        yield client


@pytest.fixture(scope="module")
def description(client: Client) -> Any:
    """The description as served, with folders that are there in place of any text."""
    document = client.send("GET", "/openapi.json")[1]
    words = {"train_id": ["job", "dynamic"], "dir": ["job", "dynamic"], "profile": ["profiler"]}

    def narrow(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("name") in words and "in" in node:
                node["schema"] = {"enum": words[node["name"]]}
            for key, value in node.items():
                if key == "properties" and "dir" in value:
                    value["dir"] = {"enum": words["dir"]}
                narrow(value)
        elif isinstance(node, list):
            for one in node:
                narrow(one)

    narrow(document)
    loaded = schemathesis.openapi.from_dict(document)
    loaded.config.update(base_url=client.url)
    return loaded


@schema.parametrize()
@settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_m72_schemathesis_finds_nothing(case: Any) -> None:
    """A request that is known and not answered says so with 501."""
    response = case.call()
    name = case.operation.definition.raw["operationId"]
    if name in UNANSWERED and response.status_code == 501:
        assert response.json()["error_code"] == "not-answered"
        return
    case.validate_response(response)


def test_m72_the_description_is_exported_as_it_is_served(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spec", "export", "interface/mindinsight", "--as", "openapi"]) == 0
    assert json.loads(capsys.readouterr().out) == client.send("GET", "/openapi.json")[1]


def test_m72_every_request_has_a_route_and_an_answer_or_a_reason() -> None:
    paths = openapi_document(CATALOG, DAY)["paths"]
    now = {one.path: one for one in CATALOG.requests.values() if one.method_on(DAY)}
    assert paths.keys() == now.keys()
    for path, one in now.items():
        (operation,) = paths[path].values()
        assert ("200" in operation["responses"]) == one.is_answered == (one.request in ANSWERS)
        assert ("501" in operation["responses"]) == (not one.is_answered)
        assert bool(one.answer) == one.is_answered


def test_m72_names_of_the_spec_fit_each_other() -> None:
    for one in CATALOG.requests.values():
        assert set(one.analysers) <= CATALOG.analysers.keys()
        assert set(one.refusals) <= CATALOG.refusals.keys()
        assert set(one.errata) <= CATALOG.errata.keys()
        assert {argument.refusal for argument in one.arguments} <= CATALOG.refusals.keys()
        assert not one.answer or one.answer in CATALOG.answers
    used = {
        refusal.refusal
        for one in CATALOG.requests.values()
        if one.method_on(DAY)
        for refusal in refusals_of(CATALOG, one, DAY)
    }
    assert CATALOG.refusals.keys() - used == {"no-such-request", "method"}
    codes = [one.code for one in CATALOG.refusals.values()]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("name", CATALOG.answers)
def test_m72_answers_are_schemas(name: str) -> None:
    assert compile_schema(CATALOG.answers[name], CATALOG.answers, lambda _: True)


def test_m72_a_day_has_its_requests() -> None:
    of_2020 = openapi_document(CATALOG, "2020-06-01")["paths"]
    assert [path.rpartition("/")[2] for path in of_2020] == ["search", "devices"]
    before = openapi_document(CATALOG, "2022-09-12")["paths"]
    (path,) = [one for one in before if one.endswith("dynamic-shape-detail")]
    assert before[path].keys() == {"get"}
    assert openapi_document(CATALOG, DAY)["paths"][path].keys() == {"post"}


def test_m70_m71_m73_every_request_is_looked_up(capsys: pytest.CaptureFixture[str]) -> None:
    for address in ("request/ops/search", "ops/search", "refusal/no-job", "50545005"):
        assert main(["spec", "show", address]) == 0
    shown = capsys.readouterr().out
    assert "Operators, by the analyser that op_type names." in shown
    assert "Train job is not exist." in shown
