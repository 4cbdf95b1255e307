import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders.browsing import Visit, lack


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        lack("playwright is not installed")
    if path is None:
        lack("there is no Chromium")
    if "PYTEST_XDIST_WORKER" in os.environ:
        lack("Playwright runs a loop beside those of other tests: run these alone, with -n 0")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def offline_chromium(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """A browser in a network namespace without anything, also without a loopback that is up."""
    inside = ["unshare", "--net", "--"] if os.geteuid() == 0 else ["unshare", "-rn", "--"]
    if subprocess.run([*inside, "true"], check=False, capture_output=True).returncode:
        lack("network namespaces cannot be made")
    script = tmp_path / "offline-chromium"
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    script.write_text(f'#!/bin/sh\nexec {shlex.join(inside)} {browser_path} "$@"\n')
    script.chmod(0o700)
    browser = chromium.browser_type.launch(executable_path=script, args=["--no-sandbox"])
    yield browser
    browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visit]:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    yield Visit(context.new_page())
    context.close()
