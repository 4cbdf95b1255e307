"""What of an experiment may be stored."""

from swarm_bench.benchmarks.swarm.recordings import make_shareable
from swarm_bench.core.session.experiment import Mode, Preparation, Setting
from swarm_bench.retrieval.modes.secrets import make_storable
from tests.builders.experiments import experiment

ADDRESS = "https://me:canary-pw@host.example:8443/x"
MODE = Mode(
    name="mine",
    source="/there/mine.json",
    servers={
        "one": {"command": "x", "args": ["--token", "canary-arg", "--db", ADDRESS]},
        "two": {"url": f"{ADDRESS}?api_key=canary-key&level=2", "headers": {"X": "canary-head"}},
    },
    prepare=Preparation(command=("make", "index", "--password=canary-step")),
    teardown=("stop", ADDRESS),
    version=("show", "--api-key", "canary-version"),
)


def test_neither_keys_nor_logins_are_stored() -> None:
    given = experiment().model_copy(
        update={
            "modes": (MODE,),
            "service_url": ADDRESS,
            "settings": {"service_url": Setting(value=ADDRESS, source="command line")},
        }
    )
    stored = make_storable(given)
    assert "canary" not in stored.model_dump_json()
    assert "canary" not in make_shareable(given).model_dump_json()
    assert stored.service_url == "https://host.example:8443/x"
    assert stored.modes[0].servers["one"]["args"][:2] == ["--token", "(not stored)"]
    assert stored.modes[0].servers["two"]["url"].endswith("?api_key=(not stored)&level=2")
    assert make_storable(stored) == stored
