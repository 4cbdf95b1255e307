"""The checksum at the end of each line of `metrics.jsonl`: it tells a line that was changed later.

It is no signature: who changes a line on purpose can make a new one.
"""

import hashlib
import json

KEY = "sha256"
_MARK = b',"sha256":"'
_LENGTH = len(_MARK) + 64 + len('"}')


def add_checksum(line: str) -> bytes:
    """Add the checksum of its bytes to a line, a JSON object, as its last key."""
    content = line.encode("utf-8", "replace")
    return content[:-1] + _make_checksum(content)


def is_intact(line: bytes) -> bool | None:
    """Tell whether a line is as it was sealed; `None` when it has no checksum."""
    line = line.strip()
    content, seal = line[:-_LENGTH] + b"}", line[-_LENGTH:]
    if seal == _make_checksum(content):
        return True
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return False if isinstance(content, dict) and KEY in content else None


def _make_checksum(content: bytes) -> bytes:
    return b'%s%s"}' % (_MARK, hashlib.sha256(content).hexdigest().encode())
