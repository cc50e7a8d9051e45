"""Defects of ``visualize_data.bin``, block by block."""

from . import basic as basic
from . import container as container
from . import cores as cores
from . import heat_map as heat_map
from . import loads as loads
from . import payloads as payloads
from . import rooflines as rooflines
from . import sources as sources
from . import tables as tables
from . import timeline as timeline
