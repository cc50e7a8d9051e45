"""A ``visualize_data.bin`` as a folder of readable files, and such a folder as a file again.

``manifest.json`` lists the segments of the file in order. Every byte of the file belongs to one,
so that any file, damaged or not, comes back as it was; a block whose readable form was edited comes
back with a fitting header. File names are ours: no path of the file's content is ever used as one.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from ascend_ref.atomic import atomic_file, staged
from ascend_spec import bin_catalog
from ascend_spec.bin import LEGACY_VERSION, PATH_TYPE

from .container import BinFile, Entry, Unreadable, mapped, open_file
from .forms import Form, read_form, write_form
from .write import Block, pieces

MANIFEST = "manifest.json"
FORMAT = "ascend-ref decoded visualize_data.bin"
FORMAT_VERSION = 1

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with how much is done, how much there is, and the name of the current block."""

Segment: TypeAlias = dict[str, Any]

_FOREIGN = (LookupError, TypeError, ValueError, AttributeError, OverflowError, struct.error)
"""What a manifest written by somebody else can lead to."""


def decode_folder(
    path: Path | str,
    folder: Path | str,
    types: frozenset[int] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the readable form of a file into a new folder; the manifest is returned.

    ``types`` leaves out the other blocks; such a folder cannot be encoded again. Raises
    :class:`Unreadable`, ``FileExistsError`` for a folder that exists, ``OSError``.
    """
    with open_file(path) as file, staged(Path(folder)) as draft:
        manifest = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "file": Path(file.label).name,
            "complete": types is None,
            "segments": list(_segments(file, draft, types, progress)),
            "damage": [
                {"code": one.code, "offset": one.offset, "message": one.message}
                for one in file.damage
            ],
        }
        text = json.dumps(manifest, ensure_ascii=True, indent=1)
        (draft / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return manifest


def _segments(
    file: BinFile, draft: Path, types: frozenset[int] | None, progress: Progress | None
) -> Iterator[Segment]:
    at = 0
    for entry in file.entries:
        if types is None and entry.offset > at:
            yield _skipped(file, draft, at, entry.offset)
        if types is None or entry.type in types:
            yield _decode_block(file, entry, draft)
        at = entry.stop
        if progress:
            progress(at, file.size, block_name(entry.type))
    if types is None and at < file.size:
        yield _skipped(file, draft, at, file.size)


def _skipped(file: BinFile, draft: Path, start: int, stop: int) -> Segment:
    name = f"bytes-at-{start}.raw"
    with (draft / name).open("wb") as target:
        target.write(file.view[start:stop])
    return {"offset": start, "bytes": stop - start, "raw": name}


def block_name(code: int) -> str:
    """What a block type is called."""
    known = bin_catalog().blocks.get(code)
    return known.name if known else f"unknown type 0x{code:02x}"


def block_head(file: BinFile, entry: Entry) -> Segment:
    """What is said of a block in front of its payload."""
    head: Segment = {
        "offset": entry.offset,
        "type": f"0x{entry.type:02x}",
        "name": block_name(entry.type),
        "bytes": entry.payload_size,
    }
    if entry.version != LEGACY_VERSION:
        head["version"] = entry.version
    if entry.type == PATH_TYPE:
        head["path"] = file.path(entry).decode("utf-8", "backslashreplace")
    return head


def _decode_block(file: BinFile, entry: Entry, draft: Path) -> Segment:
    known = bin_catalog().blocks.get(entry.type)
    stem = f"{entry.ordinal:05}-{entry.type:02x}-{known.slug if known else 'unknown'}"
    payload = file.payload(entry)
    segment = block_head(file, entry)
    form = write_form(known.payload if known else "none", payload, draft, stem)
    segment["files"] = list(form.files)
    if form.problem:
        segment["problem"] = form.problem
    if form.raw or not _is_regular(file, entry):
        segment["original"] = {
            "frame": _frame_text(bytes(file.view[entry.offset : entry.payload_offset])),
            "tail": file.pad(entry).hex(),
            "sha256": _digest(draft, segment["files"]),
        }
        if form.raw:
            segment["original"]["payload"] = form.raw
    return segment


def _is_regular(file: BinFile, entry: Entry) -> bool:
    """Whether the writer would frame this payload in the same way, with a path as it is shown."""
    path = file.path(entry) if entry.type == PATH_TYPE else None
    if path and path.decode("utf-8", "backslashreplace").encode() != path:
        return False
    try:
        *frame, _, pad = pieces(Block(entry.type, file.payload(entry), path, entry.version))
    except ValueError:  # a path that fills its section
        return False
    own = file.view[entry.offset : entry.payload_offset]
    return b"".join(frame) == own and pad == file.pad(entry)


def _frame_text(frame: bytes) -> str:
    """Header and path section in hexadecimal, without the zeros at their end."""
    return frame.rstrip(b"\0").hex() + f"+{len(frame) - len(frame.rstrip(bytes(1)))}"


def _frame_bytes(text: str) -> bytes:
    content, _, zeros = text.partition("+")
    return bytes.fromhex(content) + bytes(min(int(zeros), 1 << 13))


def _digest(folder: Path, names: list[str]) -> str:
    digest = sha256()
    for name in names:
        with (folder / name).open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    return digest.hexdigest()


def encode_folder(folder: Path | str, path: Path | str, progress: Progress | None = None) -> int:
    """Write the file that a decoded folder describes, at once or not at all; its size in bytes.

    Raises :class:`Unreadable` for a folder that :func:`decode_folder` did not write or that was
    broken since, ``OSError`` where a file cannot be read or written.
    """
    source = Path(folder)
    manifest = _read_manifest(source)
    segments = manifest["segments"]
    size = 0
    with atomic_file(Path(path)) as target:
        for place, segment in enumerate(segments):
            try:
                size += _encode_segment(source, segment, target)
            except _FOREIGN as error:
                what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                reason = f"{MANIFEST}: segment {place}: {what}"
                raise Unreadable(
                    f"{source}: {reason}; expected one of ascend-ref decode"
                ) from error
            if progress:
                progress(place + 1, len(segments), str(segment.get("name", "")))
    return size


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if path.exists() and not path.is_file():
        raise Unreadable(f"{path}: no regular file; expected the manifest of a decoded file")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or f"no JSON text: {error}"
        raise Unreadable(f"{path}: {reason}; expected the manifest of a decoded file") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise Unreadable(f"{path}: expected the manifest of a decoded file")
    if manifest.get("version") != FORMAT_VERSION:
        raise Unreadable(f"{path}: version {manifest.get('version')!r}; expected {FORMAT_VERSION}")
    if not manifest.get("complete") or not isinstance(manifest.get("segments"), list):
        raise Unreadable(f"{path}: only some blocks were decoded; expected all of them")
    return manifest


def _encode_segment(folder: Path, segment: Segment, target: BinaryIO) -> int:
    if "type" not in segment:
        return target.write(mapped(_inside(folder, segment["raw"])))
    names = [_inside(folder, name).name for name in segment["files"]]
    original: dict[str, Any] | None = segment.get("original")
    if original is not None and original["sha256"] != _digest(folder, names):
        original = None  # edited: what else the file held is void
    code = int(segment["type"], 16)
    known = bin_catalog().blocks.get(code)
    payload: bytes | memoryview
    if original and "payload" in original:
        payload = mapped(_inside(folder, original["payload"]))
    else:
        payload = read_form(known.payload if known else "none", Form(tuple(names)), folder)
    if original:
        frame, tail = _frame_bytes(original["frame"]), bytes.fromhex(original["tail"])
        return sum(map(target.write, (frame, payload, tail)))
    path = segment["path"].encode() if code == PATH_TYPE else None
    version = segment.get("version", LEGACY_VERSION)
    return sum(map(target.write, pieces(Block(code, payload, path, version))))


def _inside(folder: Path, name: str) -> Path:
    """A file of the folder itself. Raises ``ValueError`` for a name that leads elsewhere."""
    path = folder / name
    odd = path.is_symlink() or (path.exists() and not path.is_file())  # a FIFO would be waited for
    if Path(name).name != name or name in {".", ".."} or odd:
        raise ValueError(f"{name!r} is no file of this folder")
    return path
