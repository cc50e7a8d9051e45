"""Edits of the documents of a spec in memory, as a working copy with the edits would be.

Each edit is one mapping. ``in`` names a document; ``at`` is a JSON pointer in it, in which
``id=7`` is the row of a list whose ``id`` is 7.

- ``set: <value>``: what stands there, or comes there; ``before: <key>``: in front of that key, to
  which what stands there is moved where nothing is set
- ``drop: true``; ``name: <key>``: the key is called so
- ``append: <value>`` to the list there; ``insert: <value>`` in front of the row there
- ``new: <content>`` of a document, in full; ``gone: true``, without ``at``: the document

Records are declared in code. ``record`` names one of ``ascend_spec.raw``, ``at`` a field of it:

- ``name``, ``unit``, ``values: <text>`` of the field; ``form: <type>``, as ``u32``
- ``before: <field>``: it stands there; ``gap: true``: its bytes are filled
- ``behind: <name>``: a new field of this ``form`` behind it; ``fills: <name>`` one in the gap there
- ``pad: <bytes>`` behind all fields, without ``at``
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from typing import Any

import construct

from ascend_spec import Spec
from ascend_spec.core import Folder, Loader, SpecError
from ascend_spec.core.packed import Field
from ascend_spec.core.pointer import keys_of
from ascend_spec.raw import RawCatalog

Edit = Mapping[str, Any]


RECORDS = "raw/records"
"""Where declarations of records stand; not a document, but what is below the folder of one."""

FORMS: Mapping[str, construct.Construct] = {
    "u16": construct.Int16ul,
    "u32": construct.Int32ul,
    "u64": construct.Int64ul,
    "i64": construct.Int64sl,
}


class EditedFolder(Folder):
    """The documents of a folder with edits."""

    def __init__(self, folder: Folder, edits: Iterable[Edit]) -> None:
        super().__init__(folder.root)
        self._edits: dict[str, list[Edit]] = {}
        for edit in edits:
            self._edits.setdefault(edit.get("in", RECORDS), []).append(edit)

    @property
    def identity(self) -> Hashable:
        """What two folders share that hold the same documents."""
        return self.root, repr(self._edits)

    @property
    def records(self) -> list[Edit]:
        """The edits of declarations."""
        return self._edits.get(RECORDS, [])

    def read(self, name: str) -> Any:
        """A document with its edits; :class:`SpecError` for an edit that finds no place."""
        edits = self._edits.get(name, ())
        content = None if any("new" in one for one in edits) else super().read(name)
        for edit in edits:
            try:
                content = _edited(deepcopy(content), edit)
            except (KeyError, IndexError, StopIteration, ValueError, TypeError) as error:
                raise SpecError(f"{name}: no place for the edit {edit}") from error
        return content

    def names(self, folder: str) -> Iterator[str]:
        """The names of the documents below a folder but those that are gone, and the new ones."""
        known = (name for name in self.contents(folder) if name != folder)
        return iter(sorted(known, key=lambda name: name.split("/")))

    def contents(self, folder: str) -> dict[str, bytes]:
        """The bytes of the documents, and those of the edits."""
        found = super().contents(folder)
        for name, edits in self._edits.items():
            if name == folder or name.startswith(f"{folder}/"):
                found[name] = found.get(name, b"") + repr(edits).encode()
                if any("gone" in one for one in edits):
                    del found[name]
        return found


def edited(spec: Spec, edits: Iterable[Edit]) -> Spec:
    """A spec with edits. Raises ``SpecError`` when a document with an edit is read and does not
    fit.
    """
    return _EditedSpec(EditedFolder(spec.folder, edits))


class _EditedSpec(Spec):
    """A spec whose declarations of records are edited as well."""

    def __init__(self, folder: EditedFolder) -> None:
        super().__init__(folder)
        self._edited = folder

    @cached_property
    def raw(self) -> RawCatalog:
        """Raw files, with the edits of their records."""
        return _EditedRaw(self.loader, self._edited.records)


class _EditedRaw(RawCatalog):
    def __init__(self, documents: Loader, edits: Iterable[Edit]) -> None:
        super().__init__(documents)
        self._edits = list(edits)

    def record(self, name: str) -> construct.Struct:
        """The declaration of a record, with its edits."""
        found = super().record(name)
        for edit in self._edits:
            if edit["record"] == name:
                found = construct.Struct(*_edited_fields(list(found.subcons), edit))
        return found


def _edited_fields(fields: list[Any], edit: Edit) -> list[Any]:
    if "pad" in edit:
        return [*fields, construct.Padding(edit["pad"])]
    place = next(number for number, one in enumerate(fields) if one.name == edit["at"])
    one = fields[place]
    if "behind" in edit or "fills" in edit:
        name, length = edit.get("behind") or edit["fills"], 1 + ("fills" in edit)
        new = Field(FORMS[edit["form"]], name, one.facts)
        return [*fields[: place + 1], new, *fields[place + length :]]
    if edit.get("gap"):
        return [*fields[:place], construct.Padding(one.sizeof()), *fields[place + 1 :]]
    if "before" in edit:
        rest = [*fields[:place], *fields[place + 1 :]]
        target = next(number for number, other in enumerate(rest) if other.name == edit["before"])
        return [*rest[:target], one, *rest[target:]]
    facts = replace(one.facts, **{key: edit[key] for key in ("unit", "values") if key in edit})
    changed = Field(FORMS.get(edit.get("form", ""), one.subcon), edit.get("name", one.name), facts)
    return [*fields[:place], changed, *fields[place + 1 :]]


def _edited(content: Any, edit: Edit) -> Any:
    if "new" in edit:
        return deepcopy(edit["new"])
    if not edit["at"]:
        content.append(deepcopy(edit["append"]))
        return content
    *path, last = keys_of(edit["at"])
    owner = content
    for key in path:
        owner = owner[_key(owner, key)]
    if isinstance(owner, list):
        _edit_list(owner, last, edit)
    else:
        _edit_mapping(owner, last, edit)
    return content


def _edit_list(owner: list[Any], last: str, edit: Edit) -> None:
    place = _key(owner, last)
    if edit.get("drop"):
        del owner[place]
    elif "append" in edit:
        owner[place].append(edit["append"])
    elif "insert" in edit:
        owner.insert(place, edit["insert"])
    elif "before" in edit:
        target = owner[_key(owner, edit["before"])]
        one = owner.pop(place)
        owner.insert(owner.index(target), one)
    else:
        owner[place] = edit["set"]


def _edit_mapping(owner: dict[str, Any], last: str, edit: Edit) -> None:
    if edit.get("drop"):
        del owner[last]
    elif "append" in edit:
        owner[last].append(edit["append"])
    elif "name" in edit:
        pairs = [(edit["name"] if key == last else key, value) for key, value in owner.items()]
        _refill(owner, pairs)
    elif "before" in edit:
        value = edit["set"] if "set" in edit else owner[last]
        others = [(key, one) for key, one in owner.items() if key != last]
        place = [key for key, _ in others].index(edit["before"])
        _refill(owner, [*others[:place], (last, value), *others[place:]])
    else:
        owner[last] = edit["set"]


def _refill(owner: dict[str, Any], pairs: list[tuple[str, Any]]) -> None:
    owner.clear()
    owner.update(pairs)


def _key(owner: Any, token: str) -> Any:
    if not isinstance(owner, list):
        return token
    name, equals, value = token.partition("=")
    if not equals:
        return int(token)
    return next(place for place, one in enumerate(owner) if str(one[name]) == value)
