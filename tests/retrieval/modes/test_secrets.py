import socket
from pathlib import Path

import pytest

from swarm_bench.core.session.experiment import Mode, Preparation
from swarm_bench.retrieval.modes.secrets import collect_secrets
from swarm_bench.runtime.sink import clean_text

MADE = "Ab3dEf6hIj9lMn2p"
"""As keys are written."""
EMPTY = Mode(name="canopy", source="canopy.json")


@pytest.mark.parametrize(
    ("variables", "given", "found"),
    [
        ({"ANTHROPIC_API_KEY": "sk-abcdefgh"}, {}, {"sk-abcdefgh"}),
        ({"AWS_REGION": "eu-central-1"}, {}, set()),
        ({"HTTPS_PROXY": "http://me:pw-of-mine@proxy:80"}, {}, {"pw-of-mine"}),
        (
            {"HTTPS_PROXY": "http://me:pw%20of%2Dmine@proxy:80"},
            {},
            {"pw%20of%2Dmine", "pw of-mine"},
        ),
        ({"ANTHROPIC_BASE_URL": "https://token-of-mine@host/x"}, {}, {"token-of-mine"}),
        ({}, {"DATABASE_URL": "postgres://host/x"}, {"postgres://host/x"}),
        ({}, {"LEVEL": "low"}, set()),
        ({"API_KEY": "short"}, {}, set()),
        ({"API_KEY": "/"}, {"INDEX_ROOT": "/usr/bin"}, set()),
        ({"USER": "somebody-1", "DB_PASSWORD": "somebody-1"}, {}, set()),
        ({"MACHINE_TOKEN": socket.gethostname()}, {}, set()),
    ],
)
def test_of_the_users_variables(
    variables: dict[str, str], given: dict[str, str], found: set[str]
) -> None:
    assert set(collect_secrets([EMPTY], given, [variables])) == found


def test_a_file_may_have_another_key_of_the_same_name() -> None:
    found = collect_secrets([], {}, [{"A_KEY": "of-here-1"}, {"A_KEY": "of-file-1"}])
    assert set(found) == {"of-here-1", "of-file-1"}


def test_of_words_of_the_command_line() -> None:
    words = ["http://me:pw-of-mine@host:1/x", "--level", "high-level", "--api-key=key-of-mine"]
    assert set(collect_secrets([], {}, [{}], words)) == {
        "me:pw-of-mine",
        "pw-of-mine",
        "key-of-mine",
    }


def test_of_the_servers_of_every_mode() -> None:
    """Ordinary values are none: names of tools and files in answers have them too."""
    env = {
        "LICENCE_KEY": "licence-1234",
        "MINE": MADE,
        "DIR": "src/flask",
        "OTHER": "${OTHER_KEY}",
        "ROOT": "{{ workspace }}",
    }
    env |= {"COLLECTION": "codebase", "MODEL": "text-embedding-3-small", "KIND": "constant"}
    env |= {"DATABASE": "postgres://me:pw-in-env@host/x"}
    headers = {"Authorization": "Bearer abc.def-123", "X": "Basic bWU6cHctb2YtbWluZQ=="}
    one = {"command": "x", "env": env, "args": ["--api-key", "key-in-args", "--level", "no-key-x"]}
    two = {"url": "http://me:pw-in-url@x/?token=token-in-url&q=no-key-y", "headers": headers}
    modes = [EMPTY.model_copy(update={"servers": {"server": server}}) for server in (one, two)]
    assert set(collect_secrets(modes, {}, [{}])) == {
        "licence-1234",
        MADE,
        "pw-in-env",
        "Bearer abc.def-123",
        "abc.def-123",
        "Basic bWU6cHctb2YtbWluZQ==",
        "bWU6cHctb2YtbWluZQ==",
        "pw-of-mine",
        "key-in-args",
        "me:pw-in-url",
        "pw-in-url",
        "token-in-url",
    }


def test_variables_that_a_mode_names_are_secrets() -> None:
    servers = {
        "one": {"command": "x", "args": ["--where", "${KEY}", "${HOME}/x", "${ABSENT}"]},
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
    found = collect_secrets([EMPTY.model_copy(update={"servers": servers})], {}, [variables])
    named = {"key-of-mine", "path-of-mine", "token-of-mine"}
    assert named <= set(found)
    assert not {"/home/of/me", "not-of-this-mode"} & set(found)


def test_variables_that_the_index_of_a_mode_names_are_secrets() -> None:
    prepare = Preparation(tool="build", arguments={"keys": [{"k": "x-${PART}"}], "at": "${HOME}"})
    variables = {"PART": "part-of-mine", "HOME": "/home/of/me", "UNNAMED": "not-of-this-mode"}
    found = collect_secrets([EMPTY.model_copy(update={"prepare": prepare})], {}, [variables])
    assert found == ("part-of-mine",)


def developers_environment(home: Path) -> dict[str, str]:
    """What stands in an ordinary one, without any key."""
    text = (Path(__file__).parent / "samples" / "developers_environment.txt").read_text()
    pairs = (line.partition("=") for line in text.replace("/home/ada", str(home)).splitlines())
    return {name: value for name, _, value in pairs}


def test_an_ordinary_environment_damages_no_answer(tmp_path: Path) -> None:
    for name in (".ssh/id_ed25519", ".Xauthority", ".config/gcloud/application_default.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    variables = developers_environment(tmp_path)
    assert len(variables) >= 60
    answer = "\n".join(
        f"{name} is {value}, as Ada Lovelace says" for name, value in variables.items()
    )
    hidden = collect_secrets([EMPTY], {}, [variables])
    assert hidden == ()
    assert clean_text(answer, hidden) == answer
    assert (
        clean_text(answer, collect_secrets([EMPTY], {}, [{**variables, "X_TOKEN": "x-1234567"}]))
        == answer
    )
