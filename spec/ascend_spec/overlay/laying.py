"""Lays the pieces of a draft over the documents that they are about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ascend_spec.core import Document, Folder

from .draft import Piece
from .places import ENUM_TABLES, FOLDERS_OF_WRITERS, PARTS, THINGS, Default, Part, Thing, similar

DRAFT = "draft"
"""The source of what a draft states without one."""
SOURCES = "core/sources.yaml"

_LETTERS = re.compile("[^A-Z].*")
"""What follows the letters of the id of an erratum."""

PLACED = ("after", "before")
"""Keys that say next to which other part of its owner a part stands."""
WHICH = "where"
"""The key that says which of several parts of one name is meant, by keys and their values."""
WITHOUT = "without"
"""The key that lists keys which are taken away."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing: the document that holds it, and its place in the rows around it."""

    document: str
    rows: Any
    key: Any

    @property
    def row(self) -> Document:
        """The thing itself, to be changed in place."""
        row: Document = self.rows[self.key]
        return row


@dataclass(frozen=True, slots=True)
class Laid:
    """What a piece has become: a row of a document, new or changed.

    ``meant``: of a new one, what it may have been meant for, as the end of a message.
    """

    piece: Piece
    document: str
    row: Document
    new: bool
    meant: str = ""


class Laying:
    """The documents of a folder while pieces are laid over them."""

    def __init__(self, base: Folder, pieces: Sequence[Piece], name: str) -> None:
        """``name`` is what the draft is called where it is cited."""
        self.base = base
        self.name = name
        self.laid: list[Laid] = []
        self._read: dict[str, Any] = {}
        self._split_up: list[str] = []
        self._day = self._revision_day(pieces)
        self._lay_all(pieces)

    @property
    def documents(self) -> Mapping[str, Any]:
        """The documents that are new or different, by name."""
        touched = dict.fromkeys((*self._split_up, *(one.document for one in self.laid)))
        return {name: self._read[name] for name in touched}

    def _revision_day(self, pieces: Sequence[Piece]) -> str | None:
        """The day of the draft's only new revision, with which what is new begins."""
        new = [
            one.content.get("date")
            for one in pieces
            if one.kind == "revision" and self.find(one.kind, one.name) is None
        ]
        return str(new[0]) if len(new) == 1 else None

    def _lay_all(self, pieces: Sequence[Piece]) -> None:
        """Owners go before their parts, neighbours before those that stand next to them."""
        order = {"": 0, **dict.fromkeys(THINGS, 1), "argument": 3}
        waiting = sorted(pieces, key=lambda one: order.get(one.kind, 2))
        while waiting:
            addresses = {one.address for one in waiting}
            ready = [one for one in waiting if _neighbour(one) not in addresses]
            if not ready:
                raise waiting[0].fault("stands next to what stands next to it")
            for one in ready:
                self._lay(one)
            waiting = [one for one in waiting if one not in ready]
        if any(one.row.get("source") == [DRAFT] for one in self.laid if one.new):
            self._add_source()

    def _lay(self, piece: Piece) -> None:
        if not piece.kind:
            known = list(self.base.names(piece.name.partition("/")[0])) if self._has(piece) else ()
            if piece.name not in known:
                raise piece.fault(f"no such document{similar(piece.name, known)}")
            if not isinstance(self._document(piece.name), dict):
                raise piece.fault("expected the addresses of its rows")
            self._change(piece, Found(piece.name, self._read, piece.name))
            return
        found = self.find(piece.kind, piece.name, piece)
        if found is not None:
            self._change(piece, found)
        elif piece.kind in THINGS:
            self._add_thing(piece, THINGS[piece.kind])
        else:
            self._add_part(piece, PARTS[piece.kind])
        if piece.kind in PARTS:
            self._place(piece, PARTS[piece.kind])

    def _has(self, piece: Piece) -> bool:
        """Whether a piece is about a document below a folder of the spec."""
        folder = piece.name.partition("/")[0]
        return folder.isidentifier() and (self.base.root / folder).is_dir()

    def find(self, kind: str, name: str, piece: Piece | None = None) -> Found | None:
        """The thing of a name; ``piece`` says which one where several parts have it."""
        if kind in THINGS:
            return self._find_thing(THINGS[kind], name)
        part = PARTS[kind]
        owner, own = split(kind, name)
        holder = self.find(part.owner, owner)
        if holder is None:
            return None
        rows = self._rows_of(holder, part)
        which = piece.content.get(WHICH, {}) if piece else {}
        if piece and (not isinstance(which, dict) or (which and isinstance(rows, dict))):
            raise piece.fault(f"{WHICH}: expected keys and values of one of several {part.under}")
        if isinstance(rows, dict):
            return Found(holder.document, rows, own) if own in rows else None
        plain, _, day = own.partition("@") if kind == "member" else (own, "", "")
        asked = {**which, "since": day} if day else which
        same = [key for key, row in enumerate(rows) if _is(row.get(part.key), plain)]
        meant = [key for key in same if asked.items() <= rows[key].items()]
        if piece is not None and len(meant) > 1:
            raise piece.fault(
                f"{len(meant)} {part.under} have this name; expected {WHICH}: with keys by which "
                "one of them differs, and their values"
            )
        if piece is not None and same and not meant and not day:
            raise piece.fault(f"{WHICH}: no {kind} of this name has these values")
        return Found(holder.document, rows, meant[0]) if meant else None

    def _find_thing(self, thing: Thing, name: str) -> Found | None:
        if thing.has_documents:
            document = self._document_of(thing, name)
            return None if document is None else Found(document, self._read, document)
        for document in (thing.where, *thing.also):
            rows = self._document(document)
            rows = rows[thing.within] if thing.within else rows
            keys = rows if isinstance(rows, dict) else range(len(rows))
            for key in keys:
                if _is(key if thing.key is None else rows[key].get(thing.key), name):
                    return Found(document, rows, key)
        return None

    def _document_of(self, thing: Thing, name: str) -> str | None:
        """The document of a thing; one of several in a document gets a document of its own."""
        for document in self._names(thing.where):
            if document not in self._read and name not in self.base.text(document):
                continue
            held = self._document(document).get(str(thing.key))
            if held == name:
                return document
            if isinstance(held, list) and name in held:
                return self._split(document, str(thing.key), name)
        return None

    def _split(self, document: str, key: str, name: str) -> str:
        shared = self._document(document)
        own = {**deepcopy(shared), key: name}
        rest = [one for one in shared[key] if one != name]
        shared[key] = rest if len(rest) > 1 else rest[0]
        if isinstance(shared.get("data"), dict):
            own["data"] = shared["data"].pop(name)
            if len(rest) == 1:
                shared["data"] = shared["data"][rest[0]]
        new = self._free_name(document.rpartition("/")[0], name)
        self._read[new] = own
        self._split_up += [document, new]
        return new

    def _names(self, folder: str) -> Iterator[str]:
        yield from self.base.names(folder)
        yield from [one for one in self._read if one.startswith(f"{folder}/")]

    def _document(self, name: str) -> Any:
        if name not in self._read:
            self._read[name] = self.base.read(name)
        return self._read[name]

    def _rows_of(self, holder: Found, part: Part) -> Any:
        """The parts of a thing; what is none is left for the words of the vocabulary to say."""
        empty: list[Any] | dict[str, Any] = [] if part.key else {}
        rows = holder.row.setdefault(part.under, empty)
        whole = isinstance(rows, type(empty)) and all(isinstance(one, dict) for one in _rows(rows))
        return rows if whole else empty

    def _change(self, piece: Piece, found: Found) -> None:
        for key in _without(piece):
            if key not in found.row:
                raise piece.fault(f"{WITHOUT}: {key!r} is not there{similar(key, found.row)}")
            del found.row[key]
        _merge(found.row, _facts(piece))
        self.laid.append(Laid(piece, found.document, found.row, new=False))

    def _add_thing(self, piece: Piece, thing: Thing) -> None:
        row = self._new(piece, thing.defaults)
        document = thing.where
        if thing.has_documents:
            if thing.new is None:
                known = [self._document(one).get(str(thing.key)) for one in self._names(document)]
                raise piece.fault(f"no such thing{similar(piece.name, filter(None, known))}")
            writer = _slug(str(row.get("writer", "")))
            folder = thing.new.format(writer=FOLDERS_OF_WRITERS.get(writer, writer))
            folder = folder if (self.base.root / folder).is_dir() else document
            document = self._free_name(folder, piece.name)
            self._read[document] = row = {str(thing.key): piece.name, **row}
        else:
            document = self._home(thing, piece.name)
            content = self._document(document)
            rows = content[thing.within] if thing.within else content
            if isinstance(rows, dict):
                rows[piece.name] = row
            else:
                numbered = any(isinstance(one.get(thing.key), int) for one in rows)
                name = self._number(piece, piece.name) if numbered else piece.name
                row = {str(thing.key): name, **row}
                rows.append(row)
        self.laid.append(Laid(piece, document, row, new=True))
        if piece.kind == "enum" and self.find("table", piece.name) is None:
            self._add_enum_table(piece)

    def _home(self, thing: Thing, name: str) -> str:
        """The document of a new row: of several the one whose names begin with the same letters."""
        for document in thing.also if thing.key else ():
            known = str(self._document(document)[0][thing.key])
            if _LETTERS.sub("", known) == _LETTERS.sub("", name):
                return document
        return thing.where

    def _add_enum_table(self, piece: Piece) -> None:
        """A table like those of the other enums."""
        told = ("summary", "source")
        table = {**deepcopy(self._document(ENUM_TABLES)), "table": piece.name}
        table |= {key: self.laid[-1].row[key] for key in told if key in self.laid[-1].row}
        table = {key: value for key, value in table.items() if key not in ("readers", "note")}
        for column in table["columns"].values():
            column.pop("errata", None)
        if self._day:
            table["since"] = self._day
        document = self._free_name(ENUM_TABLES.rpartition("/")[0], piece.name)
        self._read[document] = table
        self.laid.append(Laid(piece, document, table, new=True))

    def _add_part(self, piece: Piece, part: Part) -> None:
        owner, own = split(piece.kind, piece.name)
        holder = self.find(part.owner, owner)
        if holder is None:
            raise piece.fault(f"no {part.owner} {owner!r}")
        if not own:
            raise piece.fault(f"expected {part.owner}{part.separator}{piece.kind}")
        rows = self._rows_of(holder, part)
        meant = similar(own, rows if isinstance(rows, dict) else (str(r[part.key]) for r in rows))
        row = self._new(piece, part.defaults)
        plain, _, day = own.partition("@") if "since" in part.defaults else (own, "", "")
        row = {**row, "since": day} if day else row
        if isinstance(rows, dict):
            rows[own] = row = {"name": plain, **row} if day else row
        else:
            number = piece.kind == "member"
            row = {str(part.key): self._number(piece, plain) if number else plain, **row}
            rows.append(row)
        self.laid.append(Laid(piece, holder.document, row, new=True, meant=meant))

    def _place(self, piece: Piece, part: Part) -> None:
        """Moves a part to where the piece says that it stands."""
        given = [one for one in PLACED if one in piece.content]
        if not given:
            return
        if len(given) > 1:
            raise piece.fault(f"expected {' or '.join(PLACED)}, not both")
        row = self.laid[-1].row
        owner, _ = split(piece.kind, piece.name)
        holder = self.find(part.owner, owner)
        assert holder is not None  # noqa: S101 - it has the part that was laid
        rows = self._rows_of(holder, part)
        pairs = list(rows.items()) if isinstance(rows, dict) else [(r[part.key], r) for r in rows]
        moved = next(one for one in pairs if one[1] is row)
        others = [one for one in pairs if one is not moved]
        name = piece.content[given[0]]
        places = [place for place, (other, _) in enumerate(others) if _is(other, str(name))]
        if not places:
            known = similar(str(name), (str(other) for other, _ in others))
            raise piece.fault(f"{given[0]}: {owner} has no {piece.kind} {name!r}{known}")
        others.insert(places[-1] + 1 if given[0] == "after" else places[0], moved)
        if isinstance(rows, dict):
            rows.clear()
            rows.update(others)
        else:
            rows[:] = [one for _, one in others]

    def _new(self, piece: Piece, defaults: Sequence[Default]) -> Document:
        """What a piece says of a new thing, with what a draft need not say."""
        row = dict(deepcopy(_facts(piece)))
        left_out = _without(piece)
        if "source" in defaults and "source" not in left_out:
            row.setdefault("source", [DRAFT])
        if "since" in defaults and "since" not in left_out and self._day:
            row.setdefault("since", self._day)
        return row

    def _add_source(self) -> None:
        if self.find("source", DRAFT) is not None:
            return
        row = {"id": DRAFT, "grade": "inferred", "title": f"Draft {self.name}", "where": self.name}
        self._document(SOURCES).append(row)
        self.laid.append(Laid(self.laid[0].piece, SOURCES, row, new=True))

    def _free_name(self, folder: str, name: str) -> str:
        taken = set(self._names(folder))
        stem = _slug(name) or "new"
        names = (f"{folder}/{stem}{end}.yaml" for end in ("", *map("_{}".format, range(2, 1000))))
        return next(one for one in names if one not in taken)

    def _number(self, piece: Piece, text: str) -> int:
        try:
            return int(text, 0)
        except ValueError:
            raise piece.fault(f"expected a number, got {text!r}") from None


