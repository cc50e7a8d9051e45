"""The functions of ``ge/ge_prof.h`` as a model: what each returns, and what is collected then."""

from .calls import Call as Call
from .calls import CreateConfig as CreateConfig
from .calls import DestroyConfig as DestroyConfig
from .calls import Finalize as Finalize
from .calls import Init as Init
from .calls import Start as Start
from .calls import Stop as Stop
from .model import Command as Command
from .model import Configuration as Configuration
from .model import Environment as Environment
from .model import LifeCycle as LifeCycle
from .model import Profiling as Profiling
from .model import Returned as Returned
from .model import Rules as Rules
from .model import UndefinedCall as UndefinedCall
