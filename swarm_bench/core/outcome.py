"""What goes into an agent and what comes out of it."""

import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from swarm_bench.core.figures import Amount, Count, Meaning, total
from swarm_bench.core.status import Cause

StopReason = Literal["timeout", "output-limit", "turn-limit", "answered"]
"""`answered`: the run was over, and the program did not end."""
START_SECONDS = 30.0
"""The limit that Claude Code has for a server's start."""
BYTES_AS_BASE64: Any = {"ser_json_bytes": "base64", "val_json_bytes": "base64"}
"""Configuration of pydantic for a dataclass with bytes, which are written in JSON; unused
elsewhere."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens of one trial as a chat API bills them. `None` means the agent did not say."""

    input: int | None = None
    """Sent, neither read from nor written to the prompt cache."""
    cache_read: int | None = None
    cache_create: int | None = None
    output: int | None = None

    @property
    def reported(self) -> int | None:
        """input + cache creation + output; `None` unless all three are known."""
        if self.input is None or self.cache_create is None or self.output is None:
            return None
        return self.input + self.cache_create + self.output

    @property
    def effective(self) -> int | None:
        """reported + cache read; `None` unless all four are known."""
        if self.reported is None or self.cache_read is None:
            return None
        return self.reported + self.cache_read

    @property
    def can_be_of_text(self) -> bool:
        """Whether something was read and written, as far as is said: an answer takes both."""
        read = (self.input, self.cache_read, self.cache_create)
        return self.output != 0 and any(tokens != 0 for tokens in read)

    @classmethod
    def total(cls, usages: Iterable["Usage"]) -> "Usage":
        """Sum up. A figure that is missing in one of them is missing in the sum."""
        summands = list(usages)
        return cls(
            input=total(usage.input for usage in summands),
            cache_read=total(usage.cache_read for usage in summands),
            cache_create=total(usage.cache_create for usage in summands),
            output=total(usage.output for usage in summands),
        )


@dataclass(frozen=True, kw_only=True)
class AgentRequest:
    """One task for one agent process."""

    prompt: str
    workspace: Path
    """The clone it works in, and its working folder."""
    home: Path
    """An empty folder of its own, outside the workspace; an adapter may write files into it."""
    mcp_config: Path
    """An `mcpServers` file with exactly the servers of the mode; none of them in the baseline."""
    max_turns: int
    model: str | None
    """`None` for the program's default. When `rehearsal` is set, the adapter chooses one."""
    seed: int
    arguments: tuple[str, ...] = ()
    """Arguments of the user (`--agent-arg`), put where the program takes its options."""
    inherit_settings: bool = False
    """Use the user's own home with its memory files, hooks and log-in, instead of `home`."""
    rehearsal: str | None = None
    """Address of a loopback model server that answers instead of the provider, without a `/` at
    its end; `None` for a real model. The program's own API path is appended to it."""
    instructions: str = ""
    """Part of the prompt that is the mode's and stands before the task: fixed rules, which do not
    understand it, must know what to ignore."""
    start_seconds: float = START_SECONDS
    """Seconds that a server of the mode may take to connect."""
    trial: str = ""
    """Stable id of the trial."""
    program: str | None = None
    """Absolute path of the program that was asked for its version, to be started instead of
    whatever has its name now. `None` when it is not known."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The user's variables, with what the user sets for the agent (`--agent-env`) in their places.
    Those that `Launch.inherit` names reach the program, and so does all that is set for it."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How to start the agent's process."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set in addition to the small environment that every agent gets."""
    inherit: tuple[str, ...] = ()
    """Names of the user's variables (credentials) that are let through when they are set."""
    stop_signal: signal.Signals = signal.SIGTERM
    """Signal that the program is asked to end with; some print their figures so far on SIGINT
    only."""
    turn_limit: int | None = None
    """The sum of `Activity.turns` at which we stop the program, because it keeps no budget itself.
    `None` when the program keeps the budget."""
    leaves: tuple[str, ...] = ()
    """Paths below `home` of the files that `outcome` reads there, so that they can be recorded; or
    patterns of them, as `Path.glob` takes them."""


