"""The program `scout`: `python -I -m swarm_bench.programs.scout -p --max-turns 15 "…"`.

Exit codes: 0 answered or interrupted, 1 wrong command line or budget reached, 143 after SIGTERM,
141 when nobody reads the output.
"""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from swarm_bench.core.ports import Message, Model, ToolCall, ToolResult, ToolSpec
from swarm_bench.models import prices
from swarm_bench.programs.rules import foreign
from swarm_bench.programs.scout import events
from swarm_bench.programs.scout.events import Event, Printer
from swarm_bench.programs.scout.options import MODELS, Options, parse
from swarm_bench.programs.scout.own_tools import SPECS, OwnTools
from swarm_bench.programs.scout.workspace_files import Refused
from swarm_bench.text import tokens

RunTool = Callable[[ToolCall], str]
"""Runs a tool and gives its text; raises `Refused` when it cannot."""
TERMINATED = 143
NOBODY_READS = 141


if TYPE_CHECKING:
    from swarm_bench.programs.scout.mcp_tools import McpTools


def main() -> None:
    """Run one task in the current folder and exit."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        sys.exit(run(parse(sys.argv[1:]), Path.cwd()))
    except BrokenPipeError:
        # Python flushes standard output once more at its end, and would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(NOBODY_READS)
    except KeyboardInterrupt:
        sys.exit(130)


def run(options: Options, root: Path) -> int:
    """Connect the servers, print the first event, work on the task. Return the exit code."""
    with ExitStack() as stack:
        mcp = _connect(options, stack)
        specs = _list_tools(options, mcp)
        loop = _Loop(
            model=MODELS[options.model](options.instructions),
            tools=specs,
            run_tool=_make_runner(OwnTools(root), mcp),
            printer=Printer(options),
            max_turns=options.max_turns,
        )
        try:
            loop.printer.print_event(_init(options, root, loop, mcp.status if mcp else {}))
            return loop.run(_write_prompt(options, root, specs))
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            return loop.interrupt()


def _connect(options: Options, stack: ExitStack) -> "McpTools | None":
    """Connect the servers until `stack` closes; report on standard error what did not connect."""
    if not options.servers:
        return None
    # Half a second of imports that an agent without servers does not pay, and a fifth more if the
    # garbage collector looks through all that they make again and again.
    gc.disable()
    from swarm_bench.programs.scout.mcp_tools import McpTools

    gc.freeze()
    gc.enable()
    mcp = stack.enter_context(McpTools(options.servers))
    for problem in mcp.problems:
        sys.stderr.write(problem + "\n")
    return mcp


def _write_prompt(options: Options, root: Path, tools: Sequence[ToolSpec]) -> str:
    """Add the folder of the files where there are servers that must be told; canopy knows it."""
    if not foreign.list_tools(tools):
        return options.prompt
    return foreign.add_workspace(options.prompt, str(root))


def _list_tools(options: Options, mcp: "McpTools | None") -> list[ToolSpec]:
    own_tools = [tool for tool in SPECS if options.tools is None or tool.name in options.tools]
    tools = own_tools + (mcp.specs if mcp else [])
    return [tool for tool in tools if not _is_disallowed(tool.name, options.disallowed)]


def _make_runner(own_tools: OwnTools, mcp: "McpTools | None") -> RunTool:
    def run_tool(call: ToolCall) -> str:
        if mcp and call.name.startswith("mcp__"):
            return mcp.call(call.name, call.arguments)
        return own_tools.call(call.name, call.arguments)

    return run_tool


def _init(options: Options, root: Path, loop: "_Loop", status: dict[str, str]) -> dict[str, object]:
    return {
        "type": "system",
        "subtype": "init",
        "cwd": str(root),
        "tools": [tool.name for tool in loop.tools],
        "mcp_servers": [{"name": name, "status": value} for name, value in status.items()],
        "model": options.model,
        "permissionMode": "default",
        "swarm_bench": _describe_program(loop.model, loop.tools),
    }


def _is_disallowed(tool: str, names: frozenset[str]) -> bool:
    server = tool.split("__")[1] if tool.startswith("mcp__") else None
    return tool in names or f"mcp__{server}" in names


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(TERMINATED)


def _describe_program(model: Model, tools: Sequence[ToolSpec]) -> Event:
    """Describe the figures that scout gives, for the record, and name the tools that it cannot
    use."""
    unusable = foreign.describe_unusable(tools)
    return {
        "token_counter": tokens.COUNTER,
        "price_table": prices.TABLE,
        "cost_estimated": True,
        "fixed_rules": model.fixed_rules,
        **({} if unusable is None else {"unusable_tools": unusable}),
    }


@dataclass
class _Loop:
    """One task. A turn is one request to the model."""

    model: Model
    tools: Sequence[ToolSpec]
    run_tool: RunTool
    printer: Printer
    max_turns: int | None
    turns: int = 0
    _started: float = field(default_factory=time.monotonic)
    _model_seconds: float = 0.0
    _meter: tokens.Meter = field(default_factory=tokens.Meter)
    _phase: str = "aborted_streaming"

    def run(self, prompt: str) -> int:
        """Work on the task and print everything but the first event. Return the exit code."""
        messages = [Message(role="user", text=prompt)]
        while self.max_turns is None or self.turns < self.max_turns:
            reply = self._ask(messages)
            if not reply.calls:
                self.printer.print_result(self._build_answer(reply.text))
                return 0
            self._phase = "aborted_tools"
            used = [self._time_use(call) for call in reply.calls]
            results = tuple(result for result, _, _ in used)
            messages += [reply, Message(role="user", results=results)]
            for block, (_, seconds, end) in zip(
                tokens.build_content(messages[-1]), used, strict=True
            ):
                self.printer.print_event(events.user_event(block, seconds, end))
            self._phase = "aborted_streaming"
        reason = f"Reached maximum number of turns ({self.max_turns})"
        self.printer.print_result(self._build_failure("error_max_turns", "max_turns", reason))
        return 1

    def interrupt(self) -> int:
        """Print the figures so far after SIGINT. Exit code 0, as Claude Code has it."""
        reason = "Interrupted"
        self.printer.print_result(
            self._build_failure("error_during_execution", self._phase, reason)
        )
        return 0

    def _ask(self, messages: Sequence[Message]) -> Message:
        begin = time.monotonic()
        reply = self.model.complete(messages, self.tools)
        self._model_seconds += time.monotonic() - begin
        self.turns += 1
        usage = self._meter.request(messages, self.tools, reply)
        for block in tokens.build_content(reply):
            self.printer.print_event(
                events.assistant_event(self.turns, self.model.name, block, usage)
            )
        return reply

    def _time_use(self, call: ToolCall) -> tuple[ToolResult, float, datetime]:
        begin = time.monotonic()
        result = self._use(call)
        return result, time.monotonic() - begin, datetime.now(UTC)

    def _use(self, call: ToolCall) -> ToolResult:
        if call.name not in {tool.name for tool in self.tools}:
            return ToolResult(id=call.id, text=f"No such tool: {call.name}", is_error=True)
        try:
            return ToolResult(id=call.id, text=self.run_tool(call))
        except Refused as error:
            return ToolResult(id=call.id, text=str(error), is_error=True)

    def _build_answer(self, text: str) -> Event:
        figures = self._collect_figures("success", is_error=False)
        end = {"stop_reason": "end_turn", "terminal_reason": "completed"}
        return {**figures, "api_error_status": None, "result": text, **end}

    def _build_failure(self, subtype: str, terminal: str, reason: str) -> Event:
        figures = self._collect_figures(subtype, is_error=True)
        end = {"stop_reason": "tool_use" if self.turns else None, "terminal_reason": terminal}
        return {**figures, **end, "errors": [reason]}

    def _collect_figures(self, subtype: str, *, is_error: bool) -> Event:
        total = self._meter.total
        price = prices.price(self.model.name)
        cost = price.compute_cost(total) if price else None
        figures: dict[str, Any] = {
            "type": "result",
            "subtype": subtype,
            "is_error": is_error,
            "duration_ms": _milliseconds(time.monotonic() - self._started),
            "duration_api_ms": _milliseconds(self._model_seconds),
            "num_turns": self.turns,
            "total_cost_usd": cost,
            "usage": events.usage_event(total),
            "modelUsage": events.model_usage(self.model.name, total, cost),
            "permission_denials": [],
            "swarm_bench": _describe_program(self.model, self.tools),
        }
        return figures


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


if __name__ == "__main__":
    main()
