"""What a mode may not reach is what others give and it does not."""

from typing import Any

from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.retrieval.reach.outside import ForeignTools
from swarm_bench.retrieval.reach.reach import collect_foreign_tools
from swarm_bench.retrieval.reach.targets import read_address
from tests.builders.sessions import make_experiment

VALUES = {"workspace": "/w/repo", "service_url": "", "canopy_mcp": "/venv/bin/my-canopy-mcp"}
MODES: dict[str, dict[str, Any]] = {
    "baseline": {},
    "canopy": {
        "servers": {"canopy": {"command": "{{ canopy_mcp }}", "args": ["--root", "x"]}},
        "probes": ["feedback"],
        "may_create": [".canopy/", ".gitignore"],
    },
    "canopy-service": {
        "servers": {"canopy": {"command": "{{ canopy_mcp }}"}},
        "services": ["canopy-service"],
        "may_create": [".canopy/"],
    },
    "graph": {
        "servers": {
            "graph": {"command": "sh", "args": ["-c", "flock .git/x graph init; exec graph serve"]},
            "far": {"url": "https://mcp.example.org/${TEAM}"},
        },
        "prepare": {"command": ["graphbuild", "${MISSING}"]},
        "may_create": [".graph/", ".shelf/", ".claude/", "a/b/", "*.log/"],
    },
    "git": {"servers": {"git": {"command": "git", "args": ["mcp"]}}},
}
TOOLS = {
    "canopy": {"mcp__canopy__canopy_query": None},
    "graph": {"mcp__graph__graph_walk": None, "mcp__graph__read_file": None},
}


def experiment() -> Experiment:
    modes = [Mode(name=name, source="/modes/x.json", **own) for name, own in MODES.items()]
    plain = make_experiment((), tool_purposes=TOOLS, service_url="http://localhost:3210")
    return plain.model_copy(update={"modes": tuple(modes)})


def reach(mode: str) -> ForeignTools:
    files = ["src/a.py", ".shelf/map.json", ".graph"]
    return collect_foreign_tools(experiment(), mode, files, VALUES, {"TEAM": "shop"})


def test_a_baseline_may_reach_nothing_of_any_mode() -> None:
    found = reach("baseline")
    assert {"my-canopy-mcp", "canopy-mcp", "graph", "graphbuild"} <= set(found.programs)
    assert not {"git", "sh", "flock"} & set(found.programs)
    assert found.folders == {".canopy": "canopy", ".graph": "graph"}  # .shelf is the repository's
    assert found.tools == {"canopy_query": "canopy", "graph_walk": "graph"}
    service, far = (
        read_address("http://127.0.0.1:3210"),
        read_address("https://mcp.example.org/shop"),
    )
    assert found.addresses == {service: "canopy-service", far: "graph"}
    assert found.canopy == "canopy"


def test_what_a_mode_gives_is_no_finding_in_it() -> None:
    canopy, service = reach("canopy"), reach("canopy-service")
    assert set(canopy.programs) == set(service.programs) == {"graph", "graphbuild"}
    assert set(canopy.folders) == set(service.folders) == {".graph"}
    assert set(canopy.tools) == {"graph_walk"}
    assert [address.port for address in service.addresses] == [443]
    assert (canopy.canopy, service.canopy) == ("canopy-service", None)
    assert "graph" not in reach("graph").programs
