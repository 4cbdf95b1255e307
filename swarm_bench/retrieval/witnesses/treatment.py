"""What became of the retrieval tool in one trial, from what the agent itself reports: its start
event and its transcript. The tool's own counters are compared when the swarm has ended."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.session.records import Agreement, Evidence, Treatment
from swarm_bench.core.treatment.mode_parts import Purpose

MCP_PREFIX = "mcp__"
"""Agents name an MCP tool `mcp__<server>__<tool>`, with `_` for what a tool's name cannot have."""
_TOOL_SEARCHES = frozenset({"toolsearch"})
"""Tools through which agents load others after their start, without `_` and in lower case."""
_MAY_COME = frozenset({"pending", "unknown"})
"""Statuses of a server that may be connected later, or is without the agent knowing."""

Purposes = Mapping[str, Purpose | None]
"""Purposes of tools, by the name that agents give them; `None`, or no entry, if unknown."""


def label_trial(
    servers: Collection[str], outcome: Outcome, purposes: Purposes | None = None
) -> tuple[Treatment, Evidence]:
    """Label a trial in a mode that gives these MCP servers, with what the label rests on. Without
    `purposes` every answered call counts as retrieval."""
    observed = _Observed(servers, outcome, purposes)
    start, reasons = _compare_start(observed)
    evidence = Evidence(
        connected=observed.connected_servers,
        offered=None if outcome.tools_offered is None else len(observed.offered_tools),
        foreign=observed.foreign,
        calls=None if outcome.tool_calls is None else sum(observed.calls.values()),
        failed=None if outcome.tool_calls is None else observed.failed_calls,
        unanswered=None if outcome.tool_unanswered is None else observed.unanswered_calls,
        retrieved=None if outcome.tool_calls is None else observed.retrieval_calls,
        unclear=observed.unclassified_tools,
        others=observed.non_retrieval_tools,
        start=start,
        why=(*reasons, *_describe_hallucinated(observed), *_describe_non_retrieval(observed)),
    )
    return _choose_label(observed, outcome), evidence


def count_mcp_calls(outcome: Outcome) -> int | None:
    """Count the calls of MCP tools; `None` when the agent does not show its calls."""
    if outcome.tool_calls is None:
        return None
    return sum(outcome.tool_calls[tool] for tool in _select_mcp(outcome.tool_calls))


def is_of_server(tool: str, servers: Collection[str]) -> bool:
    """Tell whether a tool, as a model sees its name, belongs to one of the servers: most programs
    write `mcp__<server>__<tool>`, Gemini CLI `mcp_<server>_<tool>`."""
    return bool(servers) and _compile_pattern(tuple(servers)).match(tool) is not None


@lru_cache
def _compile_pattern(servers: tuple[str, ...]) -> re.Pattern[str]:
    # Gemini CLI's adapter has `--` for `_`: that program ends a server's name at the first `_`.
    names = "|".join(re.escape(_normalise(name)).replace("_", "(?:_|--)") for name in servers)
    return re.compile(rf"(mcp__({names})__|mcp_(?!_)({names})_)")


def count_server_calls(by_tool: Mapping[str, int], servers: Collection[str]) -> int:
    """Count the calls that were of tools of the servers."""
    return sum(number for tool, number in by_tool.items() if is_of_server(tool, servers))


