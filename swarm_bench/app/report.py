"""Renders a session's records again."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from swarm_bench.app.stored.opening import open_session
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import is_writable as is_writable

_AS_NAMED: Mapping[str, Any] = MappingProxyType({})


@pause_collection()
def report(path: Path, overrides: Mapping[str, Any] = _AS_NAMED) -> RenderedDocument:
    """Render the summary of a session, also of a folder that canopy's own script wrote.

    A session of ours gets a new `summary.md`; a foreign folder is only read, and so is one that
    cannot be written, and a session that is looked at with settings of the verdict other than
    they are stored. Raises `UsageError` when the folder is neither.
    """
    session = open_session(path)
    if overrides:
        from swarm_bench.config.settings import check_options  # heavy

        return session.reanalyse(check_options(overrides))
    return session.report() if is_writable(path) else session.reanalyse({})
