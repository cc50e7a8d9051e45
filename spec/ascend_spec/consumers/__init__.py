"""Readers of profiles: what each of them reads, needs, drops and misreads, by its version."""

from .catalog import Behaviour as Behaviour
from .catalog import ConsumerCatalog as ConsumerCatalog
from .catalog import Effect as Effect
from .catalog import Join as Join
from .catalog import Part as Part
from .catalog import Read as Read
from .catalog import Reader as Reader
from .catalog import Rows as Rows
from .catalog import State as State
from .catalog import Trait as Trait
from .catalog import Version as Version
