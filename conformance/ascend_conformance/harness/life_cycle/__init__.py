"""Implementations of ``ge/ge_prof.h`` in any language, tried against the model."""

from .conform import LifeCycleOutcome as LifeCycleOutcome
from .conform import ModeOutcome as ModeOutcome
from .conform import as_text as as_text
from .conform import conform_life_cycle as conform_life_cycle
from .conform import report_of as report_of
from .implementation import Heard as Heard
from .implementation import Implementation as Implementation
from .implementation import InProcess as InProcess
from .implementation import NoProgram as NoProgram
from .implementation import Program as Program
from .judging import Judged as Judged
from .judging import Problem as Problem
from .judging import Step as Step
