"""Profiles on disk: folders, databases and JSON files as the exporters leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascend_ref.deferred import deferred

if TYPE_CHECKING:
    from .mindspore import write_mindspore_profile as write_mindspore_profile
    from .write import write_msprof_profile as write_msprof_profile
    from .write import write_pytorch_profile as write_pytorch_profile

__getattr__ = deferred(
    __name__,
    {
        "write_mindspore_profile": "mindspore",
        "write_msprof_profile": "write",
        "write_pytorch_profile": "write",
    },
)
