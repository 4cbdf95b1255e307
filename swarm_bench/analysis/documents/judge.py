"""The section on what a judge made of the answers."""

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import Cell, Grid, Section, Value
from swarm_bench.core.report.judging import JudgedMode, JudgeSpending, Judging

_ABOUT = (
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
_SPENT = ("Judge", "Requests", "Input tokens", "Cache read", "Output tokens", "Cost (estimate)")


def section(judging: Judging, subject: str = "Mode") -> Section:
    """Make the section. Wins are those of the `subject` in the row."""
    same = sum(judged.same for judged in judging.modes)
    alike = (
        f"In {amount(same, 'pair')} both answers are the same text: a tie, about which nobody was "
        "asked, and which is not among those where the orders agreed."
    )
    return Section(
        title="Judge",
        blocks=(
            Grid(headers=(subject, *_HEADERS), labels=2, rows=tuple(map(_row, judging.modes))),
            paragraph(f"{_compared(judging)} {_ABOUT}"),
            paragraph(_COUNTS, *([alike] if same else [])),
            Grid(headers=_SPENT, labels=1, rows=tuple(map(_spending, judging.spending))),
            paragraph("What the judge took is in no other figure of this summary."),
        ),
    )


def _compared(judging: Judging) -> str:
    if judging.reference is None:
        return "Each row names what it is compared with."
    return f"Each is compared with {judging.reference}."


def _row(judged: JudgedMode) -> tuple[Cell, ...]:
    return (
        judged.mode,
        judged.judge,
        *map(_whole, (judged.wins, judged.ties, judged.losses, judged.pairs)),
        None if judged.agreement is None else Value(scale=Style.PERCENT, value=judged.agreement),
        *map(_whole, (judged.unreadable, judged.unjudged, judged.unpaired)),
    )


def _spending(spent: JudgeSpending) -> tuple[Cell, ...]:
    tokens = (spent.input_tokens, spent.cache_read, spent.output_tokens)
    return (
        spent.judge,
        _whole(spent.requests),
        *(_whole(number, spent.without_tokens) for number in tokens),
        Value(scale=Style.DOLLARS, value=spent.cost, notes=_missing(spent.without_cost)),
    )


def _whole(number: float | None, missing: int = 0) -> Value:
    return Value(scale=Style.WHOLE, value=number, notes=_missing(missing))


def _missing(number: int) -> tuple[str, ...]:
    return (f"{number} missing",) if number else ()
