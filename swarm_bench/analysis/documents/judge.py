"""The section on what a judge made of the answers."""

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import Cell, Grid, Section, Value
from swarm_bench.core.report.report import JudgedMode, JudgeSpending, Judging

_DESCRIPTION = (
    "A model was shown two answers to the same task in the same run, and not whose they are: names "
    "that would tell were taken out. Each pair was shown in "
    "both orders; where the two verdicts differ, it is a tie. This is the opinion of a model on "
    "texts: it has not seen the code, an answer can try to persuade it, and nothing of it is in "
    "the headline."
)
_COUNTS = (
    "Pairs are those with a verdict. Beside them: pairs with a reply that does not end with a "
    "verdict (unreadable), pairs that were not asked about in both orders (not judged), and trials "
    "without a pair, as one of the two gave no answer that counts."
)
_HEADERS = (
    "Judge",
    "Wins",
    "Ties",
    "Losses",
    "Pairs",
    "Orders agreed",
    "Unreadable",
    "Not judged",
    "No pair",
)
_SPENDING_HEADERS = (
    "Judge",
    "Requests",
    "Input tokens",
    "Cache read",
    "Output tokens",
    "Cost (estimate)",
)


def make_section(judging: Judging, subject: str = "Mode") -> Section:
    """Make the section. Wins are those of the `subject` in the row."""
    same = sum(judgement.same for judgement in judging.modes)
    same_text = (
        f"In {quantify(same, 'pair')} both answers are the same text: a tie, about which nobody "
        f"was asked, and which is not among those where the orders agreed."
    )
    return Section(
        title="Judge",
        blocks=(
            Grid(headers=(subject, *_HEADERS), labels=2, rows=tuple(map(_make_row, judging.modes))),
            paragraph(f"{_describe_reference(judging)} {_DESCRIPTION}"),
            paragraph(_COUNTS, *([same_text] if same else [])),
            Grid(
                headers=_SPENDING_HEADERS,
                labels=1,
                rows=tuple(map(_make_spending, judging.spending)),
            ),
            paragraph("What the judge took is in no other figure of this summary."),
        ),
    )


def _describe_reference(judging: Judging) -> str:
    if judging.reference is None:
        return "Each row names what it is compared with."
    return f"Each is compared with {judging.reference}."


def _make_row(judgement: JudgedMode) -> tuple[Cell, ...]:
    return (
        judgement.mode,
        judgement.judge,
        *map(_make_count, (judgement.wins, judgement.ties, judgement.losses, judgement.pairs)),
        None
        if judgement.agreement is None
        else Value(scale=Style.PERCENT, value=judgement.agreement),
        *map(_make_count, (judgement.unreadable, judgement.unjudged, judgement.unpaired)),
    )


def _make_spending(spending: JudgeSpending) -> tuple[Cell, ...]:
    tokens = (spending.input_tokens, spending.cache_read, spending.output_tokens)
    return (
        spending.judge,
        _make_count(spending.requests),
        *(_make_count(number, spending.without_tokens) for number in tokens),
        Value(
            scale=Style.DOLLARS, value=spending.cost, notes=_describe_missing(spending.without_cost)
        ),
    )


def _make_count(number: float | None, missing: int = 0) -> Value:
    return Value(scale=Style.WHOLE, value=number, notes=_describe_missing(missing))


def _describe_missing(number: int) -> tuple[str, ...]:
    return (f"{number} missing",) if number else ()
