"""The checksum at the end of each line of `metrics.jsonl`: it tells a line that was changed later.

It is no signature: who changes a line on purpose can make a new one.
"""

import hashlib
import json
import re

KEY = "sha256"
_SEAL = re.compile(rb',"sha256":"([0-9a-f]{64})"\}')
_LENGTH = len(',"sha256":""}') + 64


def sealed(line: str) -> bytes:
    """Add the checksum of its bytes to a line, a JSON object, as its last key."""
    content = line.encode("utf-8", "replace")
    return content[:-1] + f',"{KEY}":"{_digest(content)}"}}'.encode()


def is_whole(line: bytes) -> bool | None:
    """Tell whether a line is as it was sealed; `None` when it has no checksum."""
    line = line.strip()
    seal = _SEAL.fullmatch(line, max(0, len(line) - _LENGTH))
    if seal is not None:
        return _digest(line[: seal.start()] + b"}") == seal[1].decode()
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return False if isinstance(content, dict) and KEY in content else None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
