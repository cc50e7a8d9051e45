"""Why each table, CSV file and layer that is made of raw files is there, or is not.

All of it follows from the spec (what is made of which raw file, which switch collects it, which
product has it) and from what was read; nothing here knows a table or a file by name.
"""

from __future__ import annotations

from .explain import Account as Account
from .explain import Explained as Explained
from .explain import explain as explain
from .made import OF_KINDS as OF_KINDS
from .made import count_made as count_made
from .show import as_document as as_document
from .show import as_text as as_text
