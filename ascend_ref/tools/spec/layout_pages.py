"""Names of folders and files as Markdown pages, and what a file is by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter
from string import Formatter
from typing import Any, get_args

from ascend_ref.markdown import Style, code, table
from ascend_spec import layout_catalog, raw_catalog
from ascend_spec.layout import Layout, NamedFile, NamedFolder
from ascend_spec.raw import Side

from .pages import citations
from .subject import Subject, things


def layout_section(document: Mapping[str, Any], style: Style) -> str:
    """The folders and files of one producer, and the parts of their names that change."""
    names = layout_catalog()
    own = [one for one in _named(names) if one.producer == document["producer"]]
    signs = {
        name: sign
        for (producer, name), sign in names.signs.items()
        if producer == document["producer"]
    }
    parts = dict.fromkeys(
        part for named in own for _, part, _, _ in Formatter().parse(named.name.template) if part
    )
    return style.page(
        document["producer"],
        document["summary"],
        ("Source", citations(document["source"], style)),
        table(
            ("name", "in the folder", "what it is"),
            (_row(names, one, style) for one in own),
        ),
        table(("part", "form", "what it is"), (_part(names, one, style) for one in parts)),
        _signs(signs) if signs else "",
    )


def _signs(signs: Mapping[str, str]) -> str:
    """Texts that only files of the producer hold, by what the spec calls the files."""
    rows = ((code(name), code(sign.strip())) for name, sign in signs.items())
    return table(("shown by a text in", "text"), rows)


def _named(names: Layout) -> list[NamedFolder | NamedFile]:
    """Every folder, then every file."""
    return [*names.folders.values(), *names.files.values()]


def _row(names: Layout, named: NamedFolder | NamedFile, style: Style) -> tuple[str, str, str]:
    also = named.also if isinstance(named, NamedFile) else ()
    spelled = " or ".join(code(name.template) for name in (named.name, *also))
    slash = "/" if isinstance(named, NamedFolder) else ""
    below = names.folders[named.producer, named.below].name.template if named.below else ""
    return f"{spelled}{slash}", code(below) if below else "", style.prose(named.summary)


def _part(names: Layout, name: str, style: Style) -> tuple[str, str, str]:
    part = names.parts[name]
    if part.values:
        form = f"one of {len(part.values)} names"
    elif part.digits is not None:
        least = "" if part.digits == part.longest else f"{part.digits} to "
        form = f"{least}{part.longest} digits"
    else:
        form = code(part.pattern)
    before = f", behind {code(part.before)}" if part.before else ""
    seldom = ", may be missing" if part.optional or part.most is not None else ""
    return code(f"{{{name}}}"), f"{form}{before}{seldom}", style.prose(part.summary)


def layout_subjects() -> Iterator[Subject]:
    """The names of each producer."""
    names = layout_catalog()
    read = names.loader.folder.read
    producers = dict.fromkeys(producer for producer, _ in names.files)
    yield from things(
        "layout",
        {one: read(f"layout/{one}.yaml") for one in producers},
        "layout.md#{anchor}",
        layout_section,
        summary=itemgetter("summary"),
        cells=lambda document: {
            "names": str(sum(one.producer == document["producer"] for one in _named(names)))
        },
    )


def address_of_file(name: str) -> str | None:
    """The address of what a file of this name holds; ``None`` for a name of no profile."""
    found = layout_catalog().match(name)
    if found is None or found.file.kind is None:
        return _address_of_raw(name)
    kinds: Mapping[str, str] = {"csv": "csv", "timeline": "timeline", "document": "document"}
    if found.file.carrier is not None:
        return f"carrier/{found.file.carrier}"
    kind = kinds.get(found.file.kind)
    return f"{kind}/{found.called}" if kind else "layout/operator"


def _address_of_raw(name: str) -> str | None:
    """The address of a kind of raw file, one of the host where it is called alike on both sides."""
    found = (raw_catalog().file_of(name, side) for side in get_args(Side))
    file = next((one for one in found if one is not None), None)
    return None if file is None else f"raw/{file.file}"
