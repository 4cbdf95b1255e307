"""A fake agent program that plays a script, so that tests meet real processes that misbehave.

    python -I -m swarm_bench.testing.scripted_process --script FILE --mcp-config FILE \\
        --max-turns N [--draw WORD] -- PROMPT

The script is YAML, or JSON in a file that is called so, which is read faster: a list of plays. The
first one whose `when` holds is played, step by step; a step is a mapping of one action to its
argument. The output is in Claude Code's `stream-json`.

    - when: {prompt: "data models", servers: [canopy]}   # one of them, both, or no `when`
      steps:
        - init: {tools: [Read]}
        - call: {tool: Read, input: {file_path: a.py}, result: "text", error: false}
        - answer: {text: "See `a.py:1`.", turns: 3, cost: 0.01, usage: {input: 1, output: 2}}

`usage` has `input`, `cache_read`, `cache_create` and `output`; effective tokens are missing unless
all four stand there. `prompt` is a part of the prompt, `servers` the names in the MCP
configuration. `spread: 0.3` beside figures draws each of them log-normally about what stands there,
with that standard deviation of the logarithm; equal words of `--draw` draw equal figures. Exit code
2: the script is wrong; the message is on standard error.
"""

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Argument = Any
"""Whatever stands in the script; each action documents its own."""


class WrongScript(Exception):
    """An error in the script: it asks for something unknown."""


class Player:
    """A process's part: the steps of a script, played in the current folder."""

    def __init__(self, servers: list[str], max_turns: int, draw: str = "") -> None:
        self._draw = random.Random(draw)
        self._servers = servers
        self._max_turns = max_turns
        self._number = 0

    def play(self, steps: list[Mapping[str, Argument]]) -> None:
        """Run the steps in order. Raises `WrongScript` at an unknown one."""
        actions = self._actions()
        for step in steps:
            for name, argument in step.items():
                if name not in actions:
                    raise WrongScript(f"there is no action {name!r}; known: {', '.join(actions)}")
                actions[name](argument)

    def _actions(self) -> dict[str, Callable[[Argument], object]]:
        return {
            "init": self._init,
            "call": self._call,
            "answer": self._answer,
            "max_turns": self._reach_max_turns,
            "error": self._error,
            "environment": self._environment,
            "print": lambda text: _write(text.encode("utf-8") + b"\n"),
            "print_hex": lambda digits: _write(bytes.fromhex(digits)),
            "stderr": print_error,
            "flood": _flood,
            "sleep": time.sleep,
            "hang": lambda _: _hang(),
            "ignore_term": lambda _: signal.signal(signal.SIGTERM, signal.SIG_IGN),
            "spawn": _spawn,
            "write": _write_files,
            "delete": _delete_files,
            "run": lambda command: subprocess.run(command, check=False, capture_output=True),
            "signal": lambda name: os.kill(os.getpid(), signal.Signals[name]),
            "exit": sys.exit,
        }

    def _init(self, argument: Argument) -> None:
        """Print the first event. `tools`: names; `servers`: status by name, by default those of
        the configuration."""
        servers = argument.get("servers", dict.fromkeys(self._servers, "connected"))
        _event(
            type="system",
            subtype="init",
            tools=argument.get("tools", []),
            mcp_servers=[{"name": name, "status": status} for name, status in servers.items()],
            model=argument.get("model", "scripted"),
        )

    def _call(self, argument: Argument) -> None:
        """Print a request that calls a tool. `tool`, `input`, `result`, `error`, `seconds`, which
        are printed and not waited for."""
        self._number += 1
        call = {"type": "tool_use", "id": f"call_{self._number}", "name": argument["tool"]}
        self._assistant({**call, "input": argument.get("input", {})}, argument.get("usage"))
        result = {"type": "tool_result", "tool_use_id": f"call_{self._number}"}
        result |= {"content": argument.get("result", ""), "is_error": argument.get("error", False)}
        extras = {"swarm_bench": {"seconds": argument["seconds"]}} if "seconds" in argument else {}
        _event(type="user", message={"role": "user", "content": [result]}, **extras)

    def _assistant(self, block: Mapping[str, Any], usage: Argument) -> None:
        message = {"id": f"msg_{self._number}", "model": "scripted", "role": "assistant"}
        _event(type="assistant", message={**message, "content": [block], **_usage(usage)})

    def _answer(self, argument: Argument) -> None:
        """Print the answer. `text`, how often to `repeat` it, and what `_figures` reads."""
        text = argument["text"] * argument.get("repeat", 1)
        _event(subtype="success", is_error=False, result=text, **self._figures(argument))

    def _error(self, argument: Argument) -> None:
        """Print a failure. `text`, `subtype`, and what `_figures` reads."""
        subtype = argument.get("subtype", "success")
        _event(subtype=subtype, is_error=True, result=argument["text"], **self._figures(argument))

    def _reach_max_turns(self, argument: Argument) -> None:
        """Print what `_figures` reads, and end with exit code 1."""
        reason = f"Reached maximum number of turns ({self._max_turns})"
        figures = self._figures({"turns": self._max_turns, **argument})
        _event(subtype="error_max_turns", is_error=True, errors=[reason], **figures)
        sys.exit(1)

    def _figures(self, argument: Argument) -> dict[str, Any]:
        """Make the result event from `turns`, `cost`, `duration_ms`, `usage` and `spread`; what the
        script omits is not printed."""
        names = {"turns": "num_turns", "cost": "total_cost_usd", "duration_ms": "duration_ms"}
        figures = {key: argument[name] for name, key in names.items() if name in argument}
        usage = _usage(argument.get("usage"))
        if spread := argument.get("spread"):
            figures = {key: _draw(value, self._factor(spread)) for key, value in figures.items()}
            factor = self._factor(spread)  # the same for all tokens, so that their sum spreads too
            usage = {
                name: {key: _draw(value, factor) for key, value in tokens.items()}
                for name, tokens in usage.items()
            }
        return {"type": "result", **figures, **usage}

    def _factor(self, spread: float) -> float:
        return math.exp(self._draw.gauss(0, spread))

    def _environment(self, _: Argument) -> None:
        """Answer with all variables, each on a line `NAME=value`."""
        self._answer({"text": "\n".join(f"{key}={os.environ[key]}" for key in sorted(os.environ))})


