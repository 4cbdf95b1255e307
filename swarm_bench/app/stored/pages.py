"""The page of a session, `report.html`: written from the document of its summary, and found."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from swarm_bench.app.stored.session import StoredSession, open_session
from swarm_bench.core.errors import Refused, StoreError, UsageError
from swarm_bench.core.events import Emit, Event, WarningRaised
from swarm_bench.core.report.document import Document, RenderedDocument
from swarm_bench.core.report.page import MARKER, PAGE, is_page, name_task_page
from swarm_bench.engine.folder import LOCK
from swarm_bench.reports.html.page import render_page
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import is_locked, is_writable, write_whole
from swarm_bench.runtime.untrusted import open_untrusted

_HEAD = 1_000
"""Bytes of a page that have its marker."""
_RUNNING = (
    "This session was still running when this was written, so it has only what there was by then; "
    "write it again when the session has ended."
)


@pause_collection()
def write_page(session: StoredSession, document: Document) -> None:
    """Write the page of a session, and those of its tasks where it has no room for them. Raises
    `UsageError` where a file of that name is no page of ours, and `StoreError`."""
    _check_own(session.path / PAGE)
    page = render_page(session.build_page(document))
    for name in page.task_pages:
        _check_own(session.path / name)
    for name, html in page.task_pages.items():
        write_whole(session.path / name, html)
    write_whole(session.path / PAGE, page.html)
    for path in session.path.glob(name_task_page("*")):
        if is_page(path.name) and path.name not in page.task_pages and is_own(path):
            path.unlink(missing_ok=True)


def write_last_page(session: StoredSession, document: Document, emit: Emit) -> bool:
    """Write the page of a session that has its summary, and tell whether that was possible. What
    prevents it is a warning."""
    try:
        write_page(session, document)
    except (UsageError, StoreError) as error:
        emit(WarningRaised(message=f"The page of {session.path} was not written: {error}"))
        return False
    return True


def report_page(path: Path, overrides: Mapping[str, Any], emit: Emit) -> RenderedDocument:
    """Write the summary of a session, and its page after it; those of a series after those of its
    sessions, so that it leads to their pages. Raises `UsageError`."""
    if overrides:
        raise UsageError(
            "--html writes the page of what was named beforehand; omit --primary, --margin, "
            "--quality and --quality-margin"
        )
    if not is_writable(path):
        raise UsageError(f"{path} cannot be written, so it gets no {PAGE}; copy the session first")
    session = open_session(path)
    session.notice = describe_running(session)
    _write_members(session, session.list_members(), emit)
    summary = session.report()
    write_page(session, summary.document)
    if session.notice and not describe_running(session):  # its own end may have been overwritten
        return report_page(path, overrides, emit)
    return summary


def _write_members(session: StoredSession, members: Iterable[StoredSession], emit: Emit) -> None:
    """Write the summaries and pages of sessions of a series, and note which have one now."""
    written = set[Path]()
    for member in members:
        member.notice = describe_running(member)
        if write_last_page(member, member.report().document, emit):
            written.add(member.path / PAGE)
    session.pages = frozenset(written)


def report_anew(session: StoredSession) -> RenderedDocument:
    """Write the summary of a session again, and its page if it has one of ours."""
    summary = session.report()
    renew_page(session, summary.document)
    return summary


def renew_page(session: StoredSession, document: Document) -> None:
    """Write the page of a session again, if it has one of ours; of a series also those that its
    sessions have."""
    if is_own(session.path / PAGE) and is_writable(session.path):
        members = [entry for entry in session.list_members() if is_own(entry.path / PAGE)]
        _write_members(session, members, _ignore)
        write_page(session, document)


def _ignore(_: Event) -> None:
    """Drop the warning that one of a series has no page: the links of the series show it."""


def describe_running(session: StoredSession) -> str:
    """Say that a session is still running, or one of a series; empty where none is."""
    sessions = (session, *session.list_members())
    return _RUNNING if any(is_locked(entry.path / LOCK) for entry in sessions) else ""


def make_page(path: Path, emit: Emit) -> Path:
    """Write the page of a session, and return where it is: one that lies there may be by anybody,
    and say and do anything, and so may those of a series' sessions. Raises `UsageError`."""
    report_page(path, {}, emit)
    return path / PAGE


def is_own(path: Path) -> bool:
    """Tell whether a file is a page that this program wrote."""
    try:
        with open_untrusted(path) as file:
            return f'name="generator" content="{MARKER}"'.encode() in file.read(_HEAD)
    except (OSError, Refused):
        return False


def _check_own(path: Path) -> None:
    if os.path.lexists(path) and not is_own(path):
        raise UsageError(
            f"{path} is no page of swarm-bench and stays as it is; rename it, then: swarm-bench "
            f"report {path.parent} --html"
        )
