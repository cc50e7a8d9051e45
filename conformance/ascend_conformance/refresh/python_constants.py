"""Constants of Python sources, from their syntax trees; nothing is imported or run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

Value = object
"""A text, a number, a tuple or a dictionary of such; :class:`Open` for what else stands there."""


class Open:
    """A value that the source computes."""


OPEN = Open()


def constants(source: str, file: str) -> dict[str, tuple[Value, int]]:
    """The constants of a module and of its classes, ``NAME`` and ``Class.NAME``, with their lines.

    Raises ``SyntaxError`` for what is no Python, ``ValueError`` for text with NUL in it.
    """
    known: dict[str, tuple[Value, int]] = {}
    tree = ast.parse(source, file)
    for scope, statement in _assignments(tree):
        names = [target.id for target in _targets(statement) if isinstance(target, ast.Name)]
        if not names or statement.value is None:
            continue
        value = _value(statement.value, scope, known)
        for name in names:
            known[f"{scope}.{name}" if scope else name] = value, statement.lineno
    return known


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.Assign | ast.AnnAssign]]:
    for one in tree.body:
        if isinstance(one, ast.Assign | ast.AnnAssign):
            yield "", one
        elif isinstance(one, ast.ClassDef):
            for inner in one.body:
                if isinstance(inner, ast.Assign | ast.AnnAssign):
                    yield one.name, inner


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def _value(node: ast.expr, scope: str, known: Mapping[str, tuple[Value, int]]) -> Value:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return known.get(f"{scope}.{node.id}", known.get(node.id, (OPEN, 0)))[0]
        case ast.Attribute(value=ast.Name(id=owner)):
            return known.get(f"{owner}.{node.attr}", (OPEN, 0))[0]
        case ast.List() | ast.Tuple():
            return tuple(_value(one, scope, known) for one in node.elts)
        case ast.Dict():
            return {
                _key(_value(key, scope, known)): _value(value, scope, known)
                for key, value in zip(node.keys, node.values, strict=True)
                if key is not None
            }
        case _:
            return OPEN


def _key(value: Value) -> Value:
    return value if isinstance(value, str | int) else OPEN
