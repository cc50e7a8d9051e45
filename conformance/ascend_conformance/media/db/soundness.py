"""The pages of a large database, looked at while its rules are prepared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import apsw

from ascend_ref.db.open import TICK, open_readonly, require_sound_pages

INTERRUPTED_AGAIN = 0.01
"""Seconds after which another statement may have begun."""


@contextmanager
def sound_meanwhile(
    path: Path, connection: apsw.Connection, stop: Event
) -> Iterator[Callable[[], None]]:
    """Look at the pages in a thread of its own; the value waits for the outcome.

    A scan of damaged pages may never end, so that every statement of the connection is interrupted
    as soon as there are any. Raises :class:`UnreadableDatabase` for them, in place of whatever else
    they led to. Setting ``stop`` ends the look, too.
    """
    is_over = Event()
    outcome = Future[None]()

    def look() -> None:
        try:
            with closing(open_readonly(path)) as own:
                own.set_progress_handler(stop.is_set, TICK, id="stop")
                require_sound_pages(own, path)
        except Exception as error:
            stop.set()
            outcome.set_exception(error)
            while not is_over.wait(INTERRUPTED_AGAIN):
                connection.interrupt()
        else:
            outcome.set_result(None)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(look)
        try:
            yield outcome.result
            outcome.result()
        except Exception:
            outcome.result()
            raise
        except BaseException:  # Ctrl-C above all: the pool waits for its thread
            stop.set()
            raise
        finally:
            is_over.set()
