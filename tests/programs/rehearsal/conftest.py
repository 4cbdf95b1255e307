"""Agent programs in miniature: each has the tools of a real one, does what a call asks for on real
files, and words the result as the real program words it. Scout's own tools do the searching."""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.programs.rehearsal.apis.api import AgentRequest
from swarm_bench.programs.rehearsal.thinking.history import Memory
from swarm_bench.programs.rehearsal.thinking.policy import think
from swarm_bench.programs.rules.model import Rules
from swarm_bench.programs.scout.own_tools import SPECS, OwnTools

HANDLE = "h0123456789abcdef01234567"
TASK = "How does authentication work in this code base? Name the functions that check a credential."


@dataclass
class Program:
    """One agent program on one workspace."""

    name: str
    root: Path
    tools: tuple[ToolSpec, ...]
    opening: tuple[Message, ...]
    system: str = ""
    broken: frozenset[str] = frozenset()
    """Tools that fail at everything."""

    def play(self, memory: Memory | None = None) -> tuple[str, list[ToolCall]]:
        """The answer, and every call in the program's own terms."""
        memory = memory or Memory()
        messages, calls = list(self.opening), list[ToolCall]()
        for _ in range(12):
            message = think(self.asked(messages), memory)
            messages.append(message)
            if not message.calls:
                return message.text, calls
            calls += message.calls
            results = tuple(self.result(call) for call in message.calls)
            messages.append(Message(role="user", results=results))
        raise AssertionError("no answer after 12 turns")

    def asked(self, messages: list[Message]) -> AgentRequest:
        parts = [json.dumps([tool.description for tool in self.tools])]
        parts += [json.dumps(self.system)]
        parts += [json.dumps({"role": message.role, "text": message.text}) for message in messages]
        return AgentRequest(
            model="m", stream=True, messages=tuple(messages), tools=self.tools, parts=tuple(parts)
        )

    def result(self, call: ToolCall) -> ToolResult:
        if call.name in self.broken:
            return ToolResult(id=call.id, text="ripgrep execution failed")
        known = next(tool for tool in self.tools if tool.name == call.name)
        missing = set(known.schema["required"]) - set(call.arguments)
        unknown = set(call.arguments) - set(known.schema["properties"])
        assert not missing, f"{call.name} needs {missing}"
        assert not unknown, f"{call.name} has no {unknown}"
        text = _WORDINGS[self.name](self, call.name, call.arguments)
        return ToolResult(id=call.id, text=text)

    def hits(self, arguments: Mapping[str, Any]) -> list[tuple[str, int, str]]:
        """Every match below the folder that fits the file pattern, as path, line and text."""
        folder = arguments.get("path") or arguments.get("dir_path") or "."
        given = {"pattern": arguments["pattern"], "path": folder, "head_limit": 9999}
        names = next((arguments[k] for k in _INCLUDES if k in arguments), None)
        more = {"glob": f"**/{names}"} if names else {}
        text = OwnTools(self.root).call("Grep", {**given, **more, "output_mode": "content"})
        lines = [] if text == "No matches found" else text.split("\n")
        split = [line.split(":", 2) for line in lines]
        return [(path, int(number), line) for path, number, line in split]

    def globbed(self, pattern: str) -> list[str]:
        text = OwnTools(self.root).call("Glob", {"pattern": pattern})
        found = [] if text == "No files found" else text.split("\n")
        return [f"{self.root}/{path}" for path in found]

    def lines(self, path: str) -> list[str]:
        """As the programs count them: one more behind the last line break."""
        assert Path(path).is_absolute() or self.name == "gemini"
        return (self.root / path).read_text("utf-8").split("\n")

    def shell(self, line: str) -> tuple[str, int]:
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.root, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr, done.returncode


_INCLUDES = ("glob", "include", "include_pattern")


def _claude(program: Program, tool: str, arguments: Mapping[str, Any]) -> str:
    match tool:
        case _ if tool.startswith("mcp__"):
            return _canopy(tool)
        case "Bash":
            reminder = "\n\n<system-reminder>\n<total_tokens>9 tokens left</total_tokens>\n"
            said = program.shell(arguments["command"])[0].rstrip()
            return (said or "(Bash completed with no output)") + reminder + "</system-reminder>"
        case "Grep":
            return _claude_grep(program, arguments)
        case "Glob":
            found = program.globbed(arguments["pattern"])
            return "\n".join(path.removeprefix(f"{program.root}/") for path in found) or (
                "No files found"
            )
    first = arguments["offset"]
    window = program.lines(arguments["file_path"])[first - 1 :][: arguments["limit"]]
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(window, start=first))