@dataclass(frozen=True, kw_only=True)
class AgentExit:
    """How the agent's process ended, and where its output lies."""

    returncode: int | None
    stopped: StopReason | None
    """Reason why we ended it; `None` if it ended by itself."""
    stdout: Path
    stderr: Path
    home: Path | None = None
    """The folder of its own with what it wrote there, in a replay only what `leaves` named; `None`
    when it is gone."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts to take out of what is read from `home`; the two files above are without them."""
    servers: tuple[str, ...] = ()
    """Names of the MCP servers of the mode, as the program was given them."""
    started: datetime | None = None
    """Time when the process was started; in a replay that of the recorded one."""
    files: frozenset[str] = field(default=frozenset(), repr=False)
    """Paths of the files that the repository has, for which the results of tools are searched."""
    figures_only: bool = False
    """Whether the answers of tools may be skipped: the caller only compares figures."""
    with_contents: bool = False
    """Whether the calls are kept with their arguments and results: the caller shows them."""


@dataclass(frozen=True, kw_only=True)
class Activity:
    """What one line of an agent's output says about what it is doing."""

    doing: str
    """A short text without line breaks: `Read src/app.py`."""
    usage: Usage | None = None
    """Tokens of the request that this line belongs to, to be added up for the live view."""
    request: str | None = None
    """Id of that request; several lines can carry the usage of one."""
    turns: int = 0
    """Turns that the line adds to the count that `Launch.turn_limit` is about."""
    over: bool | None = None
    """Whether the run is over with this line of standard output, so that nothing but the program's
    end can follow; `False` when the line shows that it goes on, `None` when it does not say."""

    @classmethod
    def joined(cls, activities: Iterable["Activity | None"]) -> "Activity | None":
        """Join those of several events on a line: the last of them is shown."""
        of_line = [activity for activity in activities if activity is not None]
        if len(of_line) < 2:
            return next(iter(of_line), None)
        return replace(of_line[-1], turns=sum(activity.turns for activity in of_line))


@dataclass(frozen=True, kw_only=True)
class ToolAnswer:
    """What a tool of an MCP server gave back for one call, without an error: no text of it, but
    what tells equal ones and empty ones apart."""

    tool: str
    """Name of the tool, as in `Outcome.tool_calls`."""
    question: str | None
    """Digest of the texts in its arguments; `None` without any."""
    answer: str | None
    """Digest of the text; `None` when it is not text alone, or not shown."""
    bytes: int | None
    """Size of the text in UTF-8."""
    kind: Literal["empty", "error", "images"] | None = None
    """Whether there is nothing in it, or an error in words (`text/answer_kinds.py`), or images
    alone."""


@dataclass(frozen=True, kw_only=True)
class Retrieved:
    """What one tool call, of whatever tool, put before the agent."""

    tool: str
    """Name of the tool, as in `Outcome.tool_calls`."""
    turn: int | None
    """Request of the main conversation that made the call, from 1."""
    seconds: float | None
    """Seconds from the start of the process until the result came."""
    tokens: int | None
    """Tokens that the requests had taken until then, as `Usage.effective` counts."""
    mentions: tuple[str, ...]
    """Texts in its arguments and its result that may be paths, in their order: whether there are
    such files was not checked yet."""


@dataclass(frozen=True, kw_only=True)
class CallContent:
    """A call of a tool as the agent made it, and what came back."""

    tool: str
    """Name of the tool, as in `Outcome.tool_calls`."""
    arguments: str
    """Arguments as JSON, or the text that the program printed in their place."""
    result: str | None
    """Text of the result; `None` when there is none in the transcript."""
    failed: bool
    turn: int | None
    """Request of the main conversation that made the call, from 1."""
    seconds: float | None
    """Seconds from the start of the process until the result came."""


