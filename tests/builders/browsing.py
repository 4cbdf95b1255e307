"""Pages that are opened in a real Chromium, and what they do there."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

COUNTER = "window.hits = 0; window.hit = () => { window.hits += 1; };"


def lack(what: str) -> NoReturn:
    """Skip a test that needs what is not here, or fail where a browser is required."""
    if os.environ.get("NEED_BROWSER"):
        pytest.fail(f"{what}, and NEED_BROWSER is set; make test-browser sets it up")
    pytest.skip(f"NO BROWSER HERE: {what}")


@dataclass
class Visit:
    """A page that was opened, and what it did."""

    page: Any
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def open(self, path: Path) -> None:
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", lambda dialog: self.messages.append(dialog.message))
        self.page.add_init_script(COUNTER)
        self.page.goto(path.as_uri())

    def check(self, path: Path) -> None:
        assert self.messages == []
        assert self.requests == [path.as_uri()]
        assert self.page.evaluate("window.hits") == 0


def write(folder: Path, html: str) -> Path:
    path = folder / "report.html"
    path.write_bytes(html.encode())
    return path
