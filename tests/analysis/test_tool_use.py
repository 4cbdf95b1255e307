from collections.abc import Callable

from swarm_bench.core.report.report import Figure
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.reports import summarise

Trial = Callable[..., TrialRecord]
Session = Callable[..., SessionData]

FIND = "mcp__canopy__find"


def lines(data: SessionData) -> dict[tuple[str, ...], dict[str, Figure | None]]:
    """Figures by mode and tool, and by column."""
    found = summarise(data).tools
    assert found is not None
    keys = [metric.key for metric in found.metrics]
    return {line.labels: dict(zip(keys, line.figures, strict=True)) for line in found.lines}


def test_calls_are_medians_over_all_trials_that_show_them(trial: Trial, session: Session) -> None:
    found = lines(
        session(
            trial("canopy", agent=1, tool_calls={FIND: 4, "Grep": 1, "Read": 2}),
            trial("canopy", agent=2, tool_calls={FIND: 2}),
            trial("canopy", agent=3, tool_calls={}),
            trial("canopy", agent=4),
        )
    )
    assert found["canopy", FIND]["calls"] == Figure(value=2, missing=1)
    assert found["canopy", "built-in tools"]["calls"] == Figure(value=0, missing=1)


def test_time_per_call_is_over_the_calls_and_time_per_trial_over_trials(
    trial: Trial, session: Session
) -> None:
    found = lines(
        session(
            trial("canopy", agent=1, tool_calls={FIND: 3}, tool_seconds={FIND: 6.0}),
            trial("canopy", agent=2, tool_calls={FIND: 1}, tool_seconds={FIND: 4.0}),
            trial("canopy", agent=3, tool_calls={FIND: 1}, tool_seconds={}),
            trial("canopy", agent=4, tool_calls={"Read": 1}, tool_seconds={"Read": 1.0}),
        )
    )[("canopy", FIND)]
    assert found["seconds_per_call"] == Figure(value=2.5, missing=1)
    assert found["seconds"] == Figure(value=4.0, missing=1)


def test_failures_are_summed_and_tokens_are_medians(trial: Trial, session: Session) -> None:
    found = lines(
        session(
            trial(
                "canopy",
                agent=1,
                tool_calls={FIND: 3},
                tool_failures={FIND: 2},
                tool_result_tokens={FIND: 900},
            ),
            trial(
                "canopy",
                agent=2,
                tool_calls={FIND: 1},
                tool_failures={},
                tool_result_tokens={FIND: 100},
            ),
            trial("canopy", agent=3, tool_calls={FIND: 1}),
        )
    )[("canopy", FIND)]
    assert found["failed"] == Figure(value=2, missing=1)
    assert found["tokens"] == Figure(value=500, missing=1)


def test_modes_are_compared_in_their_use_of_the_agents_own_tools(
    trial: Trial, session: Session
) -> None:
    found = lines(
        session(
            trial(tool_calls={"Grep": 5, "Read": 3}),
            trial("canopy", tool_calls={FIND: 1, "Read": 1}),
        )
    )
    assert [*found] == [
        ("baseline", "built-in tools"),
        ("canopy", FIND),
        ("canopy", "built-in tools"),
    ]
    assert found["baseline", "built-in tools"]["calls"] == Figure(value=8)


def test_columns_that_nobody_fills_are_named(trial: Trial, session: Session) -> None:
    found = summarise(session(trial(tool_calls={"Grep": 5}))).tools
    assert found is not None
    assert [metric.key for metric in found.metrics] == ["calls"]
    assert "tokens" in [metric.key for metric in found.unknown]


def test_contaminated_trials_are_left_out(trial: Trial, session: Session) -> None:
    calls = {"Grep": 1, "mcp__notes__search": 1}
    touched = trial(agent=2, tool_calls=calls, retrieval="contaminated")
    found = lines(session(trial(tool_calls={"Grep": 5}), touched))
    assert found["baseline", "built-in tools"]["calls"] == Figure(value=5)


def test_without_calls_there_is_no_table(trial: Trial, session: Session) -> None:
    assert summarise(session(trial(), trial("canopy"))).tools is None
