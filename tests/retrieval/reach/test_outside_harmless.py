"""Ordinary commands that name the tool of another mode, or its index, and reach neither."""

import shlex

import pytest

from tests.retrieval.reach.test_outside import ran

SCRIPT = """python3 - <<'EOF'
from pathlib import Path
skip = {'.git', '.canopy'}
for p in Path('.').rglob('*.py'):
    if Path('.canopy') in p.parents or '.canopy/x' in str(p):
        continue
    print(p.read_text().count('canopy-mcp'))
EOF"""
HARMLESS = [
    "python3 -c \"t = open('README.md').read(); print('canopy-mcp' in t)\"",
    "python3 -c \"import re; print(re.findall('canopy-mcp', open('README.md').read()))\"",
    "tokei -e .canopy",
    "zip -r out.zip . -x 'a/*' '.canopy/*'",
    "zip -x 'a/*' '.canopy/*'",
    "python3 -c \"EX=('.canopy/x', '.git'); print(EX)\"",
    "EX=(.git .canopy/x); ls",
    "EX=('.git' '.canopy/x'); rg token",
    "FIND_IGNORE=.canopy/* fd",
    "FIND_IGNORE='.canopy/*' fd token",
    "code --diff .canopy",
    "rg -n 'canopy-mcp|codegraph' --type py | head -20",
    "rg -l canopy-mcp | xargs sed -n '1,20p'",
    "git log -- .canopy",
    "git log --oneline -S canopy-mcp -- docs | cat",
    "git show HEAD:docs/canopy-mcp.md",
    "git grep -n canopy-mcp -- docs ':!.canopy'",
    "git grep -n '.canopy/' -- docs",
    "git diff --stat -- . ':(exclude).canopy'",
    "pip show canopy-mcp",
    "python3 -m pip show canopy_mcp",
    "npm ls @acme/codegraph",
    'p=$(which canopy-mcp) && echo "$p"',
    "ls -l $(which canopy-mcp)",
    "command -v canopy-mcp >/dev/null || echo missing",
    'if [ -n "$(command -v codegraph)" ]; then echo yes; fi',
    "printf '.canopy/\\n' >> .gitignore",
    "sed -i -e 's#^x$#.canopy/y#' .gitignore",
    "echo '.canopy/*' | tee -a .gitignore",
    "sed -n '1,80p' docs/canopy-mcp.md",
    "cat docs/canopy-mcp.md > /tmp/notes.md",
    "cp docs/canopy-mcp.md /tmp",
    "jq '.canopy' package.json",
    "yq e .canopy config.yml",
    "jq --arg x y .canopy config.json",
    'T=canopy-mcp; rg "$T" src',
    "cd docs && cat canopy-mcp.md",
    "find . -path '*/.canopy/*' -prune -o -name '*.py' -exec grep -l token {} +",
    "find . -name .canopy -exec rm -rf {} +",
    "find . -not -path '*/.canopy/*' -exec grep -l x {} +",
    "find . -not \\( -path './.canopy/*' -o -path './.git/*' \\) -exec wc -l {} +",
    "tar czf /tmp/x.tgz --exclude=.canopy/ .",
    "npx prettier --write . '!.canopy/**'",
    "docker exec web rg canopy-mcp /app",
    "sudo -u canopy ls",
    "env -u codegraph python3 -m pytest",
    "timeout 60 cargo test -p canopy-mcp",
    "watch -n 5 'rg -c canopy-mcp docs'",
    "parallel rg canopy-mcp ::: docs src",
    "nc -l 127.0.0.1 3210",
    "python3 -m http.server 8080",
    "(cd /opt/shelf && ls); python3 server.py",
    "pushd /opt/shelf; ls; popd; python3 server.py",
    "cat /opt/shelf/server.py | head",
    "cat /opt/shelf/server.py 2>/dev/null",
    "rg token /opt/shelf/server.py",
    "python3 -c \"import subprocess; print(subprocess.run(['rg', 'canopy-mcp', 'docs']))\"",
    "python3 -c \"import subprocess; subprocess.run('grep -rn canopy-mcp docs', shell=True)\"",
    "node -e \"console.log(/x/.exec('canopy-mcp'))\"",
    SCRIPT,
    "python3 -c \"print(Path('.canopy').exists(), Path('.canopy/index.db').exists())\"",
    'python3 -c "import canopy"',
    "python3 -c \"import json; print(json.load(open('package.json'))['canopy-mcp'])\"",
    "python3 -c \"import os; print(os.path.exists('.canopy/index.db'))\"",
    "rsync -a --exclude='.canopy/' ./ /tmp/x/",
    "grep -rn x . --exclude-dir={.git,.canopy}",
    "cargo build --release --bin canopy-mcp",
    "make canopy-mcp",
    "ruff check --extend-exclude .canopy/x",
    "diff -r -x .canopy a b",
    "ps aux | grep canopy-mcp",
    "pgrep -fl canopy-mcp",
    "lsof -i :3210",
    "ss -ltn | grep 3210",
    "sed -n '3210p' x.py",
    "head -3210 x",
    "pytest -k canopy-mcp",
    "gh search code canopy-mcp",
    "echo $(which canopy-mcp)",
    "file $(which canopy-mcp)",
    "git rm -r --cached .canopy",
    "time rg canopy",
    "type canopy-mcp",
    "whereis canopy-mcp",
    "brew info canopy",
    "apt-cache show canopy",
    "cargo search canopy-mcp",
    "git stash push -- .canopy",
    "npm view @acme/codegraph",
    "ls ~/.cargo/bin/canopy-mcp",
    "ls .canopy/ | wc -l",
    "pip download canopy-mcp",
    "cp src/canopy/x.py /tmp/canopy",
    "mv docs/canopy docs/old",
    "sqlite3 app.db '.tables'",
    "for p in canopy-mcp codegraph; do which $p; done",
    "IGNORED=.canopy/x rg token",
    'test -x "$(command -v canopy-mcp)"',
    "export P=canopy-mcp; echo $P",
    "date 0:3210",
]


@pytest.mark.parametrize("line", HARMLESS)
def test_a_name_alone_is_no_finding(line: str) -> None:
    assert ran(line) == ()
    assert ran(f"bash -lc {shlex.quote(line)}") == ()
