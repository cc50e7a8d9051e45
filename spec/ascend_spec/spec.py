"""One spec: every catalog of one folder of documents, each read when it is asked for."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .core import Folder, Loader
from .core.folder import PACKAGED
from .db import Catalog

if TYPE_CHECKING:
    from .api import InsightCatalog
    from .bin import BinCatalog
    from .documents import DocumentCatalog
    from .recording import Recording
    from .text import TextCatalog
    from .timeline import TimelineCatalog


class Spec:
    """The facts of one folder of documents; :func:`load_spec` opens one."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.loader = Loader(folder)

    @cached_property
    def db(self) -> Catalog:
        """Databases: tables, enums, revisions."""
        return Catalog(self.loader)

    @cached_property
    def text(self) -> TextCatalog:
        """CSV files, by writer."""
        from .text import TextCatalog

        return TextCatalog(self.loader)

    @cached_property
    def timeline(self) -> TimelineCatalog:
        """Timelines: layers, events, arrows."""
        from .timeline import TimelineCatalog

        return TimelineCatalog(self.loader)

    @cached_property
    def documents(self) -> DocumentCatalog:
        """JSON documents that accompany the timelines."""
        from .documents import DocumentCatalog

        return DocumentCatalog(self.folder)

    @cached_property
    def recording(self) -> Recording:
        """What a profiler records, and what shows it."""
        from .recording import Recording

        return Recording(self)

    @cached_property
    def bin(self) -> BinCatalog:
        """``visualize_data.bin``: block types, payloads, epochs."""
        from .bin import BinCatalog

        return BinCatalog(self.loader)

    @cached_property
    def api(self) -> InsightCatalog:
        """The WebSocket API: commands, events, errors, generations."""
        from .api import InsightCatalog

        return InsightCatalog(self.loader)


def load_spec(folder: Path) -> Spec:
    """The spec of a folder that is laid out as this package: a working copy of it."""
    return Spec(Folder(folder))


@cache
def packaged() -> Spec:
    """The spec of this package, opened once per process."""
    return Spec(Folder(PACKAGED))


def catalog() -> Catalog:
    """The database catalog of the packaged spec."""
    return packaged().db
