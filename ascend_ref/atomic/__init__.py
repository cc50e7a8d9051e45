"""Files and folders that appear whole or not at all."""

from __future__ import annotations

from .drafts import Drafts as Drafts
from .drafts import Naming as Naming
from .file import atomic_file as atomic_file
from .file import write_atomically as write_atomically
from .folder import staged as staged
from .hidden import hidden_path as hidden_path
from .hidden import is_hidden as is_hidden
from .hidden import left_behind as left_behind
