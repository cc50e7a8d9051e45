"""A working copy of the spec stands in for the packaged one, in one process and in others."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from slices import some
from working_copy import add_column, copy_spec

import ascend_conformance
import ascend_ref
import ascend_simulator
from ascend_conformance.media.db.plan import all_instances, schema_key
from ascend_ref.cli import main
from ascend_ref.db.ddl import create_table
from ascend_ref.execution import Processes
from ascend_spec import Spec, catalog, current, load_spec, packaged, using
from ascend_spec.core import Folder, SpecError

DRAFT = "1.9.0-draft"
COLUMN = (
    "queueDepth: {type: byteCount, shows: {nothing: unrecorded}, since: '2026-12-01', "
    "summary: Depth of the queue.}"
)


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    folder = copy_spec(tmp_path_factory.mktemp("draft") / "spec")
    add_column(folder, "msprof/task.yaml", COLUMN, ("1.9.0", "2026-12-01"))
    return load_spec(folder)


def test_a_column_is_there_in_the_working_copy_alone(draft: Spec) -> None:
    with using(draft):
        schema = catalog().at("1.9.0", "msprof")
        assert "queueDepth INTEGER" in create_table(schema.tables["TASK"], schema)
    assert "queueDepth" not in catalog().tables["TASK"].columns
    assert current() is packaged()


def test_the_old_revision_of_a_working_copy_is_that_of_the_packaged_spec(draft: Spec) -> None:
    newest = packaged().db.revisions[-1].id
    for carrier in ("msprof", "pytorch", "analysis"):
        assert draft.db.at(newest, carrier) == packaged().db.at(newest, carrier)


def test_rules_are_made_anew_for_another_spec(draft: Spec) -> None:
    with using(draft):
        rules = all_instances(schema_key(catalog().at(DRAFT, "msprof")))
    known = all_instances(schema_key(catalog().at(catalog().revisions[-1].id, "msprof")))
    added = [rule for rule in rules if "queueDepth" in str(rule)]
    assert added
    assert len(rules) == len(known) + len(added)


@pytest.mark.exhaustive
def test_other_processes_use_the_spec_that_is_in_use(draft: Spec) -> None:
    with using(draft):
        found = list(Processes(2).map(_newest, None, [1, 2]))
    assert found == [DRAFT, DRAFT]
    assert pickle.loads(pickle.dumps(packaged())) is packaged()  # noqa: S301 - our own bytes


def _newest(_common: None, _item: int) -> str:
    return catalog().revisions[-1].id


def test_the_command_line_takes_a_working_copy(
    draft: Spec, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--spec", str(draft.folder.root), "spec", "show", "TASK.queueDepth"]) == 0
    assert "Depth of the queue." in capsys.readouterr().out
    assert main(["spec", "show", "TASK.queueDepth"]) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "queueDepth: {type: depth, shows: {nothing: unrecorded}, summary: Depth.}",
            "columns.queueDepth: type: unknown value type 'depth'",
        ),
        (
            "queueDepth: {type: byteCount, shows: {nothing: unrecorded}, summary: 7}",
            "columns.queueDepth: Expected `str`, got `int` - at `$.summary`",
        ),
        (
            "queueDepth: {type: byteCount, shows: {nothing: unrecorded}, summry: Depth.}",
            "columns.queueDepth: unknown key 'summry'",
        ),
        (
            "queueDepth: {type: byteCount, shows: {nothing: unrecorded}, source: [hearsay]}",
            "columns.queueDepth: source: expected ids of core/sources.yaml, got ['hearsay']",
        ),
    ],
)
def test_a_fault_is_reported_with_file_and_place(tmp_path: Path, line: str, message: str) -> None:
    folder = copy_spec(tmp_path / "spec")
    add_column(folder, "msprof/task.yaml", line, ("1.9.0", "2026-12-01"))
    with pytest.raises(SpecError) as failure:
        load_spec(folder).db.tables  # noqa: B018 - loading is what fails
    assert str(failure.value).startswith(f"db/tables/msprof/task.yaml: {message}")


class Damaged(Folder):
    """The packaged documents, one of them with other content."""

    def __init__(self, name: str, content: Any) -> None:
        super().__init__(packaged().folder.root)
        self.name, self.content = name, content

    def read(self, name: str) -> Any:
        return deepcopy(self.content if name == self.name else parsed(name))


@cache
def parsed(name: str) -> Any:
    return packaged().folder.read(name)


def damages(content: Any) -> Iterator[Any]:
    """The content without one of its keys, or with another kind of value there, and so its rows."""
    if isinstance(content, dict):
        for key in content:
            yield {name: value for name, value in content.items() if name != key}
            yield {**content, key: 7}
    if isinstance(content, list):
        yield {}
        for row in damages(content[0]):
            yield [row, *content[1:]]


@pytest.mark.parametrize(
    ("name", "family"),
    some(
        [
            ("core/sources.yaml", "db"),
            ("core/value_types.yaml", "db"),
            ("db/revisions.yaml", "db"),
            ("db/errata.yaml", "db"),
            ("db/foreign.yaml", "db"),
            ("db/enums/hccl_link_type.yaml", "db"),
            ("db/tables/msprof/task.yaml", "db"),
            ("text/writers.yaml", "text"),
            ("text/csv/op_statistic.yaml", "text"),
            ("timeline/layers/overlap_analysis.yaml", "timeline"),
            ("timeline/flows.yaml", "timeline"),
            ("timeline/forms.yaml", "timeline"),
            ("timeline/pids.yaml", "timeline"),
            ("bin/blocks.yaml", "bin"),
            ("bin/epochs.yaml", "bin"),
            ("raw/files.yaml", "raw"),
            ("raw/chips.yaml", "raw"),
            ("raw/errata.yaml", "raw"),
            ("raw/text.yaml", "raw"),
            ("raw/vocabularies.yaml", "raw"),
            ("api/commands.yaml", "api"),
            ("api/errors.yaml", "api"),
        ],
        every=10,
    ),
)
def test_a_damaged_document_is_loaded_or_reported(name: str, family: str) -> None:
    parts = {
        "db": ("tables", "enums", "errata", "foreign_objects"),
        "text": ("csv",),
        "timeline": ("layers", "flows", "forms", "pids", "files"),
        "bin": ("blocks", "epochs"),
        "raw": ("files", "chips", "errata", "grammars", "vocabularies"),
        "api": ("commands", "events", "errors"),
    }
    reports = [
        report(Spec(Damaged(name, one)), family, parts[family]) for one in damages(parsed(name))
    ]
    assert any(reports)
    assert all(re.match(r"[a-z_/]+\.yaml: ", one) for one in reports if one)


def report(spec: Spec, family: str, parts: tuple[str, ...]) -> str:
    """What is said of a spec that cannot be used; empty where it can."""
    try:
        for part in parts:
            getattr(getattr(spec, family), part)
    except SpecError as failure:
        return str(failure)
    return ""


def test_a_folder_that_is_no_spec_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--spec", str(tmp_path), "spec", "show", "TASK"]) == 2
    error = capsys.readouterr().err
    assert "db/revisions.yaml: cannot be read" in error
    assert error.count("\n") == 1


ACCESSORS = {
    *("catalog", "text_catalog", "timeline_catalog", "bin_catalog", "api_catalog", "raw_catalog"),
    "current",
    *("schema_of", "writers_of", "source_of", "entities", "showers", "shower"),
}


NAMED = re.compile(rf"\b({'|'.join(sorted(ACCESSORS))})\(")


def test_nothing_keeps_facts_for_longer_than_their_spec_is_in_use() -> None:
    """Where facts are asked for outside a function, or kept by ``functools.cache``."""
    kept = [
        f"{path}:{node.lineno}"
        for package in (ascend_ref, ascend_simulator, ascend_conformance)
        for path in sorted(Path(package.__path__[0]).rglob("*.py"))
        if NAMED.search(text := path.read_text("utf-8"))
        for node in ast.parse(text).body
        if not isinstance(node, ast.FunctionDef) or _cached(node)
        if _asks(node)
    ]
    assert kept == []


def _cached(node: ast.FunctionDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "cache" for one in node.decorator_list)


def _asks(node: ast.AST) -> bool:
    """Whether a call of an accessor happens when the statement runs, or in a cached function."""
    calls = [
        one
        for one in ast.walk(node)
        if isinstance(one, ast.Call)
        if isinstance(one.func, ast.Name) and one.func.id in ACCESSORS
    ]
    if not calls:
        return False
    inner = [
        child
        for child in ast.walk(node)
        if isinstance(child, ast.FunctionDef | ast.Lambda) and child is not node
    ]
    later = {id(below) for one in inner for below in ast.walk(one)}
    return any(id(call) not in later for call in calls)
