"""What a file asks to be started, and how it is shown."""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from swarm_bench.core.errors import UsageError

SHOWN_LETTERS = 200
"""Most characters that are shown of what a line would start."""
_PLAIN_MODEL = re.compile(r"[\w][\w.:/@+\[\]-]*", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Something that a file would have started, or given to what is started."""

    option: str
    """The field of the settings, or the name of a variable."""
    word: str
    """Subject of the demand: one of several modes, an agent."""
    what: str
    """Description for the user of what would be started, without keys."""
    origin: str
    """The file or the session that asks for it."""
    digest: str
    """Digest of all that decides what is started."""
    session: str | None = None
    """Id of the session that asks; `None` for a file of the working folder."""
    has_changed: bool = False
    """Whether it was trusted when it was something else."""

    @property
    def subject(self) -> str:
        """The hash of what asks, whatever it asks for; remembered beside the digest."""
        return digest_of("subject", self.session, self.option, self.word)

    @property
    def sentence(self) -> str:
        """`the agent x:A (swarm-bench.toml)`."""
        half_length = SHOWN_LETTERS // 2
        cut = len(self.what) > SHOWN_LETTERS  # the end says as much as the start
        short = f"{self.what[:half_length]} … {self.what[-half_length:]}" if cut else self.what
        return replace(self, what=short).full_sentence

    @property
    def full_sentence(self) -> str:
        """Return the whole sentence for the user who must judge it: nothing is cut off."""
        changed = ", which has changed since you trusted it" if self.has_changed else ""
        return f"{self.what} ({self.origin}){changed}"


def digest_of(*parts: Any) -> str:
    """Hash JSON values; any other values have another hash."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def is_plain_model(name: str) -> bool:
    """Tell whether a name can only be a model's on a command line: no option, no shell code."""
    return _PLAIN_MODEL.fullmatch(name) is not None


def build_refusal(demands: Sequence[Demand]) -> UsageError:
    """Make the error for what the user has not approved: one sentence."""
    sentences = "; ".join(dict.fromkeys(demand.sentence for demand in demands))
    settings = any(demand.origin == "swarm-bench.toml" for demand in demands)
    advice = ", or name the settings file with --config" if settings else ""
    return UsageError(
        f"Nothing was started, because you did not type what would be run or used here: "
        f"{sentences}; look at it with --plan, then add --trust{advice}"
    )


def find_unapproved(demands: Iterable[Demand], approved: frozenset[str]) -> list[Demand]:
    """Return what is asked for and not approved. `approved` holds digests, and subjects."""
    return [
        replace(demand, has_changed=demand.subject in approved)
        for demand in demands
        if demand.digest not in approved
    ]


def list_marks(demands: Iterable[Demand]) -> frozenset[str]:
    """Return what is remembered of demands that were approved."""
    return frozenset(mark for demand in demands for mark in (demand.digest, demand.subject))
