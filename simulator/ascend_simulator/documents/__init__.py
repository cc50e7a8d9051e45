"""Documents of any kind of scenario: YAML to typed objects, judged by a schema, and presets.

A kind of scenario is a dataclass and a JSON Schema (:class:`ScenarioKind`). Types, choices and
defaults stand in the dataclass alone, descriptions and bounds in the schema.
"""

from __future__ import annotations

from .kind import Problem as Problem
from .kind import ScenarioKind as ScenarioKind
from .text import Path as Path
from .text import ScenarioError as ScenarioError
