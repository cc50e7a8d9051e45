"""Names of a package that are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def deferred(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package, for names that its modules define (PEP 562).

    package: its ``__name__``. modules: of each name the module in the package. So a command that
    lies in the package starts without what only its work needs.
    """

    def found(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return found
