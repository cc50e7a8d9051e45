"""What readers of other forms need beyond the package itself."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .graph import UnusableGraph


def needed(module: str, what: str) -> Any:
    """A module of the extra ``onnx``. Raises :class:`UnusableGraph` where it is missing."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("google", "protobuf")
        raise UnusableGraph(
            f"{what} is read with {package}; install it with: pip install 'ascend-ref[onnx]'"
        ) from None
