"""What counts as reaching where the answers are, and what does not."""

import shlex
from dataclasses import replace

import pytest

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.reach.outside import AnswerLocations, ForeignTools
from swarm_bench.retrieval.reach.targets import read_address
from tests.builders.golden import Sentences

ANSWERS = AnswerLocations(
    places={
        "/home/me/shop": "the original repository",
        "/home/me/shop/.venv/bin": None,
        "/home/me/shop/tmp/swarm-bench-1": None,
        "/home/me/shop/tmp/swarm-bench-1/snapshot.git": "the copy of another commit",
        "/srv/results": "the results of sessions",
        "/srv/tasks/mine.yaml": "the task file",
        "/app": "the application",
    },
    workspace="/home/me/shop/tmp/swarm-bench-1/repo/shop",
)
WORK = "/home/me/shop/tmp/swarm-bench-1"


def reached(*commands: str, paths: tuple[str, ...] = ()) -> str:
    outcome = Outcome(cause=Cause.FINISHED, commands=commands, paths=paths)
    return " ".join(ANSWERS.find_reached(outcome))


@pytest.mark.parametrize(
    "line",
    [
        "pwd; ls -la; git log --all",
        f"cat {WORK}/repo/shop/cart.py",
        f"cd {WORK}/repo/shop && grep -rn checkout .",
        "cd src && cat ../cart.py && ls ..",
        "cat /home/me/shopping/list.txt /home/me/shop.txt",
        "/home/me/shop/.venv/bin/python -m pytest -q",
        "ls ~ $HOME/notes; cat ~/.bashrc",
        "grep -rn '/home/me/shop' docs | head",
        "rg /app/orders src",
        "sed -n 's#/app/#/x/#p' routes.py",
        "curl http://localhost:8080/app/orders",
        "echo /home/me/shop; printf '%s' /srv/results",
        "python -c 'print(\"app/orders\")'",
        f"ls {WORK}/homes/1 ../..",
        "ls -lr /srv / /home; find / -maxdepth 1; grep key /home/me/*.txt",
        "find . .. -name '*.py' | xargs grep checkout; rg checkout ..; ls -R src",
        "cat /proc/self/cwd/cart.py /proc/cpuinfo; ls /proc/self/root/usr/lib",
    ],
)
def test_an_agent_in_its_own_workspace_is_no_suspect(line: str) -> None:
    assert reached(line) == ""


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("cat /home/me/shop/cart.py", "the original repository"),
        ("git -C /home/me/shop log -p", "the original repository"),
        ("git --git-dir=/home/me/shop/.git show HEAD", "the original repository"),
        ("cd /home/me/shop && git log", "the original repository"),
        ("cd /home/me; cat shop/cart.py", "the original repository"),
        ("bash -lc 'rg checkout /home/me/shop'", "the original repository"),
        ("ls ../../../..", "the original repository"),
        ("git clone file:///home/me/shop /tmp/x", "the original repository"),
        ("R=/home/me/shop; cat $R/cart.py", "the original repository"),
        ("python -c \"print(open('/home/me/shop/cart.py').read())\"", "the original repository"),
        ("git -C ../../snapshot.git log", "the copy of another commit"),
        ("cat src/../../../snapshot.git/HEAD", "the copy of another commit"),
        ("grep -r key /srv/results", "the results of sessions"),
        ("cat < /srv/tasks/mine.yaml", "the task file"),
        ("cat /home/*/sho?/cart.py", "the original repository"),
        ("cat /home/me/{shop,other}/cart.py", "the original repository"),
        ("find /home -name cart.py", "the original repository"),
        ("find /srv/tasks -type f -exec cat {} +", "the task file"),
        ("grep -rn checkout /home/me", "the original repository"),
        ("rg checkout /home", "the original repository"),
        ("ls -R /home/me", "the original repository"),
        ("cat /proc/self/root/home/me/shop/cart.py", "the original repository"),
        ("cat /proc/self/cwd/../../../../cart.py", "the original repository"),
        ("cat /proc/4711/cwd/cart.py", "the working folder of another process"),
        ("ls /proc/*/cwd/", "the working folder of another process"),
        (
            "echo /home/me/shop/.git/objects > .git/objects/info/alternates",
            "the original repository",
        ),
    ],
)
def test_a_command_that_leads_there_is_noted(line: str, what: str) -> None:
    assert f"It reached {what} (transcript)." in reached(line)


