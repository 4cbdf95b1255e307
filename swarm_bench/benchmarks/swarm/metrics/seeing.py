"""The metrics of what the agents had before them: what their tools showed of the key's files."""

from swarm_bench.benchmarks.swarm.metrics.correctness import read_score
from swarm_bench.core.metric import Better, How, Metric, Row, Style

SEEING = "What the agents saw"
_SHARES = (
    ("seen_recall", "Key's files seen", "Share of the key's files that a tool call showed."),
    (
        "retrieved_precision",
        "Relevant part of what was seen",
        "Share of the files that tool calls showed that are in the key.",
    ),
)
_FIRST = (
    ("seen_first_turn", "Turns to the first right file", "turns", Style.AVERAGE),
    ("seen_first_call", "Tool calls to the first right file", "calls", Style.AVERAGE),
    ("seen_first_seconds", "Time to the first right file", "seconds", Style.SECONDS),
    ("seen_first_tokens", "Tokens to the first right file", "tokens", Style.WHOLE),
)

SEEING_METRICS = (
    *(
        Metric(
            key=key,
            title=title,
            unit="0 to 1",
            style=Style.FRACTION,
            definition=f"{definition} The mean over tasks by their weight.",
            better=Better.HIGHER,
            read=read_score(key),
            relative=False,
            row=Row(table=SEEING, how=How.TASK_MEAN),
            keyed="files",
        )
        for key, title, definition in _SHARES
    ),
    *(
        Metric(
            key=key,
            title=title,
            unit=unit,
            style=style,
            definition="Until a tool call had shown a file of the key; the median. A trial in "
            f"which none did is counted as missing ({key}).",
            better=Better.LOWER,
            read=read_score(key),
            relative=False,
            row=Row(table=SEEING, how=How.MEDIAN),
            keyed="files",
        )
        for key, title, unit, style in _FIRST
    ),
    Metric(
        key="seen_not_named",
        title="Seen but left out",
        unit="files",
        style=Style.AVERAGE,
        definition="Files of the key that a tool call showed and the answer does not name: the "
        "mean over tasks (seen_not_named).",
        better=Better.LOWER,
        read=read_score("seen_not_named"),
        relative=False,
        row=Row(table=SEEING, how=How.TASK_MEAN),
        keyed="files",
    ),
)
