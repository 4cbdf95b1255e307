"""Reads the log that OpenCode writes to standard error.

Its events on standard output name neither servers nor retries, and no compactions.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from swarm_bench.agents.reading.json_lines import clause_of
from swarm_bench.agents.reading.terminal import plain_text
from swarm_bench.agents.reading.tool_costs import moment_of
from swarm_bench.runtime.untrusted import opened

_MAX_LINE = 16_384
_LOGGED = re.compile(r"^timestamp=\S+ level=\w+ run=\w+ message=(?:\"([^\"]*)\"|(\S+))(.*)")
_VALUE = r"(?:^| ){}=(?:\"((?:[^\"\\]|\\.)*)\"|(\S+))"


@dataclass
class Log:
    """The state after the lines so far."""

    exists: bool = False
    """Whether there is a log at all."""
    failed_requests: int = 0
    compactions: int = 0
    subagents: int = 0
    unavailable: dict[str, str] = field(default_factory=dict)
    """Status by key of the servers that did not connect."""
    model: str | None = None
    version: str | None = None
    failed_at: float | None = None
    """When the last failed request failed, in seconds of the epoch."""
    error: str | None = None
    """The message of the last failed request, or of a failure whose event has none."""
    last: str | None = None
    """The last line of those that are no log."""

    def add(self, line: str) -> None:
        entry = _LOGGED.match(line)
        if entry is None:
            self.last = clause_of(line) or self.last
            return
        self.exists = True
        rest = entry.group(3)
        match entry.group(1) or entry.group(2):
            case "stream":
                self._request(rest)
            case "stream error":
                self.failed_requests += 1
                moment = moment_of(line.partition("timestamp=")[2].partition(" ")[0])
                self.failed_at = moment.timestamp() if moment else None
                self.error = clause_of(_value("error.error", rest)) or self.error
            case "failed":
                self.error = clause_of(_value("error", rest)) or self.error
            case "server unavailable":
                self.unavailable[_value("key", rest) or "unknown"] = _value("status", rest) or ""
            case "created":
                self.version = self.version or clause_of(_value("version", rest))
                self.subagents += (_value("parentID", rest) or "undefined") != "undefined"

    def failed_since(self, moment: float | None) -> bool:
        """Tell whether the last failed request failed after that moment, if there is one."""
        return self.failed_at is not None and (moment is None or self.failed_at >= moment)

    def _request(self, rest: str) -> None:
        self.compactions += _value("agent", rest) == "compaction"
        if self.model is None and _value("mode", rest) == "primary":
            provider, model = _value("providerID", rest), _value("modelID", rest)
            self.model = clause_of(f"{provider}/{model}" if provider and model else None)


def read_log(path: Path) -> Log:
    """Read the log in what OpenCode wrote to standard error."""
    log = Log()
    with opened(path) as file:
        for line in iter(lambda: file.readline(_MAX_LINE), b""):
            for part in plain_text(line).splitlines():
                log.add(part)
    return log


def _value(name: str, text: str) -> str | None:
    match = re.search(_VALUE.format(re.escape(name)), text)
    return None if match is None else (match.group(1) or match.group(2) or "")
