"""`make fuzz SECONDS=600 [ENTRY=task-file]`: libFuzzer, by way of atheris, over the entries of
`entries.py`, one after the other. The corpus grows in `.fuzz/`, outside of git; what is found lies
in `.fuzz/found/`, and is fixed and becomes a line of `test_entries.py`."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(".fuzz")
LARGEST = 20_000
"""Bytes of an input."""
SLOWEST = 20
"""Seconds for one: with inputs this small only what is not linear takes them."""
MEGABYTES = 2_000


def fuzz_all(seconds: int, only: str) -> int:
    """Fuzz every entry for its share of the time; 1 when something was found."""
    from tests.fuzz.entries import ENTRIES

    names = [only] if only else list(ENTRIES)
    share = max(1, seconds // len(names))
    found = [name for name in names if _fuzz(name, share, ENTRIES[name].seeds()) != 0]
    print(f"{len(names)} entries, {share} s each; found something in: {', '.join(found) or 'none'}")
    return int(bool(found))


def _fuzz(name: str, seconds: int, seeds: list[bytes]) -> int:
    corpus, results = FOLDER / "corpus" / name, FOLDER / "found"
    corpus.mkdir(parents=True, exist_ok=True)
    results.mkdir(exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(seed[:LARGEST])
    options = (
        f"-max_total_time={seconds}", f"-max_len={LARGEST}", f"-timeout={SLOWEST}",
        f"-rss_limit_mb={MEGABYTES}", f"-artifact_prefix={results / name}--", "-verbosity=0",
        "-print_final_stats=1",
    )  # fmt: skip
    command = [sys.executable, "-m", "tests.fuzz", "--one", name, *options, str(corpus)]
    print(f"{name}: {seconds} s", flush=True)
    return subprocess.run(command, check=False).returncode


def fuzz_one(name: str, options: list[str]) -> None:
    """Fuzz one entry in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=["swarm_bench", "yaml", "dotenv"]):
        from tests.fuzz.entries import run

    folder = Path(tempfile.mkdtemp(prefix="swarm-bench-fuzz-"))
    atheris.Setup(["fuzz", *options], lambda data: run(name, data, folder))
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        fuzz_one(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(fuzz_all(int(os.environ["SECONDS"]), os.environ.get("ENTRY", "")))
