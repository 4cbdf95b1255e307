"""A session as data frames, for a notebook. pandas is an extra: whoever opens a notebook has it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.trials_table import TrialsTable

if TYPE_CHECKING:
    from pandas import DataFrame

_TYPES = {"text": "string", "whole": "Int64", "check": "boolean", "figure": "Float64"}


@dataclass(frozen=True, eq=False)
class LoadedSession:
    """A session. What is missing is `NA`, never 0."""

    trials: "DataFrame"
    """A row for each trial: what every benchmark records, then the metrics of its own."""
    figures: "DataFrame"
    """The metrics in long form: arm, case, run, number, metric, value (a check is 1 or 0) and
    unit; without what is missing."""
    swarms: "DataFrame"
    """A row for each swarm, with its counters; none where the benchmark has no swarms."""
    columns: "DataFrame"
    """Name, unit and definition of each column of the trials."""
    experiment: dict[str, Any] | None
    """What was resolved before the first trial, as it is stored; `None` for a folder that canopy's
    script wrote."""

    def __repr__(self) -> str:
        """Say how much there is, since a notebook shows a session by it."""
        sizes = (("trials", self.trials), ("figures", self.figures), ("swarms", self.swarms))
        sizes_text = ", ".join(f"{name} ({len(frame):,})" for name, frame in sizes)
        return f"<LoadedSession: {sizes_text}, columns, experiment>"


def make_frames(table: TrialsTable) -> LoadedSession:
    """Make the frames of a session. Raises `UsageError` without pandas."""
    try:
        import pandas
    except ImportError:
        raise UsageError("load needs pandas; install it with: pip install pandas") from None
    names = [column.name for column in table.columns]
    trials = pandas.DataFrame.from_records(list(table.rows), columns=names)
    trials = trials.astype({column.name: _TYPES[column.kind] for column in table.columns})
    for name in ("started_at", "ended_at"):
        trials[name] = pandas.to_datetime(trials[name], utc=True, format="ISO8601")
    columns = pandas.DataFrame(
        {
            "name": names,
            "unit": [column.unit for column in table.columns],
            "definition": [column.definition for column in table.columns],
        }
    )
    return LoadedSession(
        trials=trials,
        figures=_make_figures(table, trials),
        swarms=pandas.json_normalize([dict(swarm) for swarm in table.swarms]),
        columns=columns,
        experiment=table.experiment,
    )


def _make_figures(table: TrialsTable, trials: "DataFrame") -> "DataFrame":
    figures = {column.name: column.unit for column in table.columns if column.is_metric}
    long = trials.astype(dict.fromkeys(figures, "Float64")).melt(
        id_vars=["arm", "case", "run", "number"],
        value_vars=list(figures),
        var_name="metric",
        value_name="value",
    )
    long["unit"] = long["metric"].map(figures)
    return long.dropna(subset="value").reset_index(drop=True)