class _Observed:
    """An outcome, sorted by the servers that its tools belong to."""

    def __init__(
        self, servers: Collection[str], outcome: Outcome, purposes: Purposes | None
    ) -> None:
        self._names = {_normalise(name): name for name in servers}
        self._outcome = outcome
        self._purposes = purposes
        statuses = outcome.servers
        self.statuses = (
            None if statuses is None else {_normalise(n): s for n, s in statuses.items()}
        )
        """Statuses by server, with its name as it stands in the names of its tools."""

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Servers that the mode does not give, and tools of servers that nobody showed."""
        servers = [name for name in self._outcome.servers or () if not self._is_mode_server(name)]
        tools = _select_mcp(
            [*(self._outcome.tools_offered or ()), *(self._outcome.tool_calls or ())]
        )
        loose = [
            tool
            for tool in tools
            if self._owner(tool) is None and tool not in self.hallucinated_tools
        ]
        return (*servers, *dict.fromkeys(loose))

    @cached_property
    def hallucinated_tools(self) -> tuple[str, ...]:
        """Tools of no server that were called and are not there: the start event lists the tools
        without them, and no call was answered."""
        offered, failures = self._outcome.tools_offered, self._outcome.tool_failures or {}
        if offered is None:
            return ()
        calls = self._outcome.tool_calls or {}
        loose = [
            tool for tool in _select_mcp(calls) if self._owner(tool) is None and tool not in offered
        ]
        return tuple(tool for tool in loose if failures.get(tool, 0) >= calls[tool])

    @cached_property
    def connected_servers(self) -> tuple[str, ...] | None:
        """The servers of the mode that were connected at the start, by their names in the mode."""
        if self.statuses is None:
            return None
        names = (name for name in self._names if self.statuses.get(name) == "connected")
        return tuple(self._names[name] for name in names)

    @cached_property
    def offered_tools(self) -> tuple[str, ...]:
        return tuple(tool for tool in self._outcome.tools_offered or () if self._is_of_mode(tool))

    @cached_property
    def calls(self) -> Mapping[str, int]:
        """Return the number of calls by tool of the mode."""
        calls = self._outcome.tool_calls or {}
        return {tool: number for tool, number in calls.items() if self._is_of_mode(tool)}

    @cached_property
    def answered_calls(self) -> Mapping[str, int]:
        """Calls with a result that is no error, by tool of the mode; without tools that have
        none."""
        outcome = self._outcome
        unsuccessful = Counter(outcome.tool_failures or {}) + Counter(outcome.tool_unanswered or {})
        return Counter(self.calls) - unsuccessful

    @property
    def retrieval_calls(self) -> int | None:
        """Return the number of answered calls that searched or read; `None` when the purposes of
        the tools are unknown."""
        if self._purposes is None:
            return None
        open_or_other = (*self.unclassified_tools, *self.non_retrieval_tools)
        return sum(n for tool, n in self.answered_calls.items() if tool not in open_or_other)

    @property
    def unclassified_tools(self) -> tuple[str, ...]:
        """Tools that answered and whose purpose is unknown."""
        if (purposes := self._purposes) is None:
            return ()
        return tuple(tool for tool in self.answered_calls if not purposes.get(_normalise(tool)))

    @property
    def non_retrieval_tools(self) -> tuple[str, ...]:
        """Tools that answered and do not retrieve."""
        purposes = self._purposes or {}
        return tuple(
            tool for tool in self.answered_calls if purposes.get(_normalise(tool)) == "other"
        )

    @property
    def has_retrieved(self) -> bool:
        """Whether a tool of the mode retrieved something, as far as that is known."""
        return set(self.answered_calls) != set(self.non_retrieval_tools)

    @property
    def failed_calls(self) -> int:
        failures = self._outcome.tool_failures or {}
        return sum(min(number, failures.get(tool, 0)) for tool, number in self.calls.items())

    @property
    def unanswered_calls(self) -> int:
        unanswered = self._outcome.tool_unanswered or {}
        return sum(unanswered.get(tool, 0) for tool in self.calls)

    @property
    def lists_tools(self) -> bool:
        """Whether the start event has a list of tools, ours among them or not."""
        return self._outcome.tools_offered is not None

    @property
    def searched_tools(self) -> bool:
        """Whether it loaded tools after its start."""
        calls = self._outcome.tool_calls or {}
        return any(tool.replace("_", "").lower() in _TOOL_SEARCHES for tool in calls)

    @cached_property
    def has_failed_connection(self) -> bool:
        """Whether its calls show no connection: nothing was connected or offered at the start,
        nothing was answered, and no server that was called can have come later."""
        if self.connected_servers or self.offered_tools or self.answered_calls:
            return False
        if self.statuses is None:
            return self.lists_tools and not self.searched_tools
        return _MAY_COME.isdisjoint(
            self.statuses.get(self.find_server(tool)) for tool in self.calls
        )

    def find_server(self, tool: str) -> str:
        """Return the name in `statuses` of the server that a tool of the mode belongs to."""
        return self._owner(tool) or ""

    def name_server(self, server: str) -> str:
        return self._names.get(server, server)

    @property
    def mode_servers(self) -> Iterable[str]:
        return self._names

    def _is_mode_server(self, server: str) -> bool:
        return _normalise(server) in self._names

    def _is_of_mode(self, tool: str) -> bool:
        return self._owner(tool) in self._names

    def _owner(self, tool: str) -> str | None:
        """Find the server that a tool belongs to. A server `a` may have a tool `b__c`, and a server
        `a__b` a tool `c`: of the mode's servers and those that were shown, the longer name wins."""
        names = {*self._names, *(self.statuses or ())}
        fitting = [name for name in names if tool.startswith(f"{MCP_PREFIX}{name}__")]
        return max(fitting, key=len, default=None)


