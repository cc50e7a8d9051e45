"""The next revision of the schema, for a draft or a working copy: what it must be, and where."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ascend_ref.atomic import write_atomically
from ascend_ref.states import State
from ascend_spec import Spec, load_spec
from ascend_spec.core import parse
from ascend_spec.db.model import Revision
from ascend_spec.overlay import Draft, Overlay, is_draft, judge, read_draft

from .bump import PARTS, Bump, admits, declared_bump
from .change import Change, changes_between, required_bump

REVISIONS = "db/revisions.yaml"

_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_VERSION = re.compile(r"\d+\.\d+\.\d+")


class CannotBump(ValueError):
    """No revision follows from what was given; the message says what is expected."""


class NotAdmitted(Exception):
    """A number says less than the changes demand; the message says what would be enough."""


@dataclass(frozen=True, slots=True)
class NextRevision:
    """The revision with which the changes of a draft or working copy begin.

    ``old`` and ``new`` are the specs before and after it, its number aside. ``stated``: whether it
    stands there already. ``required``: the part of the version that the changes demand.
    """

    path: Path
    old: Spec
    new: Spec
    revision: Revision
    stated: bool
    changes: tuple[Change, ...]
    required: Bump

    @property
    def previous(self) -> Revision:
        """The newest revision before it."""
        return self.old.db.revisions[-1]

    def demand(self) -> None:
        """Raises :class:`NotAdmitted` where its number does not say what the changes demand."""
        before, now = self.previous.schema_version, self.revision.schema_version
        declared = declared_bump(before, now)
        if admits(declared, self.required):
            return
        grave = next(one for one in self.changes if one.bump == self.required)
        raised = "raises nothing" if declared == "none" else f"raises {declared}"
        raise NotAdmitted(
            f"{self.path}: SCHEMA_VERSION {before} to {now} {raised}, but {grave.address} "
            f"({grave.rule} {grave.named.name}) demands {self.required}; expected "
            f"{_raised(before, self.required)} or above"
        )

    def write(self) -> Path:
        """Writes it into the draft or the working copy, and returns the document that has it now.

        Raises :class:`CannotBump` for a document that no line can be added to, ``OSError``.
        """
        if is_draft(self.path):
            document, line = _document_of(self.path), _line(self.revision)
        else:
            document, line = self.path / REVISIONS, f"- {_flow(asdict(self.revision))}\n"
        before = document.read_text(encoding="utf-8") if document.exists() else ""
        text = before.rstrip("\n") + ("\n" if before else "") + line
        rows = parse(text) if _is_yaml(text) else None
        if not isinstance(rows, list | dict):
            raise CannotBump(f"{document}: no line can be added; expected one address a line")
        write_atomically(document, text)
        return document


def next_revision(
    path: Path, base: Spec, *, version: str | None = None, day: str | None = None
) -> NextRevision:
    """The revision that a draft or working copy states beyond those of ``base``, or needs.

    ``version`` is its SCHEMA_VERSION, by default the least that its changes admit; ``day`` its
    date, by default the one on which facts of it begin or end. Raises :class:`CannotBump`, and
    ``SpecError`` for a draft or folder that cannot be used.
    """
    known = {one.id for one in base.db.revisions}
    stated = [one for one in _revisions(path) if one.get("id") not in known]
    if stated:
        if version or day:
            raise CannotBump(f"{path}: has the revision {stated[-1]['id']}; expected no options")
        spec = load_spec(path, base)
        revision = max(spec.db.revisions, key=lambda one: one.date)
        return _judged(path, base, spec, revision, stated=True)
    previous = base.db.revisions[-1]
    day = day or _only_day(path, previous.date)
    if _DAY.fullmatch(day) is None or day <= previous.date:
        raise CannotBump(f"{day!r}: expected a day after {previous.date}, that of {previous.id}")
    if version is not None and _VERSION.fullmatch(version) is None:
        raise CannotBump(f"SCHEMA_VERSION {version!r}: expected three numbers, as 1.3.0")
    name = re.sub("[^a-z0-9]+", "-", path.stem.casefold()).strip("-") or "draft"
    number = version or previous.schema_version
    found = _tried(path, base, _revision(number, name, day, known))
    if version is not None or found.required == "none":
        return found
    number = _raised(previous.schema_version, found.required)
    return replace(found, revision=_revision(number, name, day, known))


def _tried(path: Path, base: Spec, revision: Revision) -> NextRevision:
    """With a revision as if the draft or working copy had it."""
    text = _line(revision)
    if is_draft(path):
        draft = read_draft(path)
        folder = Overlay(base.folder, Draft(draft.name, (*draft.texts, (str(path), text))))
    else:
        folder = Overlay(load_spec(path).folder, Draft(path.name, ((str(path), text),)))
    spec = Spec(folder)
    judge(spec, folder)
    return _judged(path, base, spec, revision, stated=False)


def _judged(path: Path, old: Spec, new: Spec, revision: Revision, *, stated: bool) -> NextRevision:
    changes = tuple(changes_between(State(old, "before"), State(new, "after")))
    return NextRevision(path, old, new, revision, stated, changes, required_bump(changes))


def _revision(version: str, name: str, day: str, known: set[str]) -> Revision:
    names = (f"{version}-{name}{end}" for end in ("", *(f"-{at}" for at in range(2, 1000))))
    own = next(one for one in names if one not in known)
    return Revision(own, version, day, "inferred", f"Draft {name}.")


def _revisions(path: Path) -> Iterator[Any]:
    """The revisions that a draft or working copy states, those of the spec among them."""
    if not is_draft(path):
        yield from load_spec(path).folder.read(REVISIONS)
        return
    for piece in read_draft(path).pieces():
        if piece.kind == "revision":
            yield {**piece.content, "id": piece.name}


def _only_day(path: Path, last: str) -> str:
    """The only day after the last revision on which something begins or ends."""
    days = {one for one in _days(path) if one > last}
    if len(days) != 1:
        found = f"; it states {', '.join(sorted(days))}" if days else ""
        raise CannotBump(f"{path}: expected --date DAY, the day of the next revision{found}")
    return days.pop()


def _days(path: Path) -> Iterator[str]:
    if is_draft(path):
        contents = [one.content for one in read_draft(path).pieces()]
    else:
        folder = load_spec(path).folder
        contents = [
            row for place in ("tables", "enums") for _, row in folder.documents(f"db/{place}")
        ]
    waiting: list[Any] = list(contents)
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield from (str(node[key]) for key in ("since", "until") if key in node)
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _raised(version: str, bump: Bump) -> str:
    """A version with one part raised, and those behind it 0."""
    numbers = [int(one) for one in version.split(".")]
    at = PARTS.index(bump)
    return ".".join(map(str, (*numbers[:at], numbers[at] + 1, *[0] * (len(numbers) - at - 1))))


def _document_of(path: Path) -> Path:
    """The document of a draft that gets a revision: the only one, or a new one of a folder."""
    if path.is_file():
        return path
    names = ("revision.yaml", *(f"revision-{number}.yaml" for number in range(2, 1000)))
    return next(path / one for one in names if not (path / one).exists())


def _line(revision: Revision) -> str:
    """What a draft says of it."""
    facts = asdict(revision)
    address = f"revision/{facts.pop('id')}"
    return f"{_quoted(address)}: {_flow(facts)}\n"


def _flow(facts: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {_quoted(value)}" for key, value in facts.items()) + "}"


def _quoted(text: str) -> str:
    """As it is where YAML takes it for a text, else in quotes."""
    return text if re.fullmatch(r"[A-Za-z][\w/.-]*", text) else json.dumps(text)


def _is_yaml(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
