"""Whether what a draft makes of a spec can be used: its words, its types, what it refers to."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ascend_spec.core import Loader, SpecError
from ascend_spec.core.loader import reading
from ascend_spec.core.shows import event_shows, show_of

from .folder import Overlay
from .laying import SOURCES, Laid, split
from .places import PARTS, similar
from .words import Path, Words

if TYPE_CHECKING:
    from ascend_spec.db import Catalog
    from ascend_spec.recording import Recording
    from ascend_spec.text import TextCatalog
    from ascend_spec.timeline import TimelineCatalog


class Catalogs(Protocol):
    """What of a spec is asked, as :class:`ascend_spec.Spec` has it."""

    @property
    def loader(self) -> Loader:
        """Reads the documents."""

    @property
    def db(self) -> Catalog:
        """Databases."""

    @property
    def text(self) -> TextCatalog:
        """CSV files."""

    @property
    def timeline(self) -> TimelineCatalog:
        """Timelines."""

    @property
    def recording(self) -> Recording:
        """Entities."""


LOADED: Mapping[str, tuple[str, ...]] = {
    "core": ("db", "text", "timeline", "recording"),
    "products": ("db", "text", "timeline"),
    "text": ("text", "timeline"),
}
"""By folder of a document, the catalogs that it is about, where not the one of that name alone."""

NAMED: Mapping[str, Callable[[Catalogs], Iterable[str]]] = {
    "source": lambda spec: spec.loader.sources,
    "switches": lambda spec: spec.loader.switches,
    "data": lambda spec: spec.loader.products.data,
    "references": lambda spec: {
        f"{table.name}.{column.name}"
        for table in spec.db.tables.values()
        for column in table.columns.values()
    },
    "tables": lambda spec: spec.db.tables,
    "timeline": lambda spec: spec.timeline.layers,
    "writers": lambda spec: spec.text.writers,
    "not_writers": lambda spec: spec.text.writers,
    "errata": lambda spec: {**spec.db.errata, **spec.text.errata},
}
"""By key of a fact, the names that its values may be."""

EARLY = ("source", "switches", "data")
"""Those that are asked before catalogs are loaded, which need them."""

NAMED_IN = ("db/", "text/", "timeline/")
"""Where the documents lie whose keys these are."""


def judge(spec: Catalogs, overlay: Overlay) -> None:
    """Raises :class:`DraftError` for the first mistake of a draft, at its place in the draft."""
    words = Words(overlay.base)
    for name, document in overlay.changed.items():
        for path, expected in words.mistakes(name, document):
            one, place = _piece_at(overlay, name, path)
            raise one.piece.fault(f"{place}{expected}{'' if place else one.meant}")
    named = [one for one in overlay.laid if one.document.startswith(NAMED_IN)]
    for one in named:
        _judge_names(spec, one, EARLY)
    try:
        _load(spec, overlay)
    except SpecError as error:
        raise _at_its_piece(overlay, str(error)) from error
    for one in named:
        _judge_names(spec, one, NAMED)
        _judge_shows(spec, one)
        if one.document.startswith("db/"):
            _judge_days(spec, one)
            _judge_roles(one)
            _judge_clashes(spec, one)


def _piece_at(overlay: Overlay, name: str, path: Path) -> tuple[Laid, str]:
    """What has been laid at a place of a document, or around it, and where that is in it."""
    here = [one for one in overlay.laid if one.document == name] or list(overlay.laid)
    node, found, rest = overlay.changed[name], here[0], path
    for number, step in enumerate((None, *path)):
        node = node if step is None else node[step]
        for one in here:
            if one.row is node:
                found, rest = one, path[number:]
    return found, f"{'.'.join(map(str, rest))}: " if rest else ""


def _load(spec: Catalogs, overlay: Overlay) -> None:
    """Loads the catalogs of every changed document."""
    stated = (one for one in overlay.laid if one.document != SOURCES or one.piece.kind == "source")
    for folder in dict.fromkeys(one.document.partition("/")[0] for one in stated):
        for family in LOADED.get(folder, (folder,)):
            catalog = getattr(spec, family, None)
            for name, member in vars(type(catalog)).items():
                if isinstance(member, cached_property) and not name.startswith("_"):
                    with reading(f"{family} {name}"):
                        getattr(catalog, name)


def _at_its_piece(overlay: Overlay, message: str) -> SpecError:
    """The error of a loader, at the piece that it is about."""
    document, _, rest = message.partition(": ")
    here = [one for one in overlay.laid if one.document == document] or list(overlay.laid)
    steps = rest.split(": ")
    for number, step in reversed(list(enumerate(steps[:3]))):
        for one in here:
            own = split(one.piece.kind, one.piece.name)[1] if one.piece.kind in PARTS else None
            if step.removeprefix("columns.") == (own or one.piece.name):
                return one.piece.fault(": ".join(steps[number + 1 :]))
    about = f"{document}: " if here[0].document != document else ""
    return here[0].piece.fault(f"{about}{rest}")


def _judge_names(spec: Catalogs, one: Laid, keys: Container[str]) -> None:
    """That what a piece names under some keys is there."""
    for key, value in _stated(one.piece.content):
        if key not in NAMED or key not in keys or isinstance(value, dict):
            continue
        names = set(NAMED[key](spec))
        for given in value if isinstance(value, list) else [value]:
            name = str(given).partition(" ")[0] if key == "source" else given
            if name not in names:
                raise one.piece.fault(f"{key}: unknown {name!r}{similar(str(name), names)}")


def _judge_shows(spec: Catalogs, one: Laid) -> None:
    """That what a piece shows is a column of an entity."""
    for key, value in _stated(one.piece.content):
        if key != "shows":
            continue
        plain = isinstance(value, str) or not {"ts", "name", "tid"} & value.keys()
        shows = [show_of(value)] if plain else event_shows(value).values()
        for name in [name for show in shows for name in show.of]:
            entity, _, column = name.partition(".")
            entities = spec.recording.entities
            if entity not in entities:
                raise one.piece.fault(
                    f"shows: unknown entity {entity!r}{similar(entity, entities)}"
                )
            columns = entities[entity].columns
            if column not in columns:
                hint = similar(column, columns)
                raise one.piece.fault(f"shows: {entity} has no column {column!r}{hint}")


def _judge_days(spec: Catalogs, one: Laid) -> None:
    """That what begins or ends on a day does so at some revision."""
    last = spec.db.revisions[-1]
    for key, value in _stated(one.piece.content):
        if key in ("since", "until") and value > last.date:
            raise one.piece.fault(
                f"{key}: {value} lies behind the last revision, {last.id} of {last.date}; "
                "expected a revision/… of that day as well"
            )


def _judge_roles(one: Laid) -> None:
    """That the columns which a table names are its own."""
    if one.piece.kind != "table":
        return
    row = one.row
    named = [*row.get("interval", ()), row.get("sample"), row.get("device")]
    named += [column for over in row.get("indexes", {}).values() for column in over]
    names = {facts.get("name", column) for column, facts in row["columns"].items()}
    for column in filter(None, named):
        if column not in names:
            raise one.piece.fault(f"no column {column!r}{similar(column, names)}")


def _judge_clashes(spec: Catalogs, one: Laid) -> None:
    """That what is new is not there already: names in other capitals, texts of enums, days."""
    if not one.new:
        return
    own = split(one.piece.kind, one.piece.name)[1] if one.piece.kind in PARTS else one.piece.name
    if one.piece.kind in ("table", "column"):
        owner = one.piece.name.partition(".")[0]
        known = spec.db.tables if one.piece.kind == "table" else spec.db.tables[owner].columns
        for name in known:
            if name != own and name.casefold() == own.casefold():
                raise one.piece.fault(f"SQLite takes it for {name}, which is there")
    if one.piece.kind == "revision":
        for other in spec.db.revisions:
            if other.id != own and other.date == one.row["date"]:
                raise one.piece.fault(f"date: {other.date} is the day of {other.id}")
    if one.piece.kind == "member":
        enum = spec.db.enums[one.piece.name.partition("/")[0]]
        for member in enum.members:
            ends = member.until is not None and member.until <= (one.row.get("since") or "")
            if member.name == one.row["name"] and member.id != one.row["id"] and not ends:
                raise one.piece.fault(f"name: {member.name} is the name of {member.id}")


def _stated(node: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a mapping and of those within it, with its value."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield str(key), value
            yield from _stated(value) if key != "shows" else ()
    elif isinstance(node, list):
        for value in node:
            yield from _stated(value)