def _choose_label(observed: _Observed, outcome: Outcome) -> Treatment:
    if observed.foreign:
        return Treatment.CONTAMINATED
    if observed.has_retrieved:
        return Treatment.USED
    if outcome.servers is None and outcome.tools_offered is None and not observed.calls:
        return Treatment.UNKNOWN
    if not observed.mode_servers:
        return Treatment.NOT_GIVEN
    if (
        observed.connected_servers
        or observed.offered_tools
        or (observed.calls and not observed.has_failed_connection)
    ):
        return Treatment.UNKNOWN if outcome.tool_calls is None else Treatment.UNUSED
    # An agent may know how many of several have connected, and not which.
    unclear = "unknown" in (observed.statuses or {}).values() and len(observed.statuses or {}) > 1
    return Treatment.UNKNOWN if unclear else Treatment.NOT_CONNECTED


def _compare_start(observed: _Observed) -> tuple[Agreement | None, tuple[str, ...]]:
    if not observed.answered_calls:
        return None, ()
    differences = list(_find_differences(observed))
    if not differences:
        shows = observed.statuses is not None or observed.offered_tools
        return ("agree" if shows else None), ()
    agreements = {agreement for agreement, _ in differences}
    sentences = tuple(sentence for _, sentence in differences)
    return ("contradict" if "contradict" in agreements else "explained"), sentences


def _find_differences(observed: _Observed) -> Iterator[tuple[Agreement, str]]:
    late = set[str]()
    for server in dict.fromkeys(map(observed.find_server, observed.answered_calls)):
        status = None if observed.statuses is None else observed.statuses.get(server, "missing")
        if status in (None, "connected", "unknown"):
            continue
        late.add(server)
        if status == "pending":
            yield (
                "explained",
                f"{observed.name_server(server)} was still connecting when the agent started, and "
                "answered later: it connected after the start.",
            )
        else:
            yield (
                "contradict",
                f"{observed.name_server(server)} was {status} when the agent started, and the "
                "transcript has answered calls of its tools.",
            )
    yield from _find_unoffered(observed, late)


def _find_unoffered(observed: _Observed, late: Collection[str]) -> Iterator[tuple[Agreement, str]]:
    """Yield answered calls of tools that the start event omits, of servers that were there."""
    if not observed.lists_tools:
        return
    tools = [
        t
        for t in observed.answered_calls
        if t not in observed.offered_tools and observed.find_server(t) not in late
    ]
    if tools and observed.searched_tools:
        yield "explained", f"{_join_names(tools)} came through a search for tools after the start."
    elif tools:
        yield (
            "contradict",
            f"{_join_names(tools)} answered and was not among the tools offered at the start.",
        )


def _describe_hallucinated(observed: _Observed) -> Iterator[str]:
    if observed.calls and observed.has_failed_connection:
        names = _join_names(observed.calls)
        yield f"{names} was called without a connection: no call was answered."
    if observed.hallucinated_tools:
        names = _join_names(observed.hallucinated_tools)
        yield f"{names} was called and is not there: every call failed."


def _describe_non_retrieval(observed: _Observed) -> Iterator[str]:
    if observed.answered_calls and not observed.has_retrieved:
        verb = "does" if len(observed.non_retrieval_tools) == 1 else "do"
        names = _join_names(observed.non_retrieval_tools)
        yield f"Only {names} answered, which {verb} not retrieve."


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _select_mcp(tools: Iterable[str]) -> list[str]:
    return [tool for tool in tools if tool.startswith(MCP_PREFIX)]


def _normalise(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)
