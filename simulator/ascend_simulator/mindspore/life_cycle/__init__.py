"""MindSpore's Profiler as a small model that runs: script, controller, collector, analysis.

A training script calls the :class:`Profiler`, which sends commands to a :class:`Controller`, which
starts and stops a :class:`Collector`. The analysis gives raw files to the parsers, and what
analysers read of the intermediate files to the script. This is the order of figure 3 of seed-002,
whose picture is missing; its text is Internal Module Interaction.
"""

from .collector import Clock as Clock
from .collector import Collector as Collector
from .collector import Source as Source
from .controller import Controller as Controller
from .cut import cut_capture as cut_capture
from .profiler import Analysed as Analysed
from .profiler import Profiler as Profiler
from .profiler import WrongOrder as WrongOrder
