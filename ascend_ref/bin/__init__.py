"""``visualize_data.bin``: read, write, take apart into a folder and put together again."""

from .canonical import MalformedPayload as MalformedPayload
from .canonical import canonical as canonical
from .canonical import parse as parse
from .container import BinFile as BinFile
from .container import Entry as Entry
from .container import Unreadable as Unreadable
from .container import open_file as open_file
from .container import read_blocks as read_blocks
from .stream import iterate_events as iterate_events
from .write import Block as Block
from .write import to_bytes as to_bytes
from .write import write_file as write_file
