"""Sessions of which nothing depends on when, where and how fast they ran.

The records keep their bytes but for measured times and sizes, moments, checksums and the session's
id, which become what a trial's id makes of them. So `report` comes to the same summary everywhere,
sentences about times included.
"""

import json
import re
import shutil
import sys
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from swarm_bench.core.entry_points import own_version
from swarm_bench.engine.lines import add_checksum

SESSION = "01234567"
BEGIN = datetime(2026, 1, 1, 12, tzinfo=UTC)
MACHINE = {
    "system": "Linux 6.1",
    "architecture": "x86_64",
    "processors": 4,
    "memory_bytes": 8_000_000_000,
    "python": "3.12.0",
}
CHECKOUT = Path(__file__).parents[2]

_TEXT = r'"(?:[^"\\]|\\.)*"'
_MEASURED = re.compile(
    r'"(?P<key>\w+_seconds|duration_m?s|avg_\w+_ms|\w*(?:memory|index)_bytes)":(?P<number>null|[-+.\deE]+)'
    r'|"(?P<several>(?:tool|server)_seconds)":(?P<values>\{[^}]*\})'
    rf'|"(?P<moment>started_at|ended_at)":{_TEXT}'
    rf"|{_TEXT}"  # what stands within a text is no key
)
_SEAL = re.compile(r',"sha256":"[0-9a-f]{64}"\}$')
_SAMPLED = ("cpu_seconds", "peak_memory_bytes")
"""What a process that ends soon may not have: whether it has depends on the machine too."""
_IDS = ("trial", "swarm", "mode")


def settle(folder: Path) -> None:
    """Settle the session in a folder, or each of a series."""
    for file in folder.glob("agents-*/experiment.json"):
        settle(file.parent)
    if not (folder / "experiment.json").exists():
        return
    experiment = json.loads((folder / "experiment.json").read_text())
    for file in folder.rglob("*.json*"):
        text = file.read_text(encoding="utf-8").replace(experiment["session"], SESSION)
        file.write_text(text, encoding="utf-8")
    _settle_experiment(folder / "experiment.json")
    for file in folder.glob("*.jsonl"):
        lines = file.read_text(encoding="utf-8").splitlines()
        if experiment["benchmark"] != "swarm":  # whose arms run at the same time
            lines.sort(key=_place)
        settled = [_settled(line, number) for number, line in enumerate(lines)]
        file.write_text("".join(line + "\n" for line in settled), encoding="utf-8")
    for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
        _settle_stream(folder, json.loads(line))


def masked(text: str, root: Path) -> str:
    """Name folders and the version of the program by what they are; checksums, which depend on
    them, go."""
    folders = {
        str(root): "/golden",
        str(Path(sys.prefix)): "/venv",
        str(CHECKOUT): "/checkout",
        shutil.which("prlimit") or "prlimit": "/usr/bin/prlimit",
    }
    for folder, name in folders.items():
        text = text.replace(folder, name)
    text = re.sub(r"(?<=--continue )[0-9a-f]{8}\b", SESSION, text)
    text = re.sub(_SEAL.pattern, ',"sha256":"#"}', text, flags=re.MULTILINE)
    return re.sub(rf"(?<![\d.]){re.escape(own_version())}(?![\d.])", "VERSION", text)


def _place(line: str) -> tuple[Any, ...]:
    record = json.loads(line)
    return record.get("run", 0), record.get("arm", ""), record.get("number", 0)


def _settle_experiment(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    experiment = json.loads(text)
    text = text.replace(experiment["created_at"], _moment(BEGIN - timedelta(minutes=1)))
    parts = [("machine", MACHINE), ("versions", {**experiment["versions"], "git": "2.43.0"})]
    for name, values in parts:
        before, after = (
            json.dumps({name: it}, indent=2, ensure_ascii=False)[2:-2]
            for it in (experiment[name], values)
        )
        assert before in text
        text = text.replace(before, after)
    file.write_text(text, encoding="utf-8")


def _settled(line: str, number: int) -> str:
    record = json.loads(line)
    identity = next((f"{record[name]}" for name in _IDS if name in record), "")
    begin = BEGIN + timedelta(minutes=number)

    def replace(match: re.Match[str]) -> str:
        if key := match["key"]:
            if match["number"] == "null" and key not in _SAMPLED:
                return match[0]
            return f'"{key}":{measured(identity, key, match["number"])}'
        if key := match["several"]:
            values = {name: measured(identity, name) for name in json.loads(match["values"])}
            return f'"{key}":{json.dumps(values, separators=(",", ":"))}'
        if key := match["moment"]:
            seconds = measured(identity, "wall_seconds") if key == "ended_at" else 0.0
            return f'"{key}":"{_moment(begin + timedelta(seconds=seconds))}"'
        return match[0]

    unsealed = _SEAL.sub("}", line)
    settled = _MEASURED.sub(replace, unsealed)
    return settled if unsealed == line else add_checksum(settled).decode()


def measured(identity: str, key: str, like: str = "0.0") -> float:
    """Return what was measured of a trial: one to three seconds, or bytes, and an integer where the
    number that it is `like` is one."""
    subject = f"{identity} {key.replace('_ms', '_s')}"
    seconds = 100 + int(sha256(subject.encode()).hexdigest()[:8], 16) % 200
    factor = 1e6 if key.endswith("bytes") else 10.0 if key.endswith("_ms") else 0.01
    value = round(seconds * factor, 2)
    whole = like.isdigit() or key == "peak_memory_bytes"
    return int(value) if whole else value


def _settle_stream(folder: Path, record: dict[str, Any]) -> None:
    """Let the agent say the time that its record has."""
    name = f"{record.get('mode')}/agent-{record.get('agent')}.stream.jsonl"
    for file in {folder / name, folder / f"run-{record['run']}" / name}:
        if not file.exists():
            continue
        text = file.read_text(encoding="utf-8")
        text = re.sub(r'"duration_ms":\d+', f'"duration_ms":{record["duration_ms"]:.0f}', text)
        file.write_text(text, encoding="utf-8")


def _moment(time: datetime) -> str:
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")
