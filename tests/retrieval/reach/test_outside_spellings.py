"""The same reach in the many ways in which a shell or a script can write it."""

import time

import pytest

from tests.retrieval.reach.test_outside import ran

WRAPPED = [
    "env -u X canopy-mcp",
    "env -C d canopy-mcp",
    "env -S 'canopy-mcp --root .'",
    "sudo -u b canopy-mcp",
    "sudo -Eu b canopy-mcp",
    "timeout -s KILL 5 canopy-mcp",
    "timeout --signal KILL 5 canopy-mcp",
    "timeout $T canopy-mcp",
    "stdbuf -o L canopy-mcp",
    "stdbuf -oL canopy-mcp",
    "xargs -a f canopy-mcp",
    "xargs -I {} canopy-mcp {}",
    "time -p canopy-mcp",
    "time canopy-mcp",
    "nice -n 5 canopy-mcp",
    "nice canopy-mcp",
    "script -qc 'canopy-mcp --root .' /dev/null",
    "script -q /dev/null canopy-mcp",
    "strace -f -o log canopy-mcp",
    "strace -e trace=open canopy-mcp",
    "strace -eopen canopy-mcp",
    "watch -n 5 canopy-mcp",
    "watch 'canopy-mcp --root .'",
    "parallel canopy-mcp --root ::: a b",
    "parallel -j 4 'canopy-mcp --root {}' ::: a",
    "parallel ::: 'canopy-mcp --root .'",
    "coproc canopy-mcp",
    "coproc NAME { canopy-mcp; }",
    "chroot /x canopy-mcp",
    "unshare -r canopy-mcp",
    "systemd-run --user --pty canopy-mcp",
    "systemd-run -p X=1 canopy-mcp",
    "docker exec -it web canopy-mcp",
    "docker exec -w /x web bash -c 'canopy-mcp'",
    "docker compose exec web canopy-mcp",
    "podman exec web canopy-mcp",
    "su - bob -c canopy-mcp",
    "bash -o pipefail -c 'canopy-mcp'",
    "bash -euo pipefail -c canopy-mcp",
    "bash -ce canopy-mcp",
    "ionice -c 3 canopy-mcp",
    "exec -a x canopy-mcp",
]
QUOTED = [
    '"can"opy-mcp',
    "can\\opy-mcp",
    "c''anopy-mcp --root .",
    "bash -c $'canopy-mcp --root .\\n'",
    "$(which canopy-mcp) --root .",
    "`which canopy-mcp` --root .",
    '"$(command -v canopy-mcp)" --root .',
    "P=canopy-mcp; $P",
    'P=canopy-mcp; "$P" --root .',
    "P='canopy-mcp --root .'; timeout 5 $P",
    'C=(canopy-mcp --root .); "${C[@]}"',
    "P=$(which canopy-mcp); $P",
    "export P=~/.cargo/bin/canopy-mcp && ${P} x",
    "bash -c 'P=canopy-mcp; $P'",
]
SCRIPTS = [
    "cd /opt/shelf && python3 server.py",
    "cd /opt && cd shelf && ./server.py",
    "python3 /opt/shelf/../shelf/server.py",
    "(cd /opt/shelf; python3 server.py)",
    "bash -c 'cd /opt/shelf && timeout 5 python3 server.py'",
    "python3 -mcanopy_mcp",
    "python3 -Imcanopy_mcp",
    "python3 -m runpy canopy_mcp",
    "python3 -m cProfile -m canopy_mcp",
    "python3 -c 'import canopy_mcp'",
    "python3 -m canopy_mcp.server --stdio",
    "python3 -c 'from canopy_mcp.server import main; main()'",
    "python3 -c 'import sys; from canopy_mcp import main; main()'",
    "python3 -c \"import runpy; runpy.run_path('/opt/shelf/server.py')\"",
    "S=/opt/shelf/server.py; python3 $S",
]
IN_CODE = [
    "python3 -c \"import os; os.system('canopy-mcp --root .')\"",
    "node -e \"require('child_process').execSync('canopy-mcp --root .')\"",
    "node -e \"const cp=require('child_process'); cp.spawn('python3', ['-m','canopy_mcp'])\"",
    "python3 -c \"from subprocess import Popen; cmd=['canopy-mcp','--root']; Popen(cmd)\"",
    "python3 -c \"import os; os.execvp('canopy-mcp',['canopy-mcp'])\"",
    "ruby -e 'system \"canopy-mcp\"'",
    "perl -e 'exec(\"canopy-mcp\")'",
    "python3 -c \"__import__('subprocess').run('cd x && canopy-mcp', shell=True)\"",
    "python3 -c \"import asyncio; asyncio.create_subprocess_exec('canopy-mcp', '--root')\"",
    "python3 -c \"subprocess.Popen(args=['canopy-mcp'])\"",
]
COPIES = [
    "cp /opt/shelf/server.py /tmp/x.py",
    "cp $(which canopy-mcp) /tmp/x",
    "ln -s ~/.cargo/bin/canopy-mcp x",
    "install -m 755 target/release/canopy-mcp /tmp/x",
    "cat /opt/shelf/server.py > x.py",
    "cd /opt/shelf && cp server.py /tmp/y.py",
]
ADDRESSES = [
    "nc 127.0.0.1 3210 < req",
    "nc -w 3 localhost 3210",
    "telnet localhost 3210",
    "socat - TCP:localhost:3210",
    "exec 3<>/dev/tcp/127.0.0.1/3210",
    "echo x > /dev/tcp/localhost/3210",
    "cat < /dev/tcp/localhost/3210",
    "bash -c 'echo >&/dev/tcp/127.1/3210'",
    "http :3210/query",
    "http POST :3210",
    "curl 127.1:3210",
    "curl http://0:3210/x",
    "curl 0:3210",
    "curl http://2130706433:3210",
    "curl 0x7f000001:3210/x",
    "curl http://[::ffff:127.0.0.1]:3210/",
    "curl http://foo.localhost:3210/",
    "python3 -c \"import socket; s=socket.create_connection(('127.0.0.1', 3210))\"",
    "python3 -c \"import http.client as h; h.HTTPConnection('localhost', 3210)\"",
    "python3 -c \"import socket; s=socket.socket(); s.connect(('localhost',3210))\"",
]
INDEXES = [
    "python3 -c \"import glob; print(glob.glob('.canopy/*'))\"",
    "python3 -c \"from pathlib import Path; print(list(Path('.canopy').iterdir()))\"",
    "python3 -c \"from pathlib import Path; print((Path('.canopy') / x).read_text())\"",
    "python3 -c \"from pathlib import Path; print(Path('.canopy/x').read_text())\"",
    "git grep x -- .canopy",
    "git show HEAD:.canopy/index.db",
    "git -C /x show HEAD:.canopy/a",
    "git cat-file -p HEAD:.canopy/a",
    "find . -path '*/.canopy/*' -exec cat {} +",
    "find . -path '*/.canopy/*' -exec sh -c 'cat \"$1\"' _ {} \\;",
    "python3 -c \"db='/x/.canopy/index.db'; import sqlite3; sqlite3.connect(db)\"",
    "python3 -c \"import subprocess; subprocess.run(['cat', '.canopy/index.db'])\"",
    "DB=/x/.canopy/i.db; python3 - \"$DB\" <<'EOF'\nprint(1)\nEOF",
    'perl -e \'open(F, "<", ".canopy/x")\'',
]
HOSTILE = [
    "run('",
    "run([",
    "run('a',",
    "$(",
    "[\n",
    "=  (",
    "<<run([!",
    "A='$A",
    "cd a;",
    "(",
    "`which ",
]


