"""An agent for tests that plays a script: `--agent swarm_bench.agents.scripted:Scripted --model
FILE`. What it can play is written in `swarm_bench.testing.scripted_process`.
"""

import sys
from pathlib import Path

from swarm_bench.agents.stream_json.stream import read_activity, read_outcome
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Capabilities
from swarm_bench.core.session.experiment import Program

PROGRAM = "swarm_bench.testing.scripted_process"


class Scripted:
    """A process that follows a script, good or bad. Its model is the script's path."""

    name = "scripted"
    capabilities = Capabilities(reports_usage=False)
    """Its script is for tasks: an empty prompt would play it once more."""

    def launch(self, request: AgentRequest) -> Launch:
        options = ["--script", str(Path(request.model or "").resolve())]
        options += ["--mcp-config", str(request.mcp_config)]
        options += ["--max-turns", str(request.max_turns)]
        options += ["--draw", f"{request.seed}/{request.trial}"]
        return Launch(argv=(sys.executable, "-I", "-m", PROGRAM, *options, "--", request.prompt))

    def activity(self, line: bytes) -> Activity | None:
        return read_activity(line)

    def outcome(self, exit: AgentExit) -> Outcome:
        return read_outcome(exit, output_is_counted=True)

    def program(self, model: str | None) -> Program:
        """Identify the program, which is our own. Raises `UsageError` when the script does not
        exist."""
        if model is None or not Path(model).is_file():
            raise UsageError(f"There is no script {model!r}; give its path with --model")
        return Program(name=self.name)