def _claude_grep(program: Program, arguments: Mapping[str, Any]) -> str:
    hits = program.hits(arguments)
    if not hits:
        return "No matches found"
    if arguments["output_mode"] == "content":
        lines = [f"{path}:{number}:{text}" for path, number, text in hits]
        cut = f"\n\n[Showing results with pagination = limit: {arguments['head_limit']}]"
        return "\n".join(lines[: arguments["head_limit"]]) + cut
    files = {path: sum(1 for hit in hits if hit[0] == path) for path, _, _ in hits}
    total = f"\n\nFound {len(hits)} total occurrences across {len(files)} files."
    return "\n".join(f"{path}:{count}" for path, count in files.items()) + total


def _codex(program: Program, tool: str, arguments: Mapping[str, Any]) -> str:
    if tool.startswith("mcp__"):
        return f"Wall time: 0.2604 seconds\nOutput:\n{_canopy(tool)}"
    said, code = program.shell(arguments["cmd"])
    return (
        f"Chunk ID: 33173d\nWall time: 0.0000 seconds\nProcess exited with code {code}\n"
        f"Original token count: 40\nOutput:\n{said}"
    )


def _gemini(program: Program, tool: str, arguments: Mapping[str, Any]) -> str:
    match tool:
        case "run_shell_command":
            said, code = program.shell(arguments["command"])
            ended = f"\nExit Code: {code}" if code else ""
            said = f"Output: {said.strip() or '(empty)'}{ended}\nProcess Group PGID: 7805"
            return f"<untrusted_context>\n{said}\n</untrusted_context>"
        case "grep_search":
            return _by_file(program, arguments, strip=False)
        case "glob":
            found = program.globbed(arguments["pattern"])
            head = f"Found {len(found)} file(s) matching in {program.root}, newest first:\n"
            return head + "\n".join(found) if found else "No files found matching pattern"
        case "read_file":
            return _gemini_read(program, arguments)
    return f"<untrusted_context>\n{_canopy(tool)}\n</untrusted_context>"


def _gemini_read(program: Program, arguments: Mapping[str, Any]) -> str:
    lines = program.lines(arguments["file_path"])
    first, last = arguments["start_line"], min(arguments["end_line"], len(lines))
    shown = "\n".join(lines[first - 1 : last])
    if first == 1 and last == len(lines):
        return shown
    return (
        "\nIMPORTANT: The file content has been truncated.\n"
        f"Status: Showing lines {first}-{last} of {len(lines)} total lines.\n"
        "Action: To read more of the file, you can use the 'start_line' parameter.\n\n"
        f"--- FILE CONTENT (truncated) ---\n{shown}"
    )


def _opencode(program: Program, tool: str, arguments: Mapping[str, Any]) -> str:
    match tool:
        case "bash":
            return program.shell(arguments["command"])[0] or "(no output)"
        case "grep":
            hits = program.hits(arguments)
            said = [f"Found {len(hits)} matches"] if hits else ["No files found"]
            for path in dict.fromkeys(path for path, _, _ in hits):
                said.append(f"{program.root}/{path}:")
                said += [f"  Line {number}: {text}\n" for at, number, text in hits if at == path]
            return "\n".join(said)
        case "glob":
            return "\n".join(program.globbed(arguments["pattern"])) or "No files found"
        case "read":
            path, first = arguments["filePath"], arguments["offset"]
            window = program.lines(path)[first - 1 :][: arguments["limit"]]
            shown = "\n".join(f"{at}: {line}" for at, line in enumerate(window, start=first))
            head = f"<path>{path}</path>\n<type>file</type>\n<content>\n"
            return f"{head}{shown}\n\n(End of file)\n</content>"
    return _canopy(tool)


