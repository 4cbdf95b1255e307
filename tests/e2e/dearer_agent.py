"""An agent that spends two percent more with each trial of a session, whatever its mode.

    python dearer_agent.py ASKED PROMPT

The file ASKED has a byte for each time that it was asked.
"""

import fcntl
import json
import sys
from pathlib import Path


def main() -> None:
    with Path(sys.argv[1]).open("a+") as asked:
        fcntl.flock(asked, fcntl.LOCK_EX)
        asked.write(".")
        asked.flush()
        before = asked.tell() - 1
    tokens = round(10_000 * (1 + 0.02 * before))
    usage = {"input": tokens, "cache_read": 0, "cache_create": 0, "output": 10}
    answer = f"It is in `shop/auth.py:1`.\n\n{sys.argv[-1]}"
    sys.stdout.write(json.dumps({"answer": answer, "usage": usage}))


if __name__ == "__main__":
    main()
