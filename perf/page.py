"""Seconds of processor, memory and size of `swarm-bench report --html`, and the first paint.

    python -m perf.page [TRIALS ...]

Sessions as in `perf/large.py`: real trials of scout, multiplied with their output. Runs are copies
of one, and a page has a result of several calls once: sizes are those of fixed rules. `report`
alone is measured beside it, since `--html` does that first. Goals for 1,000 trials: 5 s more than
`report`, at most 8 MB, first paint within 1 s (needs playwright, which `make test-browser`
installs, and a Chromium).
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from perf.large import COMMAND, multiply, run_small

SIZES = (600, 1_200, 5_100)
REPEATS = 3


def main() -> None:
    """Print a line for each size."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small"
        run_small(small)
        for trials in map(int, sys.argv[1:] or SIZES):
            session = Path(folder) / str(trials)
            multiply(small, session, trials)
            before = statistics.median(_report(session)[0] for _ in range(REPEATS))
            timed = [_report(session, "--html") for _ in range(REPEATS)]
            seconds = statistics.median(seconds for seconds, _ in timed)
            memory = max(memory for _, memory in timed)
            pages = [*session.glob("report*.html")]
            size = (session / "report.html").stat().st_size
            whole = sum(page.stat().st_size for page in pages)
            print(
                f"{trials:,} trials: report {before:.1f} s, with --html {seconds:.1f} s, peak "
                f"{memory:,.0f} MiB; report.html {size / 1e6:.2f} MB, {len(pages)} pages "
                f"{whole / 1e6:.2f} MB; first paint {_measure_paint(session / 'report.html')}"
            )


def _report(session: Path, *options: str) -> tuple[float, float]:
    """Seconds of processor and MiB of the command in a fresh process, without a page so far."""
    for page in session.glob("report*.html"):
        page.unlink()
    words = [str(COMMAND), "report", str(session), *options]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, "swarm-bench report")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**10


def _measure_paint(page: Path) -> str:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "not measured: no playwright"
    paint = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        times = list[float]()
        for _ in range(REPEATS):
            opened = browser.new_page()
            opened.goto(page.resolve().as_uri())
            opened.wait_for_function(paint)
            times.append(opened.evaluate(paint))
            opened.close()
        browser.close()
    return f"{statistics.median(times):.0f} ms"


if __name__ == "__main__":
    main()
