"""The spec of ``visualize_data.bin`` in memory: load once, then ask for the state of one epoch.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache, cached_property
from typing import Any

from ascend_spec.core.dialect import DIALECT, Node, compile_schema, inlined, known_keys
from ascend_spec.loader import best_grade, load_errata, load_sources, read_document
from ascend_spec.model import Erratum, Source

from .enums import load_enums
from .kernel import LoadFacts, MemoryFacts, RooflineFacts, load_columns
from .model import BinEnum, BlockType, Column, Epoch, Requirement, Writing

__all__ = ["BinCatalog", "BlockType", "Epoch", "bin_catalog"]

FOLDER = "bin"


class BinCatalog:
    """Every fact about the file, all epochs together; :func:`bin_catalog` gives the loaded one.

    Where an ``epoch`` is asked for, it is the id of one; any other raises ``KeyError`` naming the
    known ones.
    """

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """Sources by id."""
        return load_sources()

    @cached_property
    def blocks(self) -> Mapping[int, BlockType]:
        """Block types by code, ascending."""
        rows = read_document(f"{FOLDER}/blocks.yaml")
        return {row["code"]: _block(row, self.sources, self.errata) for row in rows}

    @cached_property
    def epochs(self) -> tuple[Epoch, ...]:
        """Epochs, oldest first."""
        return tuple(map(_epoch, read_document(f"{FOLDER}/epochs.yaml")))

    @cached_property
    def enums(self) -> Mapping[str, BinEnum]:
        """Sets of values by name, those among them that follow from the tables of this folder."""
        facts = (self.memory, self.loads, self.rooflines)
        return load_enums() | {one.name: one for fact in facts for one in fact.enums()}

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata by id."""
        return load_errata(f"{FOLDER}/errata.yaml")

    @cached_property
    def memory(self) -> MemoryFacts:
        """Memory paths (0x08), memory tables (0x09) and the table of blocks (0x05)."""
        return MemoryFacts(self.in_force)

    @cached_property
    def loads(self) -> LoadFacts:
        """The entries of 0x06 and 0x07."""
        return LoadFacts(self.in_force)

    @cached_property
    def rooflines(self) -> RooflineFacts:
        """The charts of 0x0D."""
        return RooflineFacts(self.in_force)

    @cached_property
    def columns(self) -> Mapping[int, Mapping[str, Column]]:
        """The columns of 0x03 and 0x04, by block type and name."""
        return load_columns()

    def block(self, name: str) -> BlockType | None:
        """The block type of a code (``0x08``, ``8``), name or slug, capitals aside."""
        wanted = name.strip().casefold()
        for block in self.blocks.values():
            codes = (f"0x{block.code:02x}", f"0x{block.code:x}", str(block.code))
            if wanted in (*codes, block.name, block.slug):
                return block
        return None

    def in_force(self, since: str | None, until: str | None, epoch: str) -> bool:
        """Whether a fact with these bounds holds at an epoch; ``until`` is the first without it."""
        order = self._order
        if epoch not in order:
            raise KeyError(f"unknown epoch {epoch!r}; known: {', '.join(order)}")
        at = order[epoch]
        return (since is None or order[since] <= at) and (until is None or at < order[until])

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

    @cached_property
    def _order(self) -> Mapping[str, int]:
        return {epoch.id: number for number, epoch in enumerate(self.epochs)}

    @cache  # noqa: B019 - the catalog lives as long as the process
    def _schema(self, code: int, epoch: str) -> Node:
        if not self.has_schema(code):
            raise KeyError(f"block type 0x{code:02X} holds no JSON")
        document = read_document(f"{FOLDER}/payloads/{self.blocks[code].slug}.schema.yaml")
        shared = read_document(f"{FOLDER}/payloads/common.schema.yaml")
        compiled = compile_schema(
            document,
            {**shared["$defs"], **document.get("$defs", {})},
            lambda node: self.in_force(node.get("since"), node.get("until"), epoch),
            self.enums,
        )
        identity = {"$schema": DIALECT, "$id": f"urn:ascend-ref:bin:{code:02X}:{epoch}"}
        return {**identity, **inlined(compiled)}


@cache
def bin_catalog() -> BinCatalog:
    """The packaged spec, loaded once per process."""
    return BinCatalog()


def _block(
    row: Mapping[str, Any], sources: Mapping[str, Source], errata: Mapping[str, Erratum]
) -> BlockType:
    names = row.get("names", {})
    source = tuple(row["source"])
    return BlockType(
        code=row["code"],
        name=row["name"],
        slug=row["slug"],
        summary=row["summary"],
        payload=row["payload"],
        many=row["many"],
        read=row["read"],
        grade=best_grade(source, sources),
        source=source,
        document_names=tuple(names.get("document", ())),
        exporter_name=names.get("exporter"),
        viewer_name=names.get("viewer"),
        requires=tuple(Requirement(**one) for one in row.get("requires", ())),
        written={writer: Writing(**how) for writer, how in row.get("written", {}).items()},
        since=row.get("since"),
        experimental=row.get("experimental", False),
        errata=tuple(
            one.id
            for one in errata.values()
            if any(place.partition("/")[0] == f"0x{row['code']:02X}" for place in one.at)
        ),
    )


def _epoch(row: Mapping[str, Any]) -> Epoch:
    signs: Sequence[Mapping[str, Any]] = row.get("signs", ())
    return Epoch(
        id=row["id"],
        date=row["date"],
        grade=row["grade"],
        summary=row["summary"],
        source=tuple(row["source"]),
        signs={sign["block"]: sign["form"] for sign in signs},
    )