def _qwen(program: Program, tool: str, arguments: Mapping[str, Any]) -> str:
    match tool:
        case "run_shell_command":
            said, code = program.shell(arguments["command"])
            return (
                f"Command: {arguments['command']}\nDirectory: (root)\nOutput: {said.strip()}\n"
                f"Error: (none)\nExit Code: {code}\nSignal: (none)\nProcess Group PGID: (none)"
            )
        case "grep_search":
            return _by_file(program, arguments, strip=True)
        case "glob":
            found = program.globbed(arguments["pattern"])
            head = f"Found {len(found)} file(s) matching in the workspace directory:\n---\n"
            return head + "\n".join(found) if found else "No files found matching pattern"
        case "read_file":
            return _qwen_read(program, arguments)
        case "tool_search":
            return "<functions>\n<function>{}</function>\n</functions>"
    return _canopy(arguments["name"])


def _qwen_read(program: Program, arguments: Mapping[str, Any]) -> str:
    lines = program.lines(arguments["file_path"])
    first = arguments["offset"]
    shown = "\n".join(lines[first:][: arguments["limit"]])
    if first == 0 and arguments["limit"] >= len(lines):
        return shown
    last = min(first + arguments["limit"], len(lines))
    return f"Showing lines {first + 1}-{last} of {len(lines)} total lines.\n\n---\n\n{shown}"


def _by_file(program: Program, arguments: Mapping[str, Any], *, strip: bool) -> str:
    hits = program.hits(arguments)
    folder = arguments.get("path") or arguments.get("dir_path")
    if not hits:
        return f'No matches found for pattern "{arguments["pattern"]}" in the workspace directory.'
    said = [f"Found {len(hits)} matches for the pattern:\n---"]
    for path in dict.fromkeys(path for path, _, _ in hits):
        said.append(f"File: {path.removeprefix(f'{folder}/')}")
        lines = [(number, text) for at, number, text in hits if at == path]
        said += [f"L{number}: {text.strip() if strip else text}" for number, text in lines]
        said.append("---")
    return "\n".join(said)


def _canopy(tool: str) -> str:
    if tool.endswith("expand"):
        return f"// {HANDLE}\n" + "func Authorize(token *Token, action string) bool {\n"
    handle = {"id": HANDLE, "file_path": "auth.go", "line_range": [16, 18]}
    return json.dumps({"handles": [handle], "expand_suggestion": [HANDLE], "guidance": {}})


_WORDINGS: dict[str, Callable[[Program, str, Mapping[str, Any]], str]] = {
    "claude": _claude,
    "claude-search": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "qwen": _qwen,
}

_HIDDEN = "- mcp__canopy__canopy_evidence_pack\n- mcp__canopy__canopy_expand\n"


def program(name: str, root: Path, prompt: str = TASK, *, canopy: bool = False) -> Program:
    """A program with a prompt; `canopy` says whether it has the tools of an MCP server."""
    here = Path(__file__).parent
    given = json.loads((here / "tools" / f"{name}.json").read_text("utf-8"))
    specs = [ToolSpec(**tool) for tool in given if canopy or "canopy" not in tool["name"]]
    hidden = _HIDDEN if canopy else ""
    texts = json.loads((here / "openings.json").read_text("utf-8"))[name.partition("-")[0]]
    opening = [text.format(root=root, prompt=prompt, hidden=hidden) for text in texts]
    return Program(
        name=name,
        root=root,
        tools=tuple(specs),
        opening=tuple(Message(role="user", text=text) for text in opening),
        system=f"<env>\n  Working directory: {root}\n</env>" if name == "opencode" else "",
    )


def by_scout(root: Path, prompt: str) -> str:
    """What scout answers with the same rules."""
    tools, messages = OwnTools(root), [Message(role="user", text=prompt)]
    while (message := Rules().complete(messages, SPECS)).calls:
        results = [ToolResult(id=c.id, text=tools.call(c.name, c.arguments)) for c in message.calls]
        messages += [message, Message(role="user", results=tuple(results))]
    return message.text


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small code base."""
    return Path(shutil.copytree(Path(__file__).with_name("shop"), tmp_path / "shop"))


@pytest.fixture
def start() -> Callable[..., Program]:
    return program


@pytest.fixture
def scouts_answer(shop: Path) -> str:
    return by_scout(shop, TASK)
