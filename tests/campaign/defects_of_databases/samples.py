"""Samples, counters, and analysis.db next to its profile."""

from __future__ import annotations

from damaged_profiles import Database, Folder
from exporter_defects import defect


@defect("database", "no core has such a clock")
def clock_in_hertz(db: Database) -> None:
    """Hz are written for MHz."""
    db.change("UPDATE AICORE_FREQ SET freq = freq * 1000000")


@defect("database", "no core has such a clock")
def clock_in_kilohertz(db: Database) -> None:
    """kHz are written for MHz."""
    db.change("UPDATE AICORE_FREQ SET freq = freq * 1000")


@defect("database", "no core has such a clock")
def clock_in_gigahertz(db: Database) -> None:
    """GHz are written for MHz."""
    db.change("UPDATE AICORE_FREQ SET freq = freq / 1000.0")


@defect("database", "cycles, time and blocks give another clock")
def clock_of_another_chip(db: Database) -> None:
    """The clock is that of the first chip of the list."""
    db.need("SELECT 1 FROM TASK_PMU_INFO")
    db.change("UPDATE AICORE_FREQ SET freq = 1000")


@defect("database", "rates that never exceed 1 in a session of tasks")
def hit_rates_as_fractions(db: Database) -> None:
    """A fraction is written for a percentage."""
    db.need("SELECT 1 FROM LLC WHERE hitRate > 20")
    db.change("UPDATE LLC SET hitRate = hitRate / 100")


@defect("database", "rates above 100 by far")
def hit_rates_times_hundred(db: Database) -> None:
    """A percentage is converted twice."""
    db.need("SELECT 1 FROM LLC WHERE hitRate > 20")
    db.change("UPDATE LLC SET hitRate = hitRate * 100")


@defect("database", "memory that moves bytes where others move gigabytes")
def memory_rates_in_gb(db: Database) -> None:
    """GB/s are written for B/s."""
    db.need("SELECT 1 FROM HBM WHERE bandwidth > 1000000000")
    db.change("UPDATE HBM SET bandwidth = bandwidth / 1000000000")


@defect("database", "no memory is that fast")
def memory_rates_times_a_million(db: Database) -> None:
    """B/s are taken for MB/s and converted once more."""
    db.need("SELECT 1 FROM HBM WHERE bandwidth > 1000000000")
    db.change("UPDATE HBM SET bandwidth = bandwidth * 1048576")


@defect("database", "one sample holds a unit twice")
def all_samples_of_one_unit(db: Database) -> None:
    """The unit of the memory is not filled in."""
    db.need("SELECT 1 FROM HBM WHERE hbmId > 0")
    db.change("UPDATE HBM SET hbmId = 0")


def _metric(pattern: str) -> str:
    return f"name IN (SELECT id FROM STRING_IDS WHERE value GLOB '{pattern}')"


@defect("database", "cycles and time give no clock")
def counter_times_in_ns(db: Database) -> None:
    """ns are written for us."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value * 1000 WHERE {_metric('*_time')}")


@defect("database", "cycles and time give no clock")
def total_counter_times_in_ns(db: Database) -> None:
    """The whole is in ns, its parts are in us."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value * 1000 WHERE {_metric('*total_time')}")


@defect("database", "cycles and time give no clock")
def counter_times_in_ms(db: Database) -> None:
    """ms are written for us."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value / 1000 WHERE {_metric('*_time')}")


@defect("database", "a share is above 1")
def counter_shares_in_percent(db: Database) -> None:
    """Percent are written for fractions."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value * 100 WHERE {_metric('*_ratio*')}")


@defect("database", "cycles and time give no clock")
def counter_cycles_in_thousands(db: Database) -> None:
    """Cycles are divided by 1000."""
    db.change(f"UPDATE TASK_PMU_INFO SET value = value / 1000 WHERE {_metric('*cycles')}")


@defect("database", "vector kernels have counts of the cube cores")
def counters_of_the_other_cores(db: Database) -> None:
    """The prefixes of the cores are exchanged."""
    db.need("SELECT 1 FROM TASK_PMU_INFO")
    db.change(
        "UPDATE STRING_IDS SET value = CASE substr(value, 1, 3) WHEN 'aic' THEN 'aiv'"
        " ELSE 'aic' END || substr(value, 4) WHERE (value GLOB 'aic_*' OR value GLOB 'aiv_*')"
        " AND id IN (SELECT name FROM TASK_PMU_INFO)"
    )


@defect("database", "shares times the whole are not the times of the pipes")
def counter_shares_off_by_one(db: Database) -> None:
    """Shares are joined with the task that follows."""
    ratio = _metric("*_ratio")
    db.change(
        f"CREATE TEMP TABLE shifted AS SELECT globalTaskId AS t, name, value FROM TASK_PMU_INFO"
        f" WHERE {ratio}",
        f"UPDATE TASK_PMU_INFO SET value = coalesce((SELECT value FROM shifted s WHERE"
        f" s.t = globalTaskId + 1 AND s.name = TASK_PMU_INFO.name), value) WHERE {ratio}",
    )


@defect("database", "the four numbers do not make up the version")
def version_in_parts_of_another(db: Database) -> None:
    """The parts of the version are those of the product."""
    db.change("UPDATE META_DATA SET value = '8' WHERE name = 'SCHEMA_VERSION_MAJOR'")


