"""The description of the requests, and that the server keeps to it: M72."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from rest_files import DYNAMIC, Client, running, write_exported, write_files, write_ranks
from schemathesis.checks import CHECKS, load_all_checks

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
OF_FILES = ("profile/dynamic-shape-detail", "profile/cluster-step-trace-summary")
"""Requests whose steps or columns hang on the files."""

RANKS = 5
"""Seed of files of several ranks in a pipeline."""

load_all_checks()
positive_data_acceptance = CHECKS.get_one("positive_data_acceptance")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("served")
    for job in ("job", "dynamic"):
        write_files(folder / job / "profiler")
        write_ranks(folder / job / "profiler", RANKS)
        write_exported(folder / job / "profiler")
    for path in (folder / "dynamic/profiler").glob("cpu_*"):
        path.unlink()
    (folder / "dynamic/profiler/dynamic_shape_info_0.json").write_text(json.dumps(DYNAMIC))
    with running(folder) as client:
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


def of_known_folders(document: Any) -> Any:
    """The description with folders that are there in place of any text."""
    jobs = ["job", "dynamic"]
    folders = {"train_id": jobs, "dir": jobs, "profile": ["profiler"], "device_id": ["0"]}
    folders |= {"op_id": [0, 1, 2], "graph_id": [1], "node_id": [0, 1], "step": [1, 2, 3]}
    for path in document["paths"].values():
        for operation in path.values():
            for one in operation.get("parameters", ()):
                if one["name"] in folders:
                    one["schema"] = {"enum": folders[one["name"]]}
                    one["required"] |= one["name"] == "graph_id"  # there is no graph 0
                elif one["name"] == "type":  # a step, or a part of one that a training has
                    one["schema"]["maximum"] = 3
                    if "fp" in one["schema"].get("enum", ()):
                        one["schema"]["enum"].remove("fp")
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            for body in schema.get("anyOf", [schema]):
                for name in body.get("properties", {}):
                    if name in folders:
                        body["properties"][name] = {"enum": folders[name]}
                    elif name == "filter_condition":
                        known = body["properties"][name]["properties"]
                        known |= {one: {"enum": [0, 1, "1"]} for one in known if one == "step_id"}
    return document


def runs(examples: int) -> settings:
    return settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def validate(case: Any, client: Client, excluded: list[Any]) -> None:
    """A request that is known and not answered says so with 501, whatever it asks."""
    response = case.call(base_url=client.url)
    name = case.operation.definition.raw["operationId"]
    if name in UNANSWERED and response.status_code == 501:
        assert response.json()["error_code"] == "not-answered"
        return
    case.validate_response(response, excluded_checks=excluded)


WHOLE = openapi_document(CATALOG, DAY)
SOME = of_one_analyser(openapi_document(CATALOG, DAY))


@pytest.mark.exhaustive
@schemathesis.openapi.from_dict(SOME).parametrize()
@runs(3)
def test_m72_schemathesis_finds_nothing(case: Any, client: Client) -> None:
    """Not every text is a folder."""
    validate(case, client, [positive_data_acceptance])


@pytest.mark.exhaustive
@schemathesis.openapi.from_dict(of_known_folders(copy.deepcopy(SOME))).parametrize()
@runs(3)
def test_m72_schemathesis_finds_nothing_in_known_folders(case: Any, client: Client) -> None:
    of_files = case.operation.definition.raw["operationId"] in OF_FILES
    validate(case, client, [positive_data_acceptance] if of_files else [])


@pytest.mark.campaign
@schemathesis.openapi.from_dict(of_known_folders(copy.deepcopy(WHOLE))).parametrize()
@runs(50)
def test_m72_schemathesis_finds_nothing_with_any_analyser(case: Any, client: Client) -> None:
    of_files = case.operation.definition.raw["operationId"] in OF_FILES
    validate(case, client, [positive_data_acceptance] if of_files else [])


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
