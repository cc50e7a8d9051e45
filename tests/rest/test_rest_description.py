"""The description of the requests, and that the server keeps to it: M72."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from rest_files import Client, served

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.verb import analyse
from ascend_ref.tools.serve.rest.answers import ANSWERS
from ascend_spec import mindspore_catalog
from ascend_spec.core.dialect import compile_schema
from ascend_spec.mindspore import openapi_document, refusals_of
from ascend_spec.mindspore.requests import LAST_VIEWED

CATALOG = mindspore_catalog()
DAY = CATALOG.day_of(LAST_VIEWED)
UNANSWERED = {name for name, one in CATALOG.requests.items() if not one.is_answered}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(tmp_path_factory.mktemp("served")) as client:
        yield client


def test_m72_the_description_is_exported_as_it_is_served(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spec", "export", "interface/mindinsight", "--as", "openapi"]) == 0
    assert json.loads(capsys.readouterr().out) == client.send("GET", "/openapi.json")[1]


def test_m72_every_request_has_a_route_and_an_answer_or_a_reason() -> None:
    paths = openapi_document(CATALOG, DAY)["paths"]
    now = {one.path: one for one in CATALOG.requests.values() if one.method_on(DAY)}
    assert paths.keys() == now.keys()
    assert ANSWERS.keys() == CATALOG.requests.keys() - UNANSWERED
    for path, one in now.items():
        (operation,) = paths[path].values()
        assert ("200" in operation["responses"]) == one.is_answered
        assert ("501" in operation["responses"]) == (not one.is_answered)
        assert bool(one.body) == one.is_answered


def test_m72_the_last_generation_that_is_viewed_is_that_of_the_last_viewer() -> None:
    assert [name for name, one in CATALOG.generations.items() if one.viewer] == [LAST_VIEWED]
    (option,) = [one for one in analyse.params if one.name == "generation"]
    assert option.default == LAST_VIEWED


def test_m72_names_of_the_spec_fit_each_other() -> None:
    for one in CATALOG.requests.values():
        assert set(one.analysers) <= CATALOG.analysers.keys()
        assert set(one.refusals) <= CATALOG.refusals.keys()
        assert set(one.errata) <= CATALOG.errata.keys()
        assert {argument.refusal for argument in one.arguments} <= CATALOG.refusals.keys()
        assert not one.body or one.body in CATALOG.answers
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
    for address in ("profile/ops/search", "refusal/no-job", "refusal/50545005"):
        assert main(["spec", "show", address]) == 0
    shown = capsys.readouterr().out
    assert "Operators, by the analyser that op_type names." in shown
    assert "Train job is not exist." in shown
