"""The formats of Ascend NPU profiles, written down once, as data.

What a family of formats needs is imported when it is asked for: a short command uses one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .spec import Spec as Spec
from .spec import api_catalog as api_catalog
from .spec import bin_catalog as bin_catalog
from .spec import catalog as catalog
from .spec import cluster_catalog as cluster_catalog
from .spec import consumer_catalog as consumer_catalog
from .spec import current as current
from .spec import document_catalog as document_catalog
from .spec import ge_catalog as ge_catalog
from .spec import layout_catalog as layout_catalog
from .spec import load_spec as load_spec
from .spec import mindspore_catalog as mindspore_catalog
from .spec import packaged as packaged
from .spec import per_spec as per_spec
from .spec import raw_catalog as raw_catalog
from .spec import recording_catalog as recording_catalog
from .spec import text_catalog as text_catalog
from .spec import timeline_catalog as timeline_catalog
from .spec import using as using

if TYPE_CHECKING:
    from .db import Catalog as Catalog
    from .db import Schema as Schema


def __getattr__(name: str) -> object:
    """``Catalog`` and ``Schema``, from :mod:`ascend_spec.db`."""
    if name in {"Catalog", "Schema"}:
        from . import db

        return getattr(db, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
