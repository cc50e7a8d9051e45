"""Statistics of operators, calls and communication."""

from __future__ import annotations

from damaged_profiles import Folder, Row
from exporter_defects import defect

from .cells import KERNELS, present_in, scaled, shift_column, swap

STATISTICS = {
    "op-statistic": ("op_statistic*.csv", "Total Time(us)", "Avg Time(us)", "Count"),
    "api-statistic": ("api_statistic*.csv", "Time(us)", "Avg(us)", "Count"),
    "communication-statistic": (
        "communication_statistic*.csv",
        "Total Time(us)",
        "Avg Time(us)",
        "Count",
    ),
}


def _statistic(label: str) -> None:
    file, total, average, count = STATISTICS[label]
    least, most = ("Min(us)", "Max(us)") if "api" in label else ("Min Time(us)", "Max Time(us)")

    @defect("csv", "average times count is not the total", f"{label}-total-in-ms")
    def total_in_ms(folder: Folder) -> None:
        """The total is written in another unit than its parts."""
        folder.each(file, lambda row: row.update({total: scaled(row[total], 1e-3)}))

    @defect("csv", "average times count is not the total", f"{label}-count-off-by-one")
    def count_off(folder: Folder) -> None:
        """The last row of each group is counted twice."""
        folder.each(file, lambda row: row.update({count: str(int(row[count]) + 1)}))

    @defect("csv", "the least is more than the most", f"{label}-least-and-most-exchanged")
    def least_most(folder: Folder) -> None:
        """Two columns are written under each other's header."""
        folder.each(file, lambda row: swap(row, least, most))

    @defect("csv", "average times count is not the total", f"{label}-average-is-median")
    def median(folder: Folder) -> None:
        """The mean of the extremes is written as average."""

        def change(row: Row) -> None:
            middle = (float(row[least]) + float(row[most])) / 2
            row[average] = f"{middle:.3f}"

        folder.each(file, change)

    @defect("csv", "a name stands twice", f"{label}-twice")
    def twice(folder: Folder) -> None:
        """Groups are written for each chunk of rows."""
        folder.rows(file, lambda rows: [row for row in rows for _ in range(2)])


for _label in STATISTICS:
    _statistic(_label)


@defect("csv", "the shares do not sum to one hundred")
def op_statistic_ratio_as_fraction(folder: Folder) -> None:
    """A percentage is written as a fraction."""
    folder.each(
        "op_statistic*.csv", lambda row: row.update({"Ratio(%)": scaled(row["Ratio(%)"], 0.01)})
    )


@defect("csv", "the kernels have types that are not in the statistics")
def op_statistic_without_its_largest(folder: Folder) -> None:
    """The statistics are of another filter."""
    present_in(folder, KERNELS)
    folder.rows("op_statistic*.csv", lambda rows: rows[1:])


@defect("csv", "the kernels of these types have other lengths")
def op_statistic_types_of_the_next(folder: Folder) -> None:
    """Names are joined one row too late."""
    present_in(folder, KERNELS)
    folder.rows("op_statistic*.csv", lambda rows: shift_column(rows, "OP Type"))


@defect("csv", "variance and spread contradict each other")
def api_statistic_deviation_for_variance(folder: Folder) -> None:
    """The standard deviation is written under the header of the variance."""

    def change(row: Row) -> None:
        row["Variance"] = f"{float(row['Variance']) ** 0.5:.3f}"

    folder.each("api_statistic*.csv", change)


@defect("csv", "acl functions are no functions of the runtime")
def api_statistic_levels_exchanged(folder: Folder) -> None:
    """The levels acl and runtime are exchanged."""
    other = {"acl": "runtime", "runtime": "acl"}
    folder.each(
        "api_statistic*.csv",
        lambda row: row.update({"Level": other.get(row["Level"], row["Level"])}),
    )
