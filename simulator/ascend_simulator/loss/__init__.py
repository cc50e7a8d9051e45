"""What is lost: of a complete session before it is written, or of what was written."""

from __future__ import annotations

from .calls import outermost_calls as outermost_calls
from .calls import with_calls as with_calls
from .faults import Loss as Loss
from .faults import lose as lose
from .files import ends_of_lost_arrows as ends_of_lost_arrows
from .files import lose_files as lose_files
from .files import lost_arrows as lost_arrows
from .raw import RawDamage as RawDamage
from .raw import damage_raw as damage_raw