@dataclass(frozen=True, kw_only=True)
class Reported:
    """What the record of a trial has under the same names. A new figure of agents is a field here,
    and what reads it in each adapter."""

    detail: Annotated[
        str | None,
        Meaning("text", "One sentence on a failure, from the agent's own words where it has any."),
    ] = None
    """One sentence on a failure, from the agent's own words where it has any; of an answer, on how
    it ended otherwise than answers do."""
    duration_ms: Annotated[
        Amount | None,
        Meaning("milliseconds", "Time as the agent itself measures it."),
    ] = None
    cost: Amount | None = None
    """US dollars."""
    cost_estimated: Annotated[
        bool | None,
        Meaning("true or false", "true: from a price table, and from no bill."),
    ] = None
    cost_unreliable: Annotated[
        bool | None,
        Meaning(
            "true or false",
            "true: the program gave a price for a model of which it knows no price.",
        ),
    ] = None
    price_table: Annotated[str | None, Meaning("name", "That price table.")] = None
    token_counter: Annotated[
        str | None,
        Meaning("name", "What counted the tokens, when it was not the provider."),
    ] = None
    model: Annotated[str | None, Meaning("name", "The model, as the agent names it.")] = None
    fixed_rules: Annotated[
        bool | None,
        Meaning(
            "true or false",
            "true: fixed rules and no language model decided what the agent did.",
        ),
    ] = None
    program_version: Annotated[
        str | None,
        Meaning("version", "Its version, as it says itself."),
    ] = None
    requests: Count | None = None
    """Requests of the main conversation, which the budget of turns is about, in an outcome whose
    turns are something else."""
    tool_calls: Annotated[
        Mapping[str, Count] | None,
        Meaning("calls by name", "Calls of each tool, under the name the agent gives it."),
    ] = None
    """Calls by tool name, as the agent names the tool; MCP tools as `mcp__<server>__<tool>`,
    however the program spells them."""
    tool_failures: Annotated[
        Mapping[str, Count] | None,
        Meaning("calls by name", "Those of them that came back with an error."),
    ] = None
    tool_unanswered: Annotated[
        Mapping[str, Count] | None,
        Meaning(
            "calls by name",
            "Those of them that have no result in the transcript; null when the agent does "
            "not show its calls, or none before its result.",
        ),
    ] = None
    tool_seconds: Annotated[
        Mapping[str, Amount] | None,
        Meaning(
            "seconds by name",
            "By tool, the time in which at least one of its calls was open, from the call to "
            "its result: calls made together share their time. A tool is missing when one of "
            "its calls has no time.",
        ),
    ] = None
    """Seconds in which at least one call ran; in older sessions the sum over the calls, which
    counts calls made together several times."""
    tool_result_tokens: Annotated[
        Mapping[str, Count] | None,
        Meaning(
            "tokens by name",
            "What the results of each tool put before the model, counted by us (utf8-bytes/4).",
        ),
    ] = None
    unusable_tools: Annotated[
        tuple[str, ...] | None,
        Meaning("names", "Tools of the mode's servers that the agent says it had no way to use."),
    ] = None
    names_cut: Annotated[
        Count | None,
        Meaning(
            "names",
            "Names of tools and servers that were shortened to 200 characters, or left out "
            "beyond the first 500 of a kind; (others) has the figures of those.",
        ),
    ] = None
    """`None` before anybody counted."""
    permission_denials: Annotated[
        Mapping[str, Count] | None,
        Meaning("calls by name", "Calls that the agent's program refused to make."),
    ] = None
    retries: Count | None = None
    """Requests that the program made again after an error of the provider."""
    compactions: Count | None = None
    """Times that the program summarised its context in order to continue."""
    subagents: Annotated[
        Count | None,
        Meaning("count", "Sub-agents that the agent started."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Outcome(Reported):
    """What the agent left. Everything it did not say is `None`."""

    __pydantic_config__ = BYTES_AS_BASE64

    cause: Cause
    text: str | None = None
    """The answer, whenever the program gave one as its answer: also one that was cut, or after
    which something else failed. Never the words of an error, nor what was said on the way."""
    usage: Usage = Usage()
    all_in: Usage = Usage()
    """Usage with the requests of sub-agents and of compactions, which `usage` omits."""
    turn_usage: tuple[Usage, ...] | None = None
    """Per request of the main conversation, where the program gives it right."""
    turns: int | None = None
    """Number of turns, as the program counts them."""
    turns_are_requests: bool = True
    """Whether the turns are the requests of the main conversation, which their budget is about."""
    api_ms: float | None = None
    """The agent's own measure of the time it waited for its model."""
    tool_answers: tuple[ToolAnswer, ...] | None = None
    """Answers to calls of MCP tools that came back without an error; `None` when the program does
    not show its results."""
    retrieved: tuple[Retrieved, ...] | None = None
    """Results of the tool calls that the agent saw, in their order; `None` when the program does
    not show them. Not stored."""
    contents: tuple[CallContent, ...] | None = None
    """All calls in their order, where they were asked for (`AgentExit.with_contents`); not
    stored."""
    commands: tuple[str, ...] | None = None
    """Command lines that shells were given, as far as they are looked at; not stored."""
    paths: tuple[str, ...] | None = None
    """Files and folders that tools read or searched, in the same way."""
    servers: Mapping[str, str] | None = None
    """MCP servers that the agent saw at its start, with the status it gave each."""
    tools_offered: tuple[str, ...] | None = None
    payload: bytes | None = None
    """The agent's own final result, byte for byte."""

    @property
    def reported(self) -> Reported:
        """The part of it that the record has under the same names."""
        return Reported(**{part.name: getattr(self, part.name) for part in fields(Reported)})
