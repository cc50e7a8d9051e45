"""Drafts: what is new or different, by addresses, laid over the documents of a spec."""

from .draft import Draft as Draft
from .draft import DraftError as DraftError
from .draft import Piece as Piece
from .draft import is_draft as is_draft
from .draft import read_draft as read_draft
from .folder import Overlay as Overlay
from .judging import judge as judge
