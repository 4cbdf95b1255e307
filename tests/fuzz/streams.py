"""What an agent program prints and leaves, up to its line among the records."""

from collections.abc import Callable, Mapping
from pathlib import Path

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.agents.codex.adapter import Codex
from swarm_bench.agents.command.adapter import Command
from swarm_bench.agents.gemini.adapter import Gemini
from swarm_bench.agents.opencode.adapter import OpenCode
from swarm_bench.agents.qwen.adapter import Qwen
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.benchmarks.swarm.running.agent_process import read_outcome
from swarm_bench.benchmarks.swarm.scorers import load_scorers
from swarm_bench.benchmarks.swarm.trial_records import make_record
from swarm_bench.core.outcome import AgentExit, Outcome
from swarm_bench.core.ports import Agent, ScoreContext
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.treatment.evidence import MOST_OUTSIDE
from swarm_bench.engine.caps import LONGEST_NAME, MOST_NAMES
from swarm_bench.engine.lines import add_checksum, is_intact
from swarm_bench.engine.scoring import score
from swarm_bench.retrieval.reach.outside import ForeignTools
from tests.builders.executions import execution
from tests.builders.reports import render_page
from tests.fuzz.exports import check_outcome
from tests.fuzz.parts import parts

ROOT = Path(__file__).parents[2]
AGENTS: Mapping[str, Callable[[], Agent]] = {
    "claude": Claude,
    "codex": Codex,
    "gemini": Gemini,
    "opencode": OpenCode,
    "qwen": Qwen,
    "command": lambda: Command(str(Path(__file__).with_name("agent.yaml"))),
}
LEFT = (".gemini/tmp/x/chats/session-1.jsonl", ".qwen/projects/x/chats/1.jsonl", "answer.json")
"""Where programs keep their conversations, below their home."""
REACH = ForeignTools(
    programs={"canopy-mcp": "canopy"},
    folders={".canopy": "canopy"},
    tools={"canopy_query": "canopy"},
    canopy="canopy-service",
)
_EXPERIMENT = ROOT / "tests" / "golden" / "session" / "experiment.json"


def reader(make: Callable[[], Agent]) -> Callable[[bytes, Path], None]:
    """Reads standard output, standard error and a file in the home, as one agent's."""

    def read(data: bytes, folder: Path) -> None:
        agent = make()
        stdout, stderr, left = parts(data, 3)
        (folder / "out").write_bytes(stdout)
        (folder / "err").write_bytes(stderr)
        for name in LEFT:
            (folder / "home" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "home" / name).write_bytes(left)
        for line in (*stdout.split(b"\n"), *stderr.split(b"\n")):
            agent.activity(line)
        end = AgentExit(
            returncode=len(data) % 2,
            stopped=None,
            stdout=folder / "out",
            stderr=folder / "err",
            home=folder / "home",
            servers=("canopy",),
            with_conversation=True,
        )
        outcome = read_outcome(agent, end)
        check(outcome)
        check_outcome(outcome)

    return read


def check(outcome: Outcome) -> None:
    """Its record is small, says what was cut, and comes back as it was written."""
    experiment = Experiment.from_json(_EXPERIMENT.read_bytes())
    trial = plan(experiment)[0].groups[0].trials[0]
    context = ScoreContext(
        text=outcome.text or "", workspace="/w", files=frozenset({"src/app.py", "Makefile"})
    )
    scored = score(load_scorers(), context, secrets=(), record=TrialRecord)
    assert scored.failures is None
    outside = REACH.find_uses(outcome)
    assert len(outside) <= MOST_OUTSIDE
    record = make_record(experiment, execution(trial, outcome, outside=outside), scored)
    line = add_checksum(record.model_dump_json())
    assert is_intact(line)
    assert TrialRecord.from_json(line) == record
    render_page(METRICS, record, outcome.text).encode()
    _check_names(outcome, record)


def _check_names(outcome: Outcome, record: TrialRecord) -> None:
    calls, kept = outcome.tool_calls or {}, record.tool_calls or {}
    assert sum(calls.values()) == sum(kept.values())
    assert len(kept) <= MOST_NAMES + 1
    assert all(len(name) <= LONGEST_NAME for name in kept)
    if any(name not in kept for name in calls):
        assert record.names_cut