def test_what_tools_read_counts_and_each_place_is_named_once(golden: Sentences) -> None:
    paths = ("cart.py", f"{WORK}/repo/shop/a.py", "/home/me/shop/a.py", "/home/me/shop/b.py")
    golden(reached(paths=paths))
    assert reached(paths=paths[:2]) == ""
    assert AnswerLocations().find_reached(Outcome(cause=Cause.FINISHED, paths=paths)) == ()


def test_the_users_home_is_there_only_with_the_users_settings(golden: Sentences) -> None:
    outcome = Outcome(cause=Cause.FINISHED, commands=("cat ~/shop/cart.py",))
    home = AnswerLocations(places=ANSWERS.places, workspace=ANSWERS.workspace, home="/home/me")
    golden(*home.find_reached(outcome))
    assert ANSWERS.find_reached(outcome) == ()


SERVICE = read_address("http://127.0.0.1:3210")
REMOTE = read_address("https://mcp.example.org/mcp")
assert SERVICE
assert REMOTE
REACH = ForeignTools(
    programs={
        "canopy-mcp": "canopy",
        "canopy": "canopy",
        "codegraph": "codegraph",
        "@acme/codegraph": "codegraph",
        "mcp-server-shelf": "shelf",
        "/opt/shelf/server.py": "shelf",
        "swarm-bench.programs.canopy.mcp.server": "canopy",
    },
    addresses={SERVICE: "canopy-service", REMOTE: "far"},
    folders={".canopy": "canopy", ".codegraph": "codegraph"},
    tools={"canopy_query": "canopy"},
    canopy="canopy-service",
    workspace="/w/repo",
)
NOTHING = Outcome(cause=Cause.FINISHED)


def ran(line: str) -> tuple[str, ...]:
    return REACH.find_uses(replace(NOTHING, commands=(line,)))


HARMLESS = [
    "git status",
    "git add . ':!.canopy'",
    "git check-ignore .canopy/index.db",
    "node build.js",
    "node server.py",
    "npm run build && npm test",
    "python -m pytest tests/test_canopy.py",
    "python tools/server.py --help",
    "rg canopy src",
    "rg 'canopy-mcp' docs | head -5",
    "rg -A 3 '.canopy/' docs",
    "rg --glob '!.canopy/**' token",
    "rg -g '!.canopy' token .",
    "grep -rn canopy_query --include=*.rs",
    "grep -r token . --exclude-dir=.canopy",
    "grep -r token . --exclude-dir .canopy | grep -v .canopy/index",
    "cat docs/canopy.md",
    "cat .gitignore .canopyignore",
    "sed -n '/.canopy/p' .gitignore",
    "echo .canopy/ >> .gitignore",
    "rm -rf .canopy && mkdir -p .canopy/x",
    "ls -a",
    "ls -la .canopy/",
    "find . -not -path './.canopy/*' -name '*.py'",
    "find . -path ./.canopy -prune -o -type f -print",
    "fd -E .canopy token",
    "rsync -a --exclude .canopy/ . /tmp/copy",
    "which canopy-mcp; command -v codegraph",
    "man canopy-mcp",
    "curl localhost:3000",
    "curl -s http://127.0.0.1:32100/query",
    "curl -s http://localhost:8080/query?q=repo_size",
    "curl https://mcp.example.org/docs https://example.org:3210/",
    "rg 127.0.0.1:3210 docs",
    "git commit -m 'start canopy-mcp; codegraph serve'",
    "echo 'canopy-mcp --root .' # canopy-mcp",
    "echo '$(canopy-mcp)'",
    "cat > notes.md <<'EOF'\nRun this:\ncanopy-mcp --root .\ncat .canopy/index.db\nEOF",
    "python -c \"import os; print([f for f in os.listdir('.') if f not in ('.git', '.canopy')])\"",
    "python -c \"print([p for p in paths if not p.startswith('!.canopy/x')])\"",
    "python - <<'EOF'\nprint(open('docs/canopy-mcp.md').read())\nEOF",
    "for f in canopy codegraph; do echo $f; done",
    "test -d .canopy || echo none",
    "cargo build --release",
    "docker run --rm -v .:/w alpine ls",
    "npx prettier --check src",
    "uvx ruff check",
    "'unfinished \" quotes $(",
    "",
]


