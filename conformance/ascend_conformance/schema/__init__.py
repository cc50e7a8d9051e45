"""What changed between two states of a spec: named changes, whom they break, the bump they need.

    from ascend_conformance.schema import changes_between, find_state

    for change in changes_between(find_state("1.2.0-2025-12"), find_state("1.2.0-2026-02")):
        print(change.rule, change.address, change.before, change.after, change.breaks, change.bump)

A state is a ``State`` of :mod:`ascend_ref.states`: ``find_state`` makes one of what a user types
(a revision or a day, or a working copy, ``FOLDER`` or ``FOLDER@STATE``). ``State(spec, "a name")``
is a ``Spec`` at the newest state of every family, and one of an axis is
``State(spec, "a name", "revision", "2026-06-17")``. What the changes demand of a version number is
``required_bump``, what it declares ``declared_bump``. ``Change.is_about`` finds those about the
place of a finding, and ``Change.named`` is the rule with its reason and what to do.
"""

from __future__ import annotations

from ascend_ref.states import State as State
from ascend_ref.states import StateError as StateError
from ascend_ref.states import find_state as find_state

from .bump import BUMPS as BUMPS
from .bump import Bump as Bump
from .bump import admits as admits
from .bump import declared_bump as declared_bump
from .change import Change as Change
from .change import changes_between as changes_between
from .change import required_bump as required_bump
from .rule import BREAKS as BREAKS
from .rule import Breaks as Breaks
from .rule import ChangeRule as ChangeRule
from .rule import change_rules as change_rules
