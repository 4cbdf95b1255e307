import pytest

from swarm_bench.core.experiment import Mode, Preparation
from swarm_bench.engine.secrets import secrets

EMPTY = Mode(name="canopy", source="canopy.json")


@pytest.mark.parametrize(
    ("inherited", "given", "found"),
    [
        ({"ANTHROPIC_API_KEY": "sk-abcdefgh"}, {}, {"sk-abcdefgh"}),
        ({"AWS_REGION": "eu-central-1"}, {}, set()),
        ({"HTTPS_PROXY": "http://me:pw-of-mine@proxy:80"}, {}, {"pw-of-mine"}),
        ({"ANTHROPIC_BASE_URL": "https://token-of-mine@host/x"}, {}, {"token-of-mine"}),
        ({}, {"DATABASE_URL": "postgres://host/x"}, {"postgres://host/x"}),
        ({}, {"LEVEL": "low"}, set()),
        ({"API_KEY": "short"}, {}, set()),
    ],
)
def test_of_the_users_variables(
    inherited: dict[str, str], given: dict[str, str], found: set[str]
) -> None:
    assert set(secrets(inherited, given, EMPTY, {})) == found


def test_of_the_servers_of_a_mode() -> None:
    env = {"LICENCE": "licence-1234", "OTHER": "${OTHER_KEY}", "ROOT": "{{ workspace }}"}
    headers = {"Authorization": "Bearer abc.def-123"}
    servers = {"one": {"command": "x", "env": env}, "two": {"url": "http://x", "headers": headers}}
    mode = EMPTY.model_copy(update={"servers": servers})
    assert set(secrets({}, {}, mode, {})) == {"licence-1234", "Bearer abc.def-123", "abc.def-123"}


def test_variables_that_a_mode_names_are_secrets() -> None:
    servers = {
        "one": {"command": "x", "args": ["--key", "${KEY}", "${HOME}/x", "${ABSENT}"]},
        "two": {
            "url": "http://x/${PATH_KEY:-none}",
            "headers": {"Authorization": "Bearer ${TOKEN}", "X-Other": "${ABSENT:-otherwise}"},
        },
    }
    variables = {
        "KEY": "key-of-mine",
        "HOME": "/home/of/me",
        "PATH_KEY": "path-of-mine",
        "TOKEN": "token-of-mine",
        "UNNAMED": "not-of-this-mode",
    }
    found = secrets({}, {}, EMPTY.model_copy(update={"servers": servers}), variables)
    named = {"key-of-mine", "path-of-mine", "token-of-mine", "otherwise"}
    assert named <= set(found)
    assert not {"/home/of/me", "not-of-this-mode"} & set(found)


def test_variables_that_the_index_of_a_mode_names_are_secrets() -> None:
    prepare = Preparation(tool="build", arguments={"keys": [{"k": "x-${KEY}"}], "at": "${HOME}"})
    variables = {"KEY": "key-of-mine", "HOME": "/home/of/me", "UNNAMED": "not-of-this-mode"}
    found = secrets({}, {}, EMPTY.model_copy(update={"prepare": prepare}), variables)
    assert found == ("key-of-mine",)