@pytest.mark.parametrize("line", [*WRAPPED, *QUOTED, *IN_CODE])
def test_a_program_is_known_behind_others_in_quotes_and_in_code(line: str) -> None:
    assert "It started canopy-mcp, " in " ".join(ran(line))


@pytest.mark.parametrize("line", SCRIPTS)
def test_a_script_or_module_is_known_from_wherever_it_is_started(line: str) -> None:
    assert "It started " in " ".join(ran(line))


@pytest.mark.parametrize("line", COPIES)
def test_a_copy_of_a_program_counts(line: str) -> None:
    assert "It copied " in " ".join(ran(line))


@pytest.mark.parametrize("line", ADDRESSES)
def test_an_address_is_known_however_it_is_written(line: str) -> None:
    said = " ".join(ran(line))
    assert "It asked at " in said
    assert "canopy-service" in said


@pytest.mark.parametrize("line", INDEXES)
def test_an_index_is_known_however_it_is_opened(line: str) -> None:
    assert "It read .canopy," in " ".join(ran(line))


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("start", ["canopy-mcp 3210 .canopy/ ", "python3 <<E\n.canopy/ 3210 "])
def test_a_hostile_line_is_read_in_bounded_time(start: str, piece: str) -> None:
    begin = time.monotonic()
    ran((start + piece * 4_000)[:4_000])
    assert time.monotonic() - begin < 3
