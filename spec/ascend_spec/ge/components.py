"""What takes part in the graph engine's profiling, and how it leads to files."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_spec.core import Grade


@dataclass(frozen=True, slots=True)
class ComponentLayer:
    """A layer of components; ``core`` and ``collects``: its responsibilities, where stated."""

    layer: str
    title: str
    source: tuple[str, ...]
    grade: Grade
    core: tuple[str, ...] = ()
    collects: str = ""
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Component:
    """A component by the name that documents give it.

    ``leads_to``: arrows of the picture. ``macros``: what creates it. ``switched_by``: types of
    profiling, one of which it needs. ``reports``: functions of the library that it calls.
    """

    component: str
    layer: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    leads_to: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    switched_by: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