@defect("database", "overlap is not that of communication and computation")
def overlap_kinds_exchanged(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.change("UPDATE OVERLAP_ANALYSIS SET type = 3 - type WHERE type IN (1, 2)")


@defect("database", "free time lies where tasks run")
def free_and_computing_exchanged(db: Database) -> None:
    """Two members of an enum are exchanged."""
    db.change("UPDATE OVERLAP_ANALYSIS SET type = 3 - type WHERE type IN (0, 3)")


# analysis.db next to its profile.


def _analysis(folder: Folder, *statements: str) -> None:
    Database(folder.files("analysis.db")[0]).change(*statements)


@defect("analysis", "matrix and transfers name other pairs")
def matrix_source_and_target_exchanged(folder: Folder) -> None:
    """Two columns are exchanged."""
    _analysis(folder, "UPDATE CommAnalyzerMatrix SET src_rank = dst_rank, dst_rank = src_rank")


@defect("analysis", "rates are not size by time")
def analysed_times_in_us(folder: Folder) -> None:
    """us are written for ms."""
    _analysis(
        folder,
        "UPDATE CommAnalyzerTime SET elapse_time = elapse_time * 1000, transit_time ="
        " transit_time * 1000, wait_time = wait_time * 1000, idle_time = idle_time * 1000,"
        " synchronization_time = synchronization_time * 1000",
    )


@defect("analysis", "rates are not size by time")
def analysed_sizes_in_bytes(folder: Folder) -> None:
    """Bytes are written for MB."""
    _analysis(folder, "UPDATE CommAnalyzerBandwidth SET transit_size = transit_size * 1000000")


@defect("analysis", "rates are not size by time")
def analysed_rates_in_mb(folder: Folder) -> None:
    """MB/s are written for GB/s."""
    _analysis(folder, "UPDATE CommAnalyzerBandwidth SET bandwidth = bandwidth * 1000")


@defect("analysis", "rates are not size by time")
def matrix_sizes_in_bytes(folder: Folder) -> None:
    """Bytes are written for MB."""
    _analysis(folder, "UPDATE CommAnalyzerMatrix SET transit_size = transit_size * 1000000")


@defect("analysis", "operators start at other times than in the profile")
def analysed_starts_in_ms(folder: Folder) -> None:
    """ms are written for us."""
    _analysis(folder, "UPDATE CommAnalyzerTime SET start_timestamp = start_timestamp / 1000")


@defect("analysis", "operators start at other times than in the profile")
def analysed_starts_in_local_time(folder: Folder) -> None:
    """Local time is written as if it were UTC."""
    _analysis(
        folder, "UPDATE CommAnalyzerTime SET start_timestamp = start_timestamp + 28800000000.0"
    )


@defect("analysis", "the tasks of the step give other times")
def step_trace_in_ns(folder: Folder) -> None:
    """ns are written for us."""
    _analysis(
        folder,
        "UPDATE StepTraceTime SET computing = computing * 1000, free = free * 1000,"
        " communication = communication * 1000, overlapped = overlapped * 1000, stage ="
        " stage * 1000, communication_not_overlapped = communication_not_overlapped * 1000",
    )


@defect("analysis", "the tasks of the step give other times")
def computing_and_free_exchanged(folder: Folder) -> None:
    """Two columns are exchanged."""
    _analysis(folder, "UPDATE StepTraceTime SET computing = free, free = computing")


@defect("analysis", "a synchronisation is part of the wait")
def wait_and_synchronisation_exchanged(folder: Folder) -> None:
    """Two columns are exchanged."""
    _analysis(
        folder,
        "UPDATE CommAnalyzerTime SET wait_time = synchronization_time,"
        " synchronization_time = wait_time WHERE wait_time <> synchronization_time",
    )


@defect("analysis", "the profile has no such step")
def steps_off_by_one(folder: Folder) -> None:
    """Steps are counted from another number."""
    _analysis(folder, "UPDATE StepTraceTime SET step = CAST(CAST(step AS INTEGER) + 1 AS TEXT)")


@defect("analysis", "the profile has no such group")
def analysed_groups_of_another_run(folder: Folder) -> None:
    """The hash of the group is computed in another way."""
    _analysis(
        folder,
        "UPDATE CommAnalyzerTime SET group_name = '1234567890123456789'",
        "UPDATE CommAnalyzerBandwidth SET group_name = '1234567890123456789'",
    )


@defect("analysis", "sums are not those of the operators")
def totals_of_one_operator(folder: Folder) -> None:
    """The row of totals counts its last operator alone."""
    _analysis(
        folder,
        "UPDATE CommAnalyzerTime SET elapse_time = elapse_time / 2 WHERE hccl_op_name LIKE"
        " 'Total%' OR rowid = 1",
    )


@defect("analysis", "packets do not make up the size")
def packets_counted_twice(folder: Folder) -> None:
    """Packets of both directions are counted."""
    _analysis(folder, "UPDATE CommAnalyzerBandwidth SET count = count * 2 WHERE count > 0")


@defect("analysis", "rows are equal in all columns")
def analysed_operators_twice(folder: Folder) -> None:
    """The table is flushed twice."""
    _analysis(folder, "INSERT INTO CommAnalyzerTime SELECT * FROM CommAnalyzerTime")


@defect("analysis", "rows are equal in all columns")
def analysed_matrix_twice(folder: Folder) -> None:
    """The table is flushed twice."""
    _analysis(folder, "INSERT INTO CommAnalyzerMatrix SELECT * FROM CommAnalyzerMatrix")


@defect("analysis", "rows are equal in all columns")
def analysed_links_twice(folder: Folder) -> None:
    """The table is flushed twice."""
    _analysis(folder, "INSERT INTO CommAnalyzerBandwidth SELECT * FROM CommAnalyzerBandwidth")