@pytest.mark.parametrize("line", HARMLESS)
def test_a_harmless_command_is_none(line: str) -> None:
    assert ran(line) == ()
    assert ran(f"bash -lc {shlex.quote(line)}") == ()
    assert REACH.find_uses(NOTHING, [("/bin/bash", "-c", line)]) == ()


STARTED = {
    "canopy-mcp": [
        "canopy-mcp --root /tmp/copy",
        "cp -r . /tmp/copy && cd /tmp/copy && echo '{}' | /home/me/.cargo/bin/canopy-mcp --root .",
        "bash -lc 'timeout 20 env A=1 canopy-mcp < request.json > answer.json'",
        "for d in a b; do canopy-mcp --root $d; done",
        'echo "$(canopy-mcp --version)"',
        "find . -name '*.json' -exec canopy-mcp {} \\;",
        "ls | xargs -n 1 canopy-mcp",
        "python -c \"import subprocess; subprocess.run(['/x/canopy-mcp', '--root', '.'])\"",
        "python - <<'EOF'\nimport subprocess\nsubprocess.run(['canopy-mcp'])\nEOF",
        "bash <<'EOF'\ncanopy-mcp --root .\nEOF",
        "cargo run --release --bin canopy-mcp -- --root .",
    ],
    "canopy": ["canopy query token", "nohup ./target/release/canopy index &"],
    "swarm-bench.programs.canopy.mcp.server": [
        "python3 -I -m swarm_bench.programs.canopy.mcp.server --root ."
    ],
    "codegraph": [
        "npx -y codegraph serve --mcp",
        "flock .git/c.lock sh -c '[ -e x ] || codegraph init >&2'; true",
    ],
    "@acme/codegraph": [
        "npx --yes @acme/codegraph@1.6 init",
        "node /home/me/node_modules/@acme/codegraph/dist/index.js serve",
    ],
    "mcp-server-shelf": [
        "uvx --from shelf mcp-server-shelf",
        "python -m mcp_server_shelf",
        "/venv/bin/python3 /venv/bin/mcp-server-shelf",
    ],
    "/opt/shelf/server.py": ["python3 -u /opt/shelf/server.py", "uv run /opt/shelf/server.py"],
}


@pytest.mark.parametrize(("name", "line"), [(n, line) for n in STARTED for line in STARTED[n]])
def test_a_program_counts_by_its_own_name_however_it_is_started(name: str, line: str) -> None:
    sentences = ran(line)
    assert any(f"started {name}, a program of" in sentence for sentence in sentences)
    assert all("(transcript)" in sentence for sentence in sentences)


def test_a_process_says_the_same_as_a_command_and_both_are_named(golden: Sentences) -> None:
    argv = ("/venv/bin/python3", "-I", "/venv/bin/canopy-mcp", "--root", ".")
    sentences = REACH.find_uses(NOTHING, [("sh", "-c", "sleep 1"), argv, argv])
    golden(*sentences)
    both = REACH.find_uses(replace(NOTHING, commands=("canopy-mcp",)), [argv])
    golden(*both)


