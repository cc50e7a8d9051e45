"""A raw profile of the adapter as a capture: ``FRAMEWORK``, ``PROF_*`` and what stands by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ascend_ref.capture import Capture, Origin, Switches, Texts
from ascend_ref.db.encode.metadata import PARALLEL_GROUPS
from ascend_spec import layout_catalog

from ..clocks import Clock
from ..context import Context
from ..damage import Damage, Unreadable
from ..decode.read import RawCapture, read_prof
from ..decode.session import open_session
from ..side import SideFiles, Unknown
from ..tree import FRAMEWORK, RawFolder, find_folders, prof_folders
from .allocator import read_events, with_memory
from .clock import end_time, framework_clock, start_time
from .files import Files
from .functions import read_functions
from .garbage import read_collections
from .groups import with_groups
from .information import Information, has_information, read_information
from .operators import read_operators
from .queue import read_queue
from .tables import with_activities


def find_profiles(path: Path) -> list[Path]:
    """The folders below a path, or that path itself, in which the adapter recorded.

    ``FRAMEWORK`` lies in them, or profiler_info next to ``PROF_*``. Raises :class:`Unreadable`
    where there are no raw files.
    """
    found: dict[Path, None] = {}
    for folder in find_folders(path):
        if folder.side == "framework":
            found[folder.path.parent] = None
            continue
        profile = folder.path.parent.parent
        inside = profile == path or path in profile.parents
        if inside and (has_information(profile) or (profile / FRAMEWORK).is_dir()):
            found[profile] = None
    return list(found)


def read_profile(profile: Path) -> RawCapture:
    """The capture of a profile. Raises :class:`Unreadable` where nothing states its times."""
    damage: list[Damage] = []
    information = read_information(profile, damage)
    folders = find_folders(profile)
    device, contexts = _read_prof(profile, folders, damage)
    try:
        clock: Clock | None = framework_clock(information, _host(profile, folders))
    except Unknown as problem:
        clock = None
        text = f"{problem}, so nothing of {FRAMEWORK} is known"
        damage.append(Damage(profile, text))
    base = device or _bare(profile, information, damage)
    _expect(information, folders, damage)
    metadata = {k: v for k, v in information.metadata.items() if k != PARALLEL_GROUPS}
    rank = information.rank if information.document else base.origin.rank
    base = replace(
        base,
        origin=replace(base.origin, rank=rank, metadata=metadata),
        switches=information.switches(base.switches),
    )
    base = with_groups(base, information)
    framework = [Context(one, None, damage) for one in folders if one.side == "framework"]
    if clock is not None and framework:
        base = _with_framework(base, Files(framework[0], clock))
    return RawCapture(profile, base, damage, (*contexts, *framework))


def _with_framework(base: Capture, files: Files) -> Capture:
    texts = base.texts
    operators, frames, process = read_operators(files, texts)
    queue = read_queue(files, texts)
    functions = read_functions(files, texts)
    if not base.origin.pid and process is not None:
        base = replace(base, origin=replace(base.origin, pid=process))
    found = with_activities(base, functions, queue, operators, frames)
    found = replace(found, collections=read_collections(files))
    return with_memory(found, read_events(files))


def _read_prof(
    profile: Path, folders: list[RawFolder], damage: list[Damage]
) -> tuple[Capture | None, tuple[Context, ...]]:
    """The capture of CANN's profiler, ``None`` without one, and what was read of its folders."""
    found = prof_folders(folders)
    if not found:
        return None, ()
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        damage.append(Damage(profile, f"one PROF_* is expected of {names}"))
    try:
        read = read_prof(found[0])
    except Unreadable as problem:
        damage.append(Damage(profile, str(problem)))
        return None, ()
    damage += read.damage
    return read.capture, read.contexts


def _host(profile: Path, folders: list[RawFolder]) -> SideFiles | None:
    """The side files of the host, whose damage :func:`_read_prof` states."""
    host = next((one for one in folders if one.side == "host"), None)
    if host is None:
        return None
    context = open_session(host.path.parent)[0].host
    return None if context is None else context.side


def _bare(profile: Path, information: Information, damage: list[Damage]) -> Capture:
    """A capture of nothing but what the profile states of itself."""
    try:
        start = start_time(information)
    except Unknown as problem:
        raise Unreadable(f"{profile}: {problem}, so no time is known") from None
    named = layout_catalog().folders["pytorch", "profile"].name.named(profile.name) or {}
    process = named.get("process", "")
    origin = Origin(
        rank=information.rank,
        ranks=0,
        devices=(),
        chip="",
        pid=int(process) if process.isdecimal() and len(process) < 10 else 0,
        host_name=named.get("host", "").encode("utf-8", "backslashreplace").decode(),
        host_uid=0,
        start=start,
        end=end_time(information),
    )
    return Capture(origin, Switches(), Texts())


def _expect(information: Information, folders: list[RawFolder], damage: list[Damage]) -> None:
    """Folders of activities that were recorded."""
    switches = information.switches(Switches(cpu=False, npu=False))
    sides = {one.side for one in folders}
    if switches.cpu and "framework" not in sides:
        damage.append(Damage(information.profile, f"{FRAMEWORK} is missing"))
    if switches.npu and not sides & {"host", "device"}:
        damage.append(Damage(information.profile, "PROF_* is missing"))
