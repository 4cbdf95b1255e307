"""The end of a session: from the last agent's end to the summary nothing is loaded any more."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = """
- steps:
    - init: {tools: [Read]}
    - answer: {text: "See `a.py:1`.", turns: 1, cost: 0.01, usage: {input: 1, output: 2}}
"""
SESSION = """
import sys
from pathlib import Path
from swarm_bench.app.running import agents
from swarm_bench.app.setup.resolving import resolve
from swarm_bench.core.events import TrialEnded
from swarm_bench.core.session.designs import COMPARE

loaded = set()

def emit(event):
    if isinstance(event, TrialEnded):
        loaded.clear()
        loaded.update(sys.modules)

options = {
    "repo": Path("repo"), "modes": ["baseline", "other"], "agents": 6, "runs": 1, "output": "out",
    "agent": "swarm_bench.agents.scripted:Scripted", "model": "script.yaml",
}
Path("mcp_configs").mkdir()
Path("mcp_configs/other.json").write_text('{"mcpServers": {}}')
print(agents.run(resolve(options, COMPARE, None), COMPARE, emit).summary.markdown)
print(sorted({name.partition(".")[0] for name in {*sys.modules} - loaded}))
"""


def test_nothing_is_loaded_after_the_last_agent(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").write_text("def f():\n    return 1\n")
    (tmp_path / "script.yaml").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-c", SESSION], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"× \(\d\.\d\d–\d\.\d\d\)", done.stdout), "no interval was computed"
    assert done.stdout.splitlines()[-1] in ("[]", "['encodings']")
