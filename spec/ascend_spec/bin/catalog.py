"""The spec of ``visualize_data.bin`` in memory: load once, then ask for the state of one epoch.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import cache, cached_property
from typing import Any

import construct

from ascend_spec.core import Axis, Erratum, Loader, bounds_of
from ascend_spec.core.dialect import DIALECT, Node, compile_schema, inlined, known_keys
from ascend_spec.core.loader import reading, without
from ascend_spec.core.values import ValueSet

from .container import HEADER
from .kernel import LoadFacts, MemoryFacts, RooflineFacts, load_columns
from .model import BlockType, Column, Epoch
from .records import CACHE_RECORD, TRACE_RECORD

FOLDER = "bin"


class BinCatalog:
    """Every fact about the file, all epochs together; ``Spec.bin`` is the loaded one.

    Where an ``epoch`` is asked for, it is the id of one; any other raises ``KeyError`` naming the
    known ones.
    """

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def blocks(self) -> Mapping[int, BlockType]:
        """Block types by code, ascending."""
        name = f"{FOLDER}/blocks.yaml"
        with reading(name):
            return {
                code: _block(self.documents, row, place, self.errata)
                for code, row, place in self.documents.rows(name, "code")
            }

    @cached_property
    def epochs(self) -> tuple[Epoch, ...]:
        """Epochs, oldest first."""
        name = f"{FOLDER}/epochs.yaml"
        with reading(name):
            return tuple(
                self.documents.fact(
                    Epoch,
                    row,
                    place,
                    signs={one["block"]: one["form"] for one in row.get("signs", ())},
                )
                for _, row, place in self.documents.rows(name, "id")
            )

    @cached_property
    def axis(self) -> Axis:
        """The axis of the epochs."""
        return Axis("epoch", [epoch.id for epoch in self.epochs])

    @cached_property
    def enums(self) -> Mapping[str, ValueSet]:
        """Sets of values by name, those among them that follow from the tables of this folder."""
        facts = (self.memory, self.loads, self.rooflines)
        written = self.documents.named(ValueSet, f"{FOLDER}/enums.yaml")
        return written | {one.name: one for fact in facts for one in fact.enums()}

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata by id."""
        return self.documents.errata(f"{FOLDER}/errata.yaml")

    @cached_property
    def memory(self) -> MemoryFacts:
        """Memory paths (0x08), memory tables (0x09) and the table of blocks (0x05)."""
        return MemoryFacts(self.documents, self.axis)

    @cached_property
    def loads(self) -> LoadFacts:
        """The entries of 0x06 and 0x07."""
        return LoadFacts(self.documents, self.axis)

    @cached_property
    def rooflines(self) -> RooflineFacts:
        """The charts of 0x0D."""
        return RooflineFacts(self.documents, self.axis)

    @property
    def records(self) -> Mapping[str, construct.Struct]:
        """The declarations of packed bytes with fields, by the names that people look up."""
        return {"header": HEADER, "trace-record": TRACE_RECORD, "cache-record": CACHE_RECORD}

    @cached_property
    def columns(self) -> Mapping[int, Mapping[str, Column]]:
        """The columns of 0x03 and 0x04, by block type and name."""
        return load_columns(self.documents)

    def payload_schema(self, code: int, epoch: str) -> dict[str, Any]:
        """Plain JSON Schema 2020-12 of the JSON of a block type at an epoch, without any ``$ref``.

        Of 0x0A it is the section of call stacks. The nodes keep our annotations: ``unit``;
        ``references`` (places whose values the values repeat); ``erratum``, about whatever fails
        at or below the node; ``advisory``, where such a failure is advice even in a file of this
        epoch (:func:`ascend_spec.core.dialect.annotation_at` finds it). A property that fails to be
        there fails in an ``allOf`` of its own where an erratum explains it. The schema does not
        ask whether the block type existed at the epoch.

        Raises ``KeyError`` for a block type without JSON.
        """
        return deepcopy(self._schema(code, epoch))

    def known_keys(self, code: int, epoch: str) -> Mapping[str, frozenset[str]]:
        """The keys that the objects of a payload may have, by place; readers ignore any other.

        A place is a JSON pointer with ``*`` for every index, ``""`` for the payload itself. Objects
        whose keys are free (dtypes, args, details of samples) are not among the places.
        """
        return known_keys(self._schema(code, epoch))

    def has_schema(self, code: int) -> bool:
        """Whether a block type holds JSON that :meth:`payload_schema` describes."""
        return code in self.blocks and self.blocks[code].payload in ("json", "trace-records")

    @cache  # noqa: B019 - the catalog lives as long as the process
    def _schema(self, code: int, epoch: str) -> Node:
        if not self.has_schema(code):
            raise KeyError(f"block type 0x{code:02X} holds no JSON")
        document = self._payload(self.blocks[code].slug)
        shared = self._payload("common")
        compiled = compile_schema(
            document,
            {**shared["$defs"], **document.get("$defs", {})},
            lambda node: self.axis.in_force(bounds_of(node), epoch),
            self.enums,
        )
        identity = {"$schema": DIALECT, "$id": f"urn:ascend-ref:bin:{code:02X}:{epoch}"}
        return {**identity, **inlined(compiled)}

    @cache  # noqa: B019 - the catalog lives as long as the process
    def _payload(self, slug: str) -> Node:
        """A payload document of all epochs together."""
        document: Node = self.documents.folder.read(f"{FOLDER}/payloads/{slug}.schema.yaml")
        return document


def _block(
    loader: Loader, row: Mapping[str, Any], place: str, errata: Mapping[str, Erratum]
) -> BlockType:
    names = row.get("names", {})
    return loader.fact(
        BlockType,
        without(row, "names"),
        place,
        document_names=names.get("document", ()),
        exporter_name=names.get("exporter"),
        viewer_name=names.get("viewer"),
        errata=tuple(
            one.id
            for one in errata.values()
            if any(place.partition("/")[0] == f"0x{row['code']:02X}" for place in one.at)
        ),
    )
