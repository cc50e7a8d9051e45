"""``visualize_data.bin``: read, write, take apart into a folder and put together again."""

from .canonical import MalformedPayload, canonical, parse
from .container import BinFile, Damage, Entry, Unreadable, open_file, read_blocks
from .stream import iterate_events
from .write import Block, to_bytes, write_file

__all__ = [
    "BinFile",
    "Block",
    "Damage",
    "Entry",
    "MalformedPayload",
    "Unreadable",
    "canonical",
    "iterate_events",
    "open_file",
    "parse",
    "read_blocks",
    "to_bytes",
    "write_file",
]
