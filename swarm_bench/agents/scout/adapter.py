"""The built-in agent: how its program is started, and how its output is read."""

import sys
from dataclasses import replace

from swarm_bench.agents.reading.program_input import start_timeout
from swarm_bench.agents.stream_json.stream import read_activity, read_outcome
from swarm_bench.core.entry_points import own_version
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Launch, Outcome
from swarm_bench.core.ports import Capabilities
from swarm_bench.core.session.experiment import REHEARSAL, Program

PROGRAM = "swarm_bench.programs.scout"
MODEL = "rules"
"""The only one that it has: fixed rules in the place of a model."""


class Scout:
    """A small agent loop of our own. Its default model `rules` is fixed rules and no model."""

    name = "scout"
    capabilities = Capabilities()

    def launch(self, request: AgentRequest) -> Launch:
        model = request.model or MODEL
        options = ["--output-format", "stream-json", "--verbose", "--strict-mcp-config"]
        options += ["--max-turns", str(request.max_turns), "--model", model]
        options += ["--mcp-config", str(request.mcp_config), "--seed", str(request.seed)]
        if request.instructions:
            options += [f"--instructions={request.instructions}"]
        options += request.arguments
        if request.inherit_settings:
            raise UsageError("scout has no settings to inherit; omit --inherit-settings")
        # -I: the working folder is not ours, and may hold a json.py or a swarm_bench of its own.
        return Launch(
            argv=(sys.executable, "-I", "-m", PROGRAM, "-p", *options, "--", request.prompt),
            env=start_timeout(request.start_seconds),
        )

    def activity(self, line: bytes) -> Activity | None:
        return read_activity(line)

    def outcome(self, exit: AgentExit) -> Outcome:
        outcome = read_outcome(exit, output_is_counted=True)
        # The price is of a table of ours, and marked as an estimate.
        return replace(outcome, program_version=own_version(), cost_unreliable=None)

    def program(self, model: str | None) -> Program:
        """Identify the program, which is our own. Raises `UsageError` for an unknown model."""
        if model == REHEARSAL:
            raise UsageError(
                "scout needs no rehearsal, since it asks no model; omit --model, or name a "
                "program with --agent, such as claude"
            )
        if model not in (None, MODEL):
            raise UsageError(
                f"There is no model of scout called {model!r}: it has fixed rules; omit --model, "
                "or name a program that has models with --agent, such as claude"
            )
        return Program(name=self.name, version=own_version(), model=MODEL)
