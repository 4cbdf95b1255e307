"""Agent programs that are asked in the place of models: what can be refused before they start."""

from collections.abc import Mapping, Sequence

from swarm_bench.app.models.arms import source_of
from swarm_bench.app.setup.agents import trial_launch
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.setup.credentials import authentication
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.config.settings import Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.ports import Described
from swarm_bench.core.roles.language_model import Around, ModelSource
from swarm_bench.core.session.experiment import REHEARSAL, Mode
from swarm_bench.core.session.models import Arm


def sources_of(arms: Sequence[Arm], request: CaseRequest) -> dict[str, ModelSource]:
    """Return who is asked, by the word of a model. Raises `UsageError`, also for turns that nobody
    takes."""
    sources = {arm.model: source_of(arm.model) for arm in arms}
    if request.is_typed("max_turns") and not asks_agents(sources):
        raise UsageError("--max-turns: no agent program is asked (agent:NAME); omit it")
    return sources


def asks_agents(sources: Mapping[str, ModelSource]) -> bool:
    """Tell whether one of them is an agent program."""
    return any(isinstance(source, AgentSource) for source in sources.values())


def check_agents(sources: Mapping[str, ModelSource], around: Around) -> None:
    """Refuse what an adapter refuses, and a program without a key that it cannot do without. Raises
    `UsageError`."""
    for word, source in sources.items():
        if isinstance(source, AgentSource):
            _check(word, source, around)


def _check(word: str, source: AgentSource, around: Around) -> None:
    agent, model = source.agent, source.model
    settings = Settings(agent=source.spec, model=model, max_turns=around.max_turns)
    trial_launch(agent, Mode(name="none", source=""), settings, around.variables)
    if model == REHEARSAL or not isinstance(agent, Described):
        return
    abilities = agent.abilities
    if not abilities.keys or abilities.keyless:
        return
    if authentication(abilities, settings, around.variables) is None:
        raise UsageError(
            f"{word} has no key for its provider; set {' or '.join(abilities.keys[:2])}, or "
            f"rehearse with agent:{source.spec}:{REHEARSAL}"
        )
