"""What a session comes to, with the metrics of the swarm benchmark."""

from functools import partial

import swarm_bench.analysis.noise
import swarm_bench.analysis.series
import swarm_bench.analysis.summary
import swarm_bench.reports.markdown
import swarm_bench.reports.trial_page
from swarm_bench.analysis.documents import comparison, growth, noise, trials
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.metric import Metrics
from swarm_bench.core.report.calibration import Calibration
from swarm_bench.core.report.report import Headline, Report
from swarm_bench.core.report.series import Series
from swarm_bench.core.session.records import TrialRecord

summarise = partial(swarm_bench.analysis.summary.summarise, metrics=METRICS)
calibration = partial(swarm_bench.analysis.noise.compute_calibration, metrics=METRICS)
series = partial(swarm_bench.analysis.series.compute_series, metrics=METRICS)


def has_qualifications(headline: Headline) -> bool:
    """Tell whether anything stands against believing the figures as they are."""
    return bool(
        headline.no_verdict
        or any(mode.no_verdict or mode.qualifications for mode in headline.standings)
    )


def render(report: Report) -> str:
    """Write the summary of a comparison, as it is where there are no files beside it."""
    return swarm_bench.reports.markdown.write_document(comparison.make_document(report)).markdown


def render_calibration(report: Report, calibration: Calibration) -> str:
    """Write the `summary.md` of a calibration."""
    return swarm_bench.reports.markdown.render(noise.make_document(report, calibration))


def render_series(series: Series) -> str:
    """Write the summary of a series, as it is where there are no files beside it."""
    return swarm_bench.reports.markdown.write_document(growth.make_document(series)).markdown


def render_page(metrics: Metrics, record: TrialRecord, answer: str | None) -> str:
    """Write the `agent-N.md` of a trial."""
    return swarm_bench.reports.trial_page.render_page(trials.make_page(metrics, record, answer))
