"""The JSON side files of ``PROF_*`` folders: a schema for each."""

from __future__ import annotations

from ascend_spec.core import Folder
from ascend_spec.core.dialect import DIALECT, Node, compile_schema

SIDE_FILES = ("end_info", "info", "sample", "start_info")
"""Their names, in which the device and the ending of the real ones are left out."""


def side_schema(folder: Folder, name: str) -> Node:
    """JSON Schema 2020-12 of a side file, of all collectors together.

    Nodes keep our annotation ``unit``. Raises ``KeyError`` for an unknown name.
    """
    if name not in SIDE_FILES:
        raise KeyError(f"unknown side file {name!r}; known: {', '.join(SIDE_FILES)}")
    source = folder.read(f"raw/side/{name}.schema.yaml")
    schema = compile_schema(source, source.get("$defs", {}), lambda node: True)
    return {"$schema": DIALECT, "$id": f"urn:ascend-ref:raw:{name}", **schema}
