"""What a spec holds at one of its states, element by element, and what differs between two."""

from __future__ import annotations

from .compare import Difference as Difference
from .compare import How as How
from .compare import differences as differences
from .element import Element as Element
from .element import Fact as Fact
from .element import Limits as Limits
from .element import text_of as text_of
from .families import FAMILIES as FAMILIES
from .families import Found as Found
from .families import differences_between as differences_between
from .families import size_of as size_of
from .state import AXES as AXES
from .state import AxisName as AxisName
from .state import State as State
from .state import StateError as StateError
from .state import find_state as find_state
from .state import names_of as names_of
from .state import on_one_axis as on_one_axis
from .target import Target as Target
from .target import targets as targets
from .target import versions as versions
