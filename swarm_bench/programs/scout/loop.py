"""The agent loop: ask the model, run the tools it calls, until it answers or the budget is used."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from swarm_bench.core.ports import Message, Model, ToolCall, ToolResult, ToolSpec
from swarm_bench.models import prices
from swarm_bench.programs.rules import foreign
from swarm_bench.programs.scout import events
from swarm_bench.programs.scout.events import Event, Printer
from swarm_bench.programs.scout.workspace_files import Refused
from swarm_bench.text import tokens

RunTool = Callable[[ToolCall], str]
"""Runs a tool and gives its text; raises `Refused` when it cannot."""


def describe_program(model: Model, tools: Sequence[ToolSpec]) -> Event:
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
class Loop:
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
            "swarm_bench": describe_program(self.model, self.tools),
        }
        return figures


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
