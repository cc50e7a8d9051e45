"""Defects of timelines, by layer."""

from . import arrows as arrows
from . import collectives as collectives
from . import device as device
from . import file as file
from . import host as host
from . import layers as layers
from . import samples as samples
