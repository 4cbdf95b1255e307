"""What agents spent that think with fixed rules: figures that are no headline.

The rules decide how often and how much the agents ask, so the rules decide the ratios too.
"""

from dataclasses import replace

from swarm_bench.analysis.comparison.compared import list_spending_metrics
from swarm_bench.analysis.comparison.controls import make_controls
from swarm_bench.analysis.comparison.correctness import compute_spending_per_right
from swarm_bench.analysis.comparison.ratios import compute_ratios
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.report.report import Headline, SpentByRules

TITLE = "What the fixed rules spent"
BANNER = (
    "These are no figures of a model: fixed rules decided how much the agents ask and read, and a "
    "placebo server, which answers every question with the same irrelevant places, can get low "
    "ones too."
)


def compare_rule_spending(selection: Selection, headline: Headline) -> SpentByRules | None:
    """Compare what was spent; `None` when a model decided, or there is nothing to compare."""
    if not selection.fixed_rules or headline.ratios is None:
        return None
    columns, metrics = headline.ratios.columns, list_spending_metrics(selection)
    spending_ratios = compute_ratios(selection, columns, metrics)
    legend = "Read these like the headline's ratios."
    return SpentByRules(
        title=TITLE,
        banner=BANNER,
        ratios=replace(spending_ratios, legend=(legend,), found_less=headline.ratios.found_less),
        per_right_answer=compute_spending_per_right(selection) if headline.correctness else (),
        controls=make_controls(selection, headline, metrics),
    )
