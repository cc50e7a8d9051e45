"""What requests that Schemathesis makes of the description need: files, and how they are judged."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, settings
from rest_files import Client
from schemathesis.checks import CHECKS, load_all_checks

from ascend_spec import mindspore_catalog
from ascend_spec.mindspore.requests import LAST_VIEWED

CATALOG = mindspore_catalog()
DAY = CATALOG.day_of(LAST_VIEWED)
UNANSWERED = {name for name, one in CATALOG.requests.items() if not one.is_answered}
OF_FILES = ("profile/dynamic-shape-detail", "profile/cluster-step-trace-summary")
"""Requests whose steps or columns hang on the files."""

load_all_checks()
positive_data_acceptance = CHECKS.get_one("positive_data_acceptance")


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
