"""What is advised next."""

import pytest

from swarm_bench.analysis.documents.opening import Opening, make_brief
from swarm_bench.analysis.sentences.next_steps import (
    GAVE_ALL,
    advise_keys,
    advise_new_tasks,
    advise_tasks,
)
from swarm_bench.core.report.document import Answer, Answers, Paragraph, Span, Step
from tests.builders.golden import Sentences
from tests.builders.sessions import make_experiment

FROM_FILE = "swarm-bench tasks make --kind all --count 90 --seed 0"


@pytest.mark.parametrize(
    ("made", "command"),
    [
        ("", "swarm-bench tasks make --count 60"),
        ("from the repository, seed 0: 36 changes", "swarm-bench tasks make --count 60"),
        (f"{GAVE_ALL} 2 of 36", "swarm-bench tasks make --count 60 --per-file 3"),
        (FROM_FILE, "swarm-bench tasks make --count 60 --per-file 3"),
        (f"{FROM_FILE} --per-file 3", "swarm-bench docs tasks"),
        (FROM_FILE.replace("90", "2"), "swarm-bench tasks make --count 60"),
    ],
)
def test_a_repository_that_gave_all_it_has_is_not_asked_for_more_of_the_same(
    made: str, command: str
) -> None:
    assert advise_tasks(60, make_experiment(("baseline",), made=made)).command == command


@pytest.mark.parametrize(
    ("tasks", "output"),
    [
        ("tasks/my shop.yaml", " --output 'tasks/my shop-60.yaml'"),
        ("/srv/mine.yml", " --output tasks/mine-60.yml"),
        ("suite-by-name", ""),
    ],
)
def test_the_tasks_of_the_session_are_not_replaced(tasks: str, output: str) -> None:
    typed = {"tasks": {"value": tasks, "source": "command line"}}
    step = advise_tasks(60, make_experiment(("baseline",), settings=typed))
    assert step.command == f"swarm-bench tasks make --count 60{output}"


def test_of_steps_for_more_cases_the_largest_is_shown() -> None:
    steps = [Step("a --count 60", "", 60), Step("b", ""), Step("a --count 90", "", 90)]
    items = tuple(Answer(subject="m", claim=" helps", next=step) for step in steps)
    opening = Opening(title="", headline=(Answers(items=items),), warnings=())
    *_, last = make_brief(opening)
    assert isinstance(last, Paragraph)
    texts = [it.text for line in last.lines for it in line if isinstance(it, Span)]
    assert texts == ["b", "a --count 90"]


def test_a_repository_that_was_typed_is_named_again() -> None:
    typed = {"repo": {"value": "/srv/my shop", "source": "command line"}}
    experiment = make_experiment(("baseline",), settings=typed)
    assert advise_keys(experiment).command == "swarm-bench tasks make --repo '/srv/my shop'"


def test_a_task_file_that_was_typed_is_not_replaced(golden: Sentences) -> None:
    file = {"tasks": {"value": "./tasks/mine.yaml", "source": "command line"}}
    step = advise_tasks(60, make_experiment(("baseline",), settings=file))
    assert step.command == "swarm-bench tasks make --count 60 --output tasks/mine-60.yaml"
    golden("".join(it if isinstance(it, str) else it.text for it in step.line))


def test_a_plain_folder_is_asked_for_no_tasks_that_are_made_from_commits() -> None:
    typed = {
        "repo": {"value": "/srv/folder", "source": "command line"},
        "tasks": {"value": "mine.yaml", "source": "command line"},
    }
    git = make_experiment(("baseline",), settings=typed)
    repository = git.repository.model_copy(update={"kind": "folder", "commit": None})
    plain = git.model_copy(update={"repository": repository})
    for step in (
        advise_keys(plain),
        advise_tasks(60, plain),
        advise_new_tasks(plain, "again with tasks that can tell"),
    ):
        assert step.command == "swarm-bench docs tasks"
    assert (advise_tasks(60, plain).cases, advise_tasks(60, git).cases) == (60, 60)
    assert "60" in advise_tasks(60, plain).aim
    assert advise_keys(git).command.startswith("swarm-bench tasks make")
