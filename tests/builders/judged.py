"""Sessions with the answers of agents in their pages."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swarm_bench.app.stored.agents import render_trial_page
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.retrieval.modes.secrets import make_storable
from tests.builders.sessions import make_experiment, make_failed, make_trial


def make_session(path: Path, answers: Mapping[str, tuple[str | None, ...]]) -> SessionFolder:
    """A session of an agent for each answer; without one it failed."""
    folder = SessionFolder(path)
    folder.make()
    agents = len(next(iter(answers.values())))
    experiment = make_experiment(tuple(answers), agents=agents)
    folder.write_experiment(make_storable(experiment))
    for mode, texts in answers.items():
        for agent, text in enumerate(texts, start=1):
            add_trial(folder, experiment, mode, agent, text)
    return folder


def add_trial(
    folder: SessionFolder,
    experiment: Experiment,
    mode: str,
    agent: int,
    text: str | None,
    **changes: Any,
) -> None:
    task = experiment.tasks[(agent - 1) % 2]
    make = make_trial if text else failed
    record = make(
        mode,
        agent=agent,
        task=task.prompt,
        task_id=task.id,
        **({"trial": f"{mode}-{agent}"} | changes),
    )
    folder.records.append(record)
    artefacts = folder.artefacts(experiment)
    page = artefacts.make_mode_folder(1, mode) / f"agent-{agent}.md"
    page.write_text(render_trial_page(METRICS, record, text), "utf-8")


def failed(mode: str, **changes: Any) -> Any:
    return make_failed(mode, "timeout", "budget-reached", **changes)