def main() -> None:
    """Play the script that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--mcp-config", type=Path, required=True)
    parser.add_argument("--max-turns", type=int, required=True)
    parser.add_argument("--draw", default="")
    parser.add_argument("prompt")
    options = parser.parse_args()
    try:
        servers = list(json.loads(options.mcp_config.read_text("utf-8"))["mcpServers"])
        plays = _read(options.script)
        steps = _choose(plays, options.prompt, servers)
        Player(servers, options.max_turns, options.draw).play(steps)
    except (WrongScript, OSError, ValueError, LookupError, TypeError) as error:
        print_error(f"{options.script}: {type(error).__name__}: {error}")
        sys.exit(2)


def _read(script: Path) -> Argument:
    """Read the plays. Raises `WrongScript` for a text that is no YAML."""
    text = script.read_text("utf-8")
    if script.suffix == ".json":
        return json.loads(text)
    import yaml  # takes as long as Python itself

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise WrongScript(str(error)) from error


def print_error(text: str) -> None:
    """Write a line on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _choose(
    plays: list[Mapping[str, Any]], prompt: str, servers: list[str]
) -> list[Mapping[str, Argument]]:
    for play in plays:
        when = play.get("when", {})
        if unknown := set(when) - {"prompt", "servers"}:
            raise WrongScript(f"`when` does not know {sorted(unknown)}")
        if when.get("prompt", "") not in prompt:
            continue
        if "servers" not in when or when["servers"] == servers:
            steps: list[Mapping[str, Argument]] = play["steps"]
            return steps
    raise WrongScript("no play fits this prompt and configuration")


def _usage(figures: Argument) -> dict[str, Any]:
    names = {
        "input": "input_tokens",
        "cache_read": "cache_read_input_tokens",
        "cache_create": "cache_creation_input_tokens",
        "output": "output_tokens",
    }
    if figures is None:
        return {}
    return {"usage": {key: figures[name] for name, key in names.items() if name in figures}}


def _draw(value: float, factor: float) -> float:
    """Scale a figure; whole numbers stay whole."""
    return round(value * factor) if isinstance(value, int) else value * factor


def _event(**event: Any) -> None:
    _write(json.dumps(event).encode() + b"\n")


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _flood(megabytes: int) -> None:
    for _ in range(megabytes):
        _write((b"x" * 1023 + b"\n") * 1024)


def _hang() -> None:
    while True:
        time.sleep(60)


def _spawn(seconds: float) -> None:
    """Start a child in a session of its own: it outlives this process and keeps its output open."""
    code = f"import time; time.sleep({float(seconds)})"
    subprocess.Popen([sys.executable, "-I", "-c", code], start_new_session=True)


def _write_files(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def _delete_files(names: list[str]) -> None:
    for name in names:
        Path(name).unlink()


if __name__ == "__main__":
    main()
