"""Reads the log that OpenCode writes to standard error.

Its events on standard output name neither servers nor retries, and no compactions.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from swarm_bench.agents.reading.json_lines import as_clause
from swarm_bench.agents.reading.tool_calls import parse_time
from swarm_bench.runtime.untrusted import open_untrusted
from swarm_bench.text.terminal import plain_text

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
    """Time when the last failed request failed, in seconds of the epoch."""
    error: str | None = None
    """The message of the last failed request, or of a failure whose event has none."""
    last: str | None = None
    """The last line of those that are no log."""

    def add(self, line: str) -> None:
        entry = _LOGGED.match(line)
        if entry is None:
            self.last = as_clause(line) or self.last
            return
        self.exists = True
        details = entry.group(3)
        match entry.group(1) or entry.group(2):
            case "stream":
                self._add_request(details)
            case "stream error":
                self.failed_requests += 1
                moment = parse_time(line.partition("timestamp=")[2].partition(" ")[0])
                self.failed_at = moment.timestamp() if moment else None
                self.error = as_clause(_find_value("error.error", details)) or self.error
            case "failed":
                self.error = as_clause(_find_value("error", details)) or self.error
            case "server unavailable":
                self.unavailable[_find_value("key", details) or "unknown"] = (
                    _find_value("status", details) or ""
                )
            case "created":
                self.version = self.version or as_clause(_find_value("version", details))
                self.subagents += (_find_value("parentID", details) or "undefined") != "undefined"

    def failed_since(self, moment: float | None) -> bool:
        """Tell whether the last failed request failed after that moment, if there is one."""
        return self.failed_at is not None and (moment is None or self.failed_at >= moment)

    def _add_request(self, details: str) -> None:
        self.compactions += _find_value("agent", details) == "compaction"
        if self.model is None and _find_value("mode", details) == "primary":
            provider, model = _find_value("providerID", details), _find_value("modelID", details)
            self.model = as_clause(f"{provider}/{model}" if provider and model else None)


def read_log(path: Path) -> Log:
    """Read the log in what OpenCode wrote to standard error."""
    log = Log()
    with open_untrusted(path) as file:
        for line in iter(lambda: file.readline(_MAX_LINE), b""):
            for part in plain_text(line).splitlines():
                log.add(part)
    return log


def _find_value(name: str, text: str) -> str | None:
    match = re.search(_VALUE.format(re.escape(name)), text)
    return None if match is None else (match.group(1) or match.group(2) or "")
