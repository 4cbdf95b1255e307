"""What runs on a real Ray cluster of three machines; `make test-cluster`."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.machines import processes_in, what_is_missing
from tests.cluster.ray_cluster import START_SECONDS, Cluster, ray_cluster

_FOLDER = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test of this folder, which is how the others leave it out."""
    for item in items:
        if item.path.is_relative_to(_FOLDER):
            item.add_marker(pytest.mark.cluster)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(START_SECONDS + 60))


@pytest.fixture(scope="session")
def machines_can_be_had() -> None:
    """Skips where there are no namespaces or no Ray, or fails if these tests are to run."""
    missing = what_is_missing()
    if missing is None and importlib.util.find_spec("ray") is None:
        missing = "ray is not installed"
    if missing and os.environ.get("NEED_CLUSTER"):
        pytest.fail(f"{missing}, and these tests are to run")
    if missing:
        pytest.skip(f"{missing}: NOT TESTED ON A CLUSTER")


@pytest.fixture(scope="module")
def cluster(
    machines_can_be_had: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """A head and two workers with four agents each; nothing of them is left after the module."""
    visible = [tmp_path_factory.getbasetemp()]
    with ray_cluster(tmp_path_factory.mktemp("cluster"), visible=visible) as cluster:
        namespaces = cluster.namespaces()
        yield cluster
    assert processes_in(namespaces) == []
