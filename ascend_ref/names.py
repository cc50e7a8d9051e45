"""What exporters put into the names of the folders and files of a profile: times and letters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ascend_spec import layout_catalog

HOST_ZONE = timedelta(hours=8)
"""Folder names hold the wall clock of the host; hosts are taken to stand in UTC+8."""
LETTERS = 16
FIRST_NUMBER = 1
"""Number of a program's first PROF folder."""


def stamp(moment: int, zone: timedelta = HOST_ZONE) -> str:
    """Unix ns as ``yyyymmddHHMMSSmmm``, 17 digits, of the clock of a time zone."""
    seconds, rest = divmod(moment, 1_000_000_000)
    time = datetime.fromtimestamp(seconds, UTC) + zone
    return f"{time:%Y%m%d%H%M%S}{rest // 1_000_000:03}"


def pytorch_folder(host: str, process: int, moment: int) -> str:
    """Folder of one process of the framework."""
    return layout_catalog().folder(
        "pytorch", "profile", host=host, process=process, stamp=stamp(moment)
    )


def mindspore_folder(host: str, process: int, moment: int) -> str:
    """Folder of one process of MindSpore, whose profiler goes by UTC (mindspore-present.md 1)."""
    return layout_catalog().folder(
        "mindspore", "profile", host=host, process=process, stamp=stamp(moment, timedelta(0))
    )


def early_mindspore_folder(rank: int, host: str, process: int, moment: int) -> str:
    """Folder of one process of MindSpore 2.3 or 2.4, by the local time; rank: -1 for none."""
    profile = layout_catalog().folders["mindspore", "profile"]
    of_rank, of_process = profile.also
    seconds = stamp(moment)[:14]
    if rank >= 0:
        return of_rank.of(rank=rank, seconds=seconds)
    return of_process.of(host=host, process=process, seconds=seconds)


def prof_folder(moment: int, letters: str) -> str:
    """Folder of CANN's profiler."""
    return layout_catalog().folder(
        "msprof", "profile", sequence=FIRST_NUMBER, stamp=stamp(moment), letters=letters
    )


def msprof_database(moment: int) -> str:
    """Database in the folder of CANN's profiler."""
    return layout_catalog().file("msprof", "database", timestamp=stamp(moment)[:14])


def letters_of(number: int) -> str:
    """Capital letters that stand for a number, in place of the random ones of real folders."""
    mixed = number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 26**LETTERS
    found = ""
    for _ in range(LETTERS):
        mixed, place = divmod(mixed, 26)
        found += chr(ord("A") + place)
    return found
