"""Which tasks one arm missed and another found."""

from collections.abc import Callable

from swarm_bench.analysis.missed_tasks import describe_most_missed, find_missed, make_missed_section
from swarm_bench.core.report.document import Bullets
from swarm_bench.core.report.report import Missed
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import summarise

TITLES = {"a": "Login", "b": "Models", "c": "Orders"}


def test_who_found_nothing_of_what_another_found_missed_it() -> None:
    """In all of its runs; a task that it was not measured in is none."""
    figures: dict[str, dict[str, list[float]]] = {
        "mine": {"a": [0.0, 0.0], "b": [0.0, 0.5], "c": [0.0]},
        "grep": {"a": [0.0, 1.0], "b": [1.0], "c": [0.0]},
        "lost": {"a": [], "b": []},
    }
    (only,) = find_missed(figures, TITLES)
    assert (only.arm, only.finder, only.tasks) == ("mine", "grep", ("Login",))
    assert not [*find_missed({"mine": {"a": [0.0]}}, TITLES)]
    assert make_missed_section([]) is None
    assert describe_most_missed([], ()) == ()


def test_tasks_are_named_and_what_has_no_room_is_counted(golden: Sentences) -> None:
    titles = tuple(f"Task {number} {'x' * number}" for number in range(70))
    pairs = [
        Missed(arm=f"m{number}", finder="bm25", tasks=titles[number:], where="in sentences")
        for number in range(14)
    ]
    section = make_missed_section(pairs)
    assert section is not None
    (block,) = section.blocks
    assert isinstance(block, Bullets)
    assert (len(block.items), block.omitted) == (12, 2)
    assert "40 more" in str(block.items[0])
    assert "…" in str(
        make_missed_section([pairs[0].__class__(arm="m", finder="n", tasks=titles[-1:])])
    )
    golden(*(str(describe_most_missed(pairs, plain)) for plain in ((), ("m0",))))


def test_a_comparison_names_what_the_keys_tell_apart(
    trial: Callable[..., TrialRecord], session: Callable[..., SessionData]
) -> None:
    scores = {"baseline": (0.0, 1.0), "canopy": (1.0, 0.0)}
    trials = [
        trial(mode, agent=at, task_id=task, task=task, scores={"file_recall": recall})
        for mode, recalls in scores.items()
        for at, (task, recall) in enumerate(zip("ab", recalls, strict=True), 1)
    ]
    tasks = [
        {"id": task, "title": TITLES[task], "prompt": task, "key": {"files": [f"{task}.py"]}}
        for task in "ab"
    ]
    report = summarise(session(*trials, tasks=tasks, agents=2))
    assert [(it.arm, it.finder, it.tasks) for it in report.missed] == [
        ("canopy", "baseline", ("Models",)),
        ("baseline", "canopy", ("Login",)),
    ]
    assert summarise(session(*trials)).missed == ()
