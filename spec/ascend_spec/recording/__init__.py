"""What a profiler records, described once: entities, and which cell of which medium shows them.

``entities()`` are the documents of this folder; ``showers()`` every table, CSV file and kind of
timeline event with what its cells show (``shows:`` in their own documents). Both are those of the
packaged spec; ``Spec.recording`` has those of any other.
"""

from ascend_spec.core.shows import REASONS as REASONS

from .catalog import Recording as Recording
from .model import Entity as Entity
from .model import EntityColumn as EntityColumn
from .model import Medium as Medium
from .model import Shower as Shower
