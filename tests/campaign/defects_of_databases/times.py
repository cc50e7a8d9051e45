"""Times of the device and of the host."""

from __future__ import annotations

from damaged_profiles import Database
from exporter_defects import defect

from .tables import set_all


@defect("database", "steps and ProfilerStep calls differ")
def framework_five_milliseconds_late(db: Database) -> None:
    """The framework's clock is adjusted with the wrong offset."""
    set_all(db, "PYTORCH_API", "{} + 5000000")


@defect("database", "launches lie outside the queue's calls, tasks start before their launch")
def host_calls_three_milliseconds_late(db: Database) -> None:
    """The host's clock is adjusted with the wrong offset."""
    set_all(db, "CANN_API", "{} + 3000000")


@defect("database", "launches lie outside the calls that leave the queue")
def host_calls_ninety_microseconds_early(db: Database) -> None:
    """The host's clock drifts."""
    db.need("SELECT 1 FROM PYTORCH_API")
    set_all(db, "CANN_API", "{} - 90000")


@defect("database", "kernels start before they are launched, by more than other clocks differ")
def tasks_two_milliseconds_early(db: Database) -> None:
    """The device's clock is adjusted with the wrong offset."""
    set_all(db, "TASK", "{} - 2000000")


@defect("database", "each end is before its start")
def task_end_holds_the_length(db: Database) -> None:
    """The length is written where the end belongs."""
    db.change("UPDATE TASK SET endNs = endNs - startNs")


@defect("database", "each end is before its start")
def task_start_and_end_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.change("UPDATE TASK SET startNs = endNs, endNs = startNs")


@defect("database", "each end is before its start")
def host_start_and_end_exchanged(db: Database) -> None:
    """Two columns are exchanged."""
    db.change("UPDATE CANN_API SET startNs = endNs, endNs = startNs")


@defect("database", "counters give longer times than the tasks took")
def task_lengths_in_us(db: Database) -> None:
    """The length is divided by 1000 before it is added to the start."""
    db.change("UPDATE TASK SET endNs = startNs + (endNs - startNs) / 1000")


@defect("database", "calls that are caused by others end behind them")
def host_lengths_in_us(db: Database) -> None:
    """The length is divided by 1000 before it is added to the start."""
    db.change("UPDATE CANN_API SET endNs = startNs + (endNs - startNs) / 1000")


@defect("database", "tasks overlap on their streams")
def task_lengths_times_a_thousand(db: Database) -> None:
    """The length is taken for us and multiplied."""
    db.change("UPDATE TASK SET endNs = startNs + (endNs - startNs) * 1000")


@defect("database", "calls overlap on their threads")
def host_lengths_times_a_thousand(db: Database) -> None:
    """The length is taken for us and multiplied."""
    db.change("UPDATE CANN_API SET endNs = startNs + (endNs - startNs) * 1000")


@defect("database", "all times of the device are multiples of 1000 ns")
def task_times_cut_to_us(db: Database) -> None:
    """Times pass through whole us."""
    set_all(db, "TASK", "{} / 1000 * 1000")


@defect("database", "all times of the host are multiples of 1000 ns")
def host_times_cut_to_us(db: Database) -> None:
    """Times pass through whole us."""
    set_all(db, "CANN_API", "{} / 1000 * 1000")


@defect("database", "all times of the framework are multiples of 1000 ns")
def framework_times_cut_to_us(db: Database) -> None:
    """Times pass through whole us."""
    set_all(db, "PYTORCH_API", "{} / 1000 * 1000")


@defect("database", "all times are multiples of 256 ns, the spacing of doubles there")
def task_times_through_doubles(db: Database) -> None:
    """Times pass through floating point."""
    set_all(db, "TASK", "({} / 256) * 256")


@defect("database", "all times are multiples of 256 ns, the spacing of doubles there")
def host_times_through_doubles(db: Database) -> None:
    """Times pass through floating point."""
    set_all(db, "CANN_API", "({} / 256) * 256")


@defect("database", "times lie decades before the session")
def task_times_in_32_bits(db: Database) -> None:
    """Times lose their upper half."""
    set_all(db, "TASK", "({} & 4294967295)")


@defect("database", "operators and steps lie outside")
def session_ends_before_its_tasks(db: Database) -> None:
    """The session is closed before the last data has come."""
    db.change(
        "UPDATE SESSION_TIME_INFO SET endTimeNs = (SELECT (min(startNs) + max(endNs)) / 2"
        " FROM TASK)"
    )


@defect("database", "tasks run before the session starts")
def session_begins_after_its_tasks(db: Database) -> None:
    """The start of the session is that of its analysis."""
    db.change(
        "UPDATE SESSION_TIME_INFO SET startTimeNs = (SELECT (min(startNs) + max(endNs)) / 2"
        " FROM TASK)"
    )


@defect("database", "kernels of one stream overlap")
def tasks_lengthened_by_the_wait(db: Database) -> None:
    """The end is that of the next task of the stream, plus a little."""
    db.change(
        "UPDATE TASK SET endNs = coalesce((SELECT min(u.startNs) + 500 FROM TASK u WHERE"
        " u.streamId = TASK.streamId AND u.contextId = 4294967295 AND u.startNs > TASK.startNs),"
        " endNs) WHERE contextId = 4294967295"
    )
