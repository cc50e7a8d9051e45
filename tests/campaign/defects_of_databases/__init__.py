"""Defects of databases, by what they are about."""

from . import communication as communication
from . import identities as identities
from . import kinds as kinds
from . import links as links
from . import memory as memory
from . import samples as samples
from . import tables as tables
from . import times as times
