"""The order of the instants of iterations in step_trace.csv, which torch_npu does not write."""

from __future__ import annotations

from pathlib import Path

import pytest
from slices import marked

from ascend_conformance.engine.relations.edits import change
from ascend_conformance.engine.relations.judge import Answer, ask
from ascend_conformance.engine.relations.rule import load_relations
from ascend_conformance.media.text.database import open_facts
from ascend_conformance.media.text.edits import EditableFiles
from ascend_conformance.media.text.folder import read_folder
from ascend_conformance.media.text.specimens import write_specimen


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", ["python", marked("cpp", pytest.mark.exhaustive)])
def test_instants_out_of_order_are_found_and_legal_cases_are_not(
    writer: str, tmp_path: Path
) -> None:
    relation = load_relations()["CSV330"]
    with open_facts() as facts:
        deliverables, _ = write_specimen(writer, tmp_path)
        folder = read_folder(facts, [one for one in deliverables if one.kind == "csv"])
        shown = EditableFiles(facts, folder.csv_writers)
        for edits, count in [
            ((), 0),
            (relation.search.edits, 1),
            *((one, 0) for one in relation.search.legal),
        ]:
            with facts.undone():
                for one in edits:
                    change(relation, one, shown)
                found = ask(relation, shown)
                assert isinstance(found, Answer)
                assert found.population
                assert found.count == count
                assert not count or found.view.name == "step_trace.csv"
