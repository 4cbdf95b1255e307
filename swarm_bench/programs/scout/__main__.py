"""The program `scout`: `python -I -m swarm_bench.programs.scout -p --max-turns 15 "…"`.

Exit codes: 0 answered or interrupted, 1 wrong command line or budget reached, 143 after SIGTERM,
141 when nobody reads the output.
"""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from swarm_bench.core.ports import ToolCall, ToolSpec
from swarm_bench.programs.rules import foreign
from swarm_bench.programs.scout.events import Printer
from swarm_bench.programs.scout.loop import Loop, RunTool, describe_program
from swarm_bench.programs.scout.options import MODELS, Options, parse
from swarm_bench.programs.scout.own_tools import SPECS, OwnTools

if TYPE_CHECKING:
    from swarm_bench.programs.scout.mcp_tools import McpTools

TERMINATED = 143
NOBODY_READS = 141


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
        loop = Loop(
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


def _init(options: Options, root: Path, loop: Loop, status: dict[str, str]) -> dict[str, object]:
    return {
        "type": "system",
        "subtype": "init",
        "cwd": str(root),
        "tools": [tool.name for tool in loop.tools],
        "mcp_servers": [{"name": name, "status": value} for name, value in status.items()],
        "model": options.model,
        "permissionMode": "default",
        "swarm_bench": describe_program(loop.model, loop.tools),
    }


def _is_disallowed(tool: str, names: frozenset[str]) -> bool:
    server = tool.split("__")[1] if tool.startswith("mcp__") else None
    return tool in names or f"mcp__{server}" in names


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(TERMINATED)


if __name__ == "__main__":
    main()
