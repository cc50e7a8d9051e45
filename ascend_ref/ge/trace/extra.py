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


def parse_text(content: bytes, message: Any, what: str, expected: str) -> None:
    """Fill a message of Protocol Buffers from its form as text; unknown fields are passed over.

    Raises :class:`UnusableGraph`.
    """
    text_format = needed("google.protobuf.text_format", what)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise UnusableGraph(f"byte {problem.start} is not UTF-8; expected {expected}") from None
    try:
        text_format.Parse(text, message, allow_unknown_field=True)
    except RecursionError:
        raise UnusableGraph(f"nested too deep; expected {expected}") from None
    except (text_format.ParseError, ValueError) as problem:
        raise UnusableGraph(f"line {problem}; expected {expected}") from None
