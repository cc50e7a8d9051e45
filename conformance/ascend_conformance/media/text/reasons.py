"""Why the files of a folder are taken for those of their generation of writers."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.text.headers import Circumstance
from ascend_spec import text_catalog, timeline_catalog
from ascend_spec.text import CsvFile

from ...engine.deciding import deciding
from .folder import Folder


def reasons(folder: Folder) -> tuple[str, ...]:
    """The facts that exclude other generations of the same output, few and short."""
    found: dict[str, set[str]] = {}
    for fact, writer in (*_of_headers(folder), *_of_timelines(folder)):
        found.setdefault(fact, set()).add(writer)
    return deciding(found)


def _of_headers(folder: Folder) -> Iterator[tuple[str, str]]:
    """What one header has or lacks, and a writer that would write it otherwise."""
    written = set(folder.writers.values())
    for number in sorted(folder.csv, key=lambda one: folder.files[one].label):
        at, header = folder.at[number], folder.csv[number][1]
        if not header.exact:
            continue
        spec = text_catalog().csv[folder.files[number].name]
        for other in spec.writers.values():
            if other.output != spec.writers[at.writer].output or other.id in written:
                continue
            theirs = _header(spec, at, other.id)
            place = f"in {spec.name}.csv"
            for name in header.header if theirs else ():
                if name not in theirs:
                    yield f"{name} {place}", other.id
            for name in theirs:
                if name not in header.header:
                    yield f"no {name} {place}", other.id


def _header(spec: CsvFile, at: Circumstance, writer: str) -> tuple[str, ...]:
    """The header of another writer under the same circumstances; empty where there are none."""
    try:
        return spec.header(
            writer=writer, family=at.family, level=at.level, metrics=at.metrics, scene=at.scene
        )
    except ValueError:
        return ()


def _of_timelines(folder: Folder) -> Iterator[tuple[str, str]]:
    """Names, labels and numbered threads of processes, and a writer that has them otherwise."""
    written = set(folder.writers.values())
    facts = timeline_catalog()
    for number, reading in sorted(folder.readings.items()):
        own_outputs = {text_catalog().writers[one].output for one in written}
        others = [
            one
            for one in facts.files[reading.file].writers
            if one not in written and text_catalog().writers[one].output in own_outputs
        ]
        select = "SELECT pid, name, label FROM trace.process WHERE file = ? AND name IS NOT NULL"
        for pid, name, label in folder.facts.rows(f"{select} ORDER BY row", (number,)):
            if pid not in reading.layers:
                continue
            for other in others:
                if facts.layer_of(name, label or "", other) is None:
                    yield f"layer {name} labelled {label}", other
        for layer in reading.layers.values():
            ours = {thread.thread: thread.tid for thread in facts.threads(layer, reading.writer)}
            for other in others:
                for thread in facts.threads(layer, other):
                    own = ours.get(thread.thread, thread.tid)
                    if own != thread.tid and thread.name and isinstance(own[0], int):
                        yield f"thread {thread.name.template} {own[0]}", other