def split(kind: str, name: str) -> tuple[str, str]:
    """The name of the owner, and that of the part in it."""
    part = PARTS[kind]
    parts = name.split(part.separator)
    owners = 1 if part.owner in THINGS else 2
    return part.separator.join(parts[:owners]), part.separator.join(parts[owners:])


def _neighbour(piece: Piece) -> str | None:
    """The address of what a piece stands next to."""
    names = [piece.content[one] for one in PLACED if one in piece.content]
    if piece.kind not in PARTS or not names:
        return None
    owner, _ = split(piece.kind, piece.name)
    return f"{piece.kind}/{owner}{PARTS[piece.kind].separator}{names[0]}"


def _rows(rows: list[Any] | dict[str, Any]) -> Iterable[Any]:
    return rows.values() if isinstance(rows, dict) else rows


def _facts(piece: Piece) -> Document:
    """What a piece says of its thing, without what it says of its place."""
    own = {WITHOUT, *(() if piece.kind in THINGS or not piece.kind else (*PLACED, WHICH))}
    return {key: value for key, value in piece.content.items() if key not in own}


def _without(piece: Piece) -> list[str]:
    keys = piece.content.get(WITHOUT, [])
    if not isinstance(keys, list) or not all(isinstance(one, str) for one in keys):
        raise piece.fault(f"{WITHOUT}: expected a list of keys")
    return keys


def _merge(row: Document, changes: Mapping[str, Any]) -> None:
    """Puts changes into a row; mappings within it are changed key by key."""
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(row.get(key), dict):
            _merge(row[key], value)
        else:
            row[key] = deepcopy(value)


def _is(value: object, name: str) -> bool:
    """Whether a value of a document is what a name in an address means."""
    if isinstance(value, int):
        try:
            return int(name, 0) == value
        except ValueError:
            return False
    return value == name


def _slug(name: str) -> str:
    return re.sub("[^a-z0-9]+", "_", name.casefold()).strip("_")
