"""The section on what a judge made of the answers."""

from collections import Counter
from collections.abc import Mapping, Sequence

from swarm_bench.analysis.comparison.judging import Identity, Judge, Match, identify_pair
from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.figures import total
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import Cell, Grid, Section, Value
from swarm_bench.core.session.judgements import Side, Verdict

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
_OWN_REFERENCES = "Each row names what it is compared with."
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


def make_judge_section(
    matches: Sequence[Match],
    verdicts: Sequence[Verdict],
    reference: str | None,
    subject: str = "Mode",
) -> Section | None:
    """Make the section; `None` when nothing was judged. Wins are those of the `subject` in the row,
    and `reference` is that of all, if it is one."""
    if not verdicts:
        return None
    latest = {(line.judge, identify_pair(line), line.first): line for line in verdicts}
    judges = sorted({verdict.judge for verdict in verdicts})
    comparisons = [
        (match, judge, _find_judged_pairs(match, judge, latest))
        for judge in judges
        for match in matches
    ]
    same = sum(
        not _are_asked(lines)
        for _, _, pairs in comparisons
        for lines in pairs
        if _is_decided(lines)
    )
    same_text = (
        f"In {quantify(same, 'pair')} both answers are the same text: a tie, about which nobody "
        f"was asked, and which is not among those where the orders agreed."
    )
    against = _OWN_REFERENCES if reference is None else f"Each is compared with {reference}."
    spending = tuple(_make_spending(judge, verdicts) for judge in judges)
    rows = tuple(_make_row(*entry) for entry in comparisons)
    return Section(
        title="Judge",
        blocks=(
            Grid(headers=(subject, *_HEADERS), labels=2, rows=rows),
            paragraph(f"{against} {_DESCRIPTION}"),
            paragraph(_COUNTS, *([same_text] if same else [])),
            Grid(headers=_SPENDING_HEADERS, labels=1, rows=spending),
            paragraph("What the judge took is in no other figure of this summary."),
        ),
    )


Latest = Mapping[tuple[Judge, Identity, Side], Verdict]
Lines = Sequence[Verdict]
"""The verdicts on a pair, at most one for each order."""


def _find_judged_pairs(match: Match, judge: Judge, latest: Latest) -> list[Lines]:
    """Return the verdicts on each pair of answers."""
    sides: tuple[Side, Side] = ("mode", "reference")
    keys = [
        [(judge, pair.identity, side) for side in sides] for pair in match.pairs if pair.has_answers
    ]
    return [[latest[key] for key in of_pair if key in latest] for of_pair in keys]


def _is_decided(lines: Lines) -> bool:
    return _find_result(lines) in ("win", "tie", "loss")


def _are_asked(lines: Lines) -> bool:
    """Tell whether the judge was asked: nobody is about equal texts."""
    return all(line.requests for line in lines)


def _find_result(lines: Lines) -> str:
    """Return what the verdicts on a pair come to. Where the two orders differ it is a tie, also
    when one of them said so."""
    if len(lines) < 2:
        return "unjudged"
    if any(line.verdict is None for line in lines):
        return "unreadable"
    winners = {line.winner for line in lines}
    if winners == {"mode"}:
        return "win"
    return "loss" if winners == {"reference"} else "tie"


def _make_row(match: Match, judge: Judge, pairs: Sequence[Lines]) -> tuple[Cell, ...]:
    results = Counter(map(_find_result, pairs))
    requested_pairs = [lines for lines in pairs if _is_decided(lines) and _are_asked(lines)]
    agreeing = sum(len({line.winner for line in lines}) == 1 for lines in requested_pairs)
    counts = [results[result] for result in ("win", "tie", "loss")]
    unpaired = match.positions - len(pairs)
    return (
        match.name,
        _format_judge(judge),
        *map(_make_count, (*counts, sum(counts))),
        Value(scale=Style.PERCENT, value=agreeing / len(requested_pairs))
        if requested_pairs
        else None,
        *map(_make_count, (results["unreadable"], results["unjudged"], unpaired)),
    )


def _make_spending(judge: Judge, verdicts: Sequence[Verdict]) -> tuple[Cell, ...]:
    lines = [verdict for verdict in verdicts if verdict.judge == judge]
    requested = [line for line in lines if line.requests] or lines

    def add_up(key: str) -> int | float | None:
        return total(value for line in requested if (value := getattr(line, key)) is not None)

    without_tokens = sum(line.output_tokens is None for line in lines)
    without_cost = sum(line.cost is None for line in lines)
    return (
        _format_judge(judge),
        _make_count(sum(line.requests for line in lines)),
        *(
            _make_count(add_up(key), without_tokens)
            for key in ("input_tokens", "cache_read", "output_tokens")
        ),
        Value(scale=Style.DOLLARS, value=add_up("cost"), notes=_describe_missing(without_cost)),
    )


def _format_judge(judge: Judge) -> str:
    model, url = judge
    return f"{model} at {url}"


def _make_count(number: float | None, missing: int = 0) -> Value:
    return Value(scale=Style.WHOLE, value=number, notes=_describe_missing(missing))


def _describe_missing(number: int) -> tuple[str, ...]:
    return (f"{number} missing",) if number else ()
