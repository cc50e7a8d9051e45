"""What a caller can ask of a probe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ascend_spec import api_catalog, per_spec

IMPORT = "import/action"
"""The command that every probe begins with."""

COMPARED = "isCompared"
"""The parameter that asks for a comparison of the file with a baseline."""


@per_spec
def needed_for() -> Mapping[str, tuple[str, ...]]:
    """Commands without which others cannot be tried in full: their answers hold the numbers of
    slices, or they set the baseline to compare with."""
    known = api_catalog()
    comparing = (
        name
        for name in known.commands
        if COMPARED in known.schema(known.commands[name].params).get("properties", {})
    )
    return {
        "unit/threadTraces": ("unit/flows", "unit/threadDetail"),
        "global/setBaseline": tuple(comparing),
    }


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """``commands`` are names or patterns such as ``source/details/*``; none means all.

    ``server_path`` is what the server calls the file, by default its absolute path here;
    ``timeout`` the seconds that an answer, or an event after it, may take. ``max_examples`` bad
    places are shown per finding.
    """

    commands: tuple[str, ...] = ()
    server_path: str | None = None
    timeout: float = 10.0
    max_examples: int = 5

    def wants(self, command: str) -> bool:
        """Whether a command is to be tried; the import always is, and so is what others need."""
        if not self.commands or command == IMPORT:
            return True
        names = (command, *needed_for().get(command, ()))
        return any(fnmatchcase(name, pattern) for name in names for pattern in self.commands)


def fits_none(patterns: Iterable[str]) -> list[str]:
    """The patterns that no command of the API fits."""
    known = api_catalog().commands
    return [
        pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in known)
    ]
