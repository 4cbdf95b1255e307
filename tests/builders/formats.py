"""The programs that read what is exported, in an environment of their own: `make test-formats`
sets it up."""

import json
import os
import subprocess
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).parents[2] / ".venv-formats"
_READY = (_FOLDER / ".ready").exists()
if not _READY and os.environ.get("NEED_FORMATS"):
    raise RuntimeError("Harbor and Inspect are not there (make .venv-formats/.ready)")
needs_readers = pytest.mark.skipif(
    not _READY, reason="no .venv-formats: NOT TESTED WITH Harbor AND Inspect (make test-formats)"
)
_HARBOR = """
import json, sys
from pathlib import Path
from harbor.models.trajectories import Trajectory
for name in sys.argv[1:]:
    print(json.dumps(Trajectory.model_validate_json(Path(name).read_bytes()).to_json_dict()))
"""
_INSPECT = """
import sys
from inspect_ai.log import read_eval_log
for name in sys.argv[1:]:
    print(read_eval_log(name).model_dump_json(exclude_none=True))
"""


def read_with_harbor(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Read trajectories with Harbor's own models, and write what they are to it."""
    return _read(_HARBOR, files)


def read_with_inspect(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Read logs with Inspect, and write what they are to it."""
    return _read(_INSPECT, files)


def _read(program: str, files: Sequence[Path]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [_FOLDER / "bin" / "python", "-c", program, *files],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(files[0].parent),
            "PYTHONPATH": str(_FOLDER / "harbor"),
        },
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def read_spans(text: str) -> list[dict[str, Any]]:
    """Read lines of OTLP/JSON with OpenTelemetry's own messages; attributes as a mapping."""
    json_format = import_module("google.protobuf.json_format")
    messages = import_module("opentelemetry.proto.trace.v1.trace_pb2")
    spans = list[dict[str, Any]]()
    for line in text.splitlines():
        for resource in json_format.Parse(line, messages.TracesData()).resource_spans:
            shared = _read_attributes(resource.resource.attributes)
            spans += [
                {
                    "name": span.name,
                    "trace": span.trace_id,
                    "id": span.span_id,
                    "parent": span.parent_span_id,
                    "nanoseconds": span.end_time_unix_nano - span.start_time_unix_nano,
                    "is_error": span.status.code == 2,
                    **shared,
                    **_read_attributes(span.attributes),
                }
                for scope in resource.scope_spans
                for span in scope.spans
            ]
    return spans


def _read_attributes(attributes: Any) -> dict[str, Any]:
    return {
        entry.key: getattr(entry.value, entry.value.WhichOneof("value")) for entry in attributes
    }
