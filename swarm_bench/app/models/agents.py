"""Agent programs that are asked in the place of models: what can be refused before they start."""

from collections.abc import Mapping, Sequence

from swarm_bench.app.models.arms import create_source
from swarm_bench.app.setup.agents import build_trial_launch
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.setup.credentials import find_authentication
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.config.settings import Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.ports import Described
from swarm_bench.core.roles.language_model import Around, ModelSource
from swarm_bench.core.session.experiment import REHEARSAL, Mode
from swarm_bench.core.session.models import Arm


def find_sources(arms: Sequence[Arm], request: CaseRequest) -> dict[str, ModelSource]:
    """Return who is asked, by the word of a model. Raises `UsageError`, also for turns that nobody
    takes."""
    sources = {arm.model: create_source(arm.model) for arm in arms}
    if request.is_typed("max_turns") and not asks_agents(sources):
        raise UsageError("--max-turns: no agent program is asked (agent:NAME); omit it")
    return sources


def asks_agents(sources: Mapping[str, ModelSource]) -> bool:
    """Tell whether one of them is an agent program."""
    return any(isinstance(source, AgentSource) for source in sources.values())


def check_agents(sources: Mapping[str, ModelSource], context: Around) -> None:
    """Refuse what an adapter refuses, and a program without a key that it cannot do without. Raises
    `UsageError`."""
    for word, source in sources.items():
        if isinstance(source, AgentSource):
            _check(word, source, context)


def _check(word: str, source: AgentSource, context: Around) -> None:
    agent, model = source.agent, source.model
    settings = Settings(agent=source.spec, model=model, max_turns=context.max_turns)
    build_trial_launch(agent, Mode(name="none", source=""), settings, context.variables)
    if model == REHEARSAL or not isinstance(agent, Described):
        return
    abilities = agent.abilities
    if not abilities.keys or abilities.keyless:
        return
    if find_authentication(abilities, settings, context.variables) is None:
        raise UsageError(
            f"{word} has no key for its provider; set {' or '.join(abilities.keys[:2])}, or "
            f"rehearse with agent:{source.spec}:{REHEARSAL}"
        )