@pytest.mark.parametrize(
    "line",
    [
        "curl -s localhost:3210/status",
        'curl -X POST http://127.0.0.1:3210/query -d \'{"pattern": "token"}\'',
        "URL=http://[::1]:3210; curl $URL/metrics",
        "wget -qO- 0.0.0.0:3210",
        "python -c \"import urllib.request as u; u.urlopen('http://localhost:3210/x')\"",
        "node -e 'fetch(\"http://localhost:3210/query\")'",
        "curl https://mcp.example.org/mcp/messages",
    ],
)
def test_an_address_of_another_mode_is_known_in_each_of_its_spellings(line: str) -> None:
    (sentence,) = ran(line)
    assert "asked at an address of" in sentence


@pytest.mark.parametrize(
    "line",
    [
        'curl -X POST localhost:9999/repos/add -d \'{"path": "/w/repo"}\'',
        'curl -X POST http://127.0.0.1:9999/query -d \'{"repo": "x", "pattern": "token"}\'',
        "http POST :9999 && curl http://localhost:9999/evidence_pack -d @body.json",
    ],
)
def test_a_service_of_canopy_is_known_by_its_requests_wherever_it_listens(line: str) -> None:
    said = " ".join(ran(line))
    assert "127.0.0.1:9999" in said
    assert "canopy-service" in said
    assert replace(REACH, canopy=None).find_uses(replace(NOTHING, commands=(line,))) == ()


@pytest.mark.parametrize(
    "line",
    [
        "sqlite3 /home/me/shop/.canopy/index.db 'select * from nodes'",
        "cat .canopy/config.toml",
        "strings ~/shop/.canopy/index.db | rg token",
        "cp -r /home/me/shop/.canopy .",
        "rg token /home/me/shop/.canopy",
        "cd /home/me/shop/.canopy && sqlite3 index.db .dump",
        "sqlite3 < /home/me/shop/.canopy/index.db",
        "tool --db=/home/me/shop/.canopy/index.db",
        "DB=/home/me/shop/.canopy/index.db; sqlite3 $DB",
        "python -c \"import sqlite3; sqlite3.connect('/home/me/shop/.canopy/index.db')\"",
        "python - <<'EOF'\nprint(Path('/x') / '.canopy' / 'index.db')\nEOF",
    ],
)
def test_an_index_that_is_read_counts(line: str) -> None:
    assert "It read .canopy, " in " ".join(ran(line))


def test_each_way_to_a_tool_has_a_sentence(golden: Sentences) -> None:
    lines = (
        "canopy-mcp",
        "curl localhost:3210/status",
        "curl -X POST localhost:9999/repos/add -d '{}'",
        "cat .canopy/config.toml",
    )
    golden(*(sentence for line in lines for sentence in ran(line)))


def test_paths_and_bare_names_of_tools_count(golden: Sentences) -> None:
    outcome = replace(
        NOTHING,
        paths=("docs/canopy.md", ".canopyignore", "/home/me/shop/.codegraph/codegraph.db"),
        tool_calls={"Read": 1, "canopy_query": 2, "mcp__canopy__canopy_query": 1, "bash": 1},
        tool_failures={},
    )
    golden(*REACH.find_uses(outcome))
    failed = replace(outcome, paths=(), tool_failures={"canopy_query": 2})
    assert REACH.find_uses(failed) == ()  # what is not there cannot be reached


def test_what_is_kept_is_bounded() -> None:
    lines = tuple(f"/x/{n}/canopy-mcp {'y' * 3_900}" for n in range(200))
    programs = {f"p{n}": "m" * 400 for n in range(100)}
    many = ForeignTools(programs=programs).find_uses(replace(NOTHING, commands=tuple(programs)))
    assert len(many) == 20
    assert max(map(len, many)) <= 300
    assert len(ran(";".join(lines))) == 1
