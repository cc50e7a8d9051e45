"""One spec: every catalog of one folder of documents, each read when it is asked for.

The packaged spec is in use unless another one is put in its place with :func:`using`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from .api import ApiCatalog
    from .bin import BinCatalog
    from .cluster import ClusterCatalog
    from .consumers import ConsumerCatalog
    from .core import Folder, Loader
    from .db import Catalog
    from .documents import DocumentCatalog
    from .ge import GeCatalog
    from .layout import Layout
    from .mindspore import MindSporeCatalog
    from .raw import RawCatalog
    from .recording import Recording
    from .text import TextCatalog
    from .timeline import TimelineCatalog

PACKAGED = Path(__file__).parent

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Spec:
    """The facts of one folder of documents; :func:`load_spec` opens one.

    Documents are read when they are asked for: :class:`SpecError` names the file and the place of
    what cannot be used. To other processes a spec travels as its folder, and a draft with it.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._caches: dict[Callable[..., Any], Callable[..., Any]] = {}

    def __reduce__(self) -> tuple[Callable[..., Spec], tuple[Folder, ...]]:
        here = self.folder.identity == PACKAGED
        return (packaged, ()) if here else (_received, (self.folder,))

    @cached_property
    def loader(self) -> Loader:
        """What makes facts of the documents."""
        from .core import Loader

        return Loader(self.folder)

    def cached(self, function: Callable[..., Result]) -> Callable[..., Result]:
        """A function whose results are kept as long as this spec."""
        if function not in self._caches:
            self._caches[function] = cache(function)
        return self._caches[function]

    @cached_property
    def db(self) -> Catalog:
        """Databases: tables, enums, revisions."""
        from .db import Catalog

        return Catalog(self.loader)

    @cached_property
    def cluster(self) -> ClusterCatalog:
        """The database of an analysis of all ranks."""
        from .cluster import ClusterCatalog

        return ClusterCatalog(self.loader)

    @cached_property
    def consumers(self) -> ConsumerCatalog:
        """Readers of profiles: what each reads, drops and misreads."""
        from .consumers import ConsumerCatalog

        return ConsumerCatalog(self.loader)

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
    def layout(self) -> Layout:
        """Names of files and folders."""
        from .layout import Layout

        return Layout(self)

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
    def raw(self) -> RawCatalog:
        """Raw files of ``PROF_*`` and ``FRAMEWORK``: names, records, chips."""
        from .raw import RawCatalog

        return RawCatalog(self.loader)

    @cached_property
    def mindspore(self) -> MindSporeCatalog:
        """Files of MindSpore's profiler: generations, names, records."""
        from .mindspore import MindSporeCatalog

        return MindSporeCatalog(self.loader)

    @cached_property
    def ge(self) -> GeCatalog:
        """The graph engine's profiling: options, calls, inserted tasks, events."""
        from .ge import GeCatalog

        return GeCatalog(self.loader)

    @cached_property
    def api(self) -> ApiCatalog:
        """The WebSocket API: commands, events, errors, generations."""
        from .api import ApiCatalog

        return ApiCatalog(self.loader)


def load_spec(path: Path, base: Spec | None = None) -> Spec:
    """The spec of a folder that is laid out as this package, a working copy of it.

    Or that of a draft, a file or folder of what is new or different, laid over ``base`` (by
    default the packaged spec) and judged: :class:`SpecError` names the first mistake in it.
    """
    from .overlay import Overlay, is_draft, judge, read_draft

    if not is_draft(path):
        from .core import Folder

        return Spec(Folder(path))
    folder = Overlay((base or packaged()).folder, read_draft(path))
    spec = Spec(folder)
    judge(spec, folder)
    return spec


@cache
def packaged() -> Spec:
    """The spec of this package, opened once per process."""
    from .core import Folder

    return Spec(Folder(PACKAGED))


def _received(folder: Folder) -> Spec:
    """A spec of another process, opened once in this one."""
    return _opened.setdefault(folder.identity, Spec(folder))


_opened: dict[Hashable, Spec] = {}


_in_use: list[Spec] = []


def current() -> Spec:
    """The spec in use."""
    return _in_use[-1] if _in_use else packaged()


@contextmanager
def using(spec: Spec) -> Iterator[Spec]:
    """Puts a spec in the place of the one in use, for all threads of this process and for the
    processes that :mod:`ascend_ref.execution` starts.
    """
    _in_use.append(spec)
    try:
        yield spec
    finally:
        _in_use.pop()


def per_spec(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """``functools.cache`` for a function of facts: its results belong to the spec in use."""

    @wraps(function)
    def kept(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return current().cached(function)(*args, **kwargs)

    return kept


def catalog() -> Catalog:
    """Databases, by the spec in use."""
    return current().db


def cluster_catalog() -> ClusterCatalog:
    """The database of an analysis of all ranks, by the spec in use."""
    return current().cluster


def consumer_catalog() -> ConsumerCatalog:
    """Readers of profiles, by the spec in use."""
    return current().consumers


def text_catalog() -> TextCatalog:
    """CSV files, by the spec in use."""
    return current().text


def timeline_catalog() -> TimelineCatalog:
    """Timelines, by the spec in use."""
    return current().timeline


def document_catalog() -> DocumentCatalog:
    """JSON documents that accompany the timelines, by the spec in use."""
    return current().documents


def recording_catalog() -> Recording:
    """Entities and what shows them, by the spec in use."""
    return current().recording


def layout_catalog() -> Layout:
    """Names of files and folders, by the spec in use."""
    return current().layout


def bin_catalog() -> BinCatalog:
    """``visualize_data.bin``, by the spec in use."""
    return current().bin


def api_catalog() -> ApiCatalog:
    """The WebSocket API, by the spec in use."""
    return current().api


def raw_catalog() -> RawCatalog:
    """Raw files, by the spec in use."""
    return current().raw


def mindspore_catalog() -> MindSporeCatalog:
    """Files of MindSpore's profiler, by the spec in use."""
    return current().mindspore


def ge_catalog() -> GeCatalog:
    """The graph engine's profiling, by the spec in use."""
    return current().ge
