"""Requests as they are stored, each once."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from swarm_bench.core.roles.language_model import Ask


def stored_request(ask: Ask) -> dict[str, Any]:
    """Return what of a request is the same in every run."""
    prompt = ask.prompt if isinstance(ask.prompt, str) else _plain(ask)
    return {"way": ask.way, "prompt": prompt, "sampling": asdict(ask.sampling)}


def digest(ask: Ask) -> str:
    """Return the checksum of a request, by which it is found in `prompts.jsonl`."""
    text = json.dumps(stored_request(ask), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(ask: Ask) -> Any:
    return asdict(ask)["prompt"]
