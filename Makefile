# Everything runs in .venv, made on first use. Another Python: make PYTHON=python3.12 …
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal
# Python compiles a module when it is first imported: what never is need not be.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt

.PHONY: arena test test-all test-long durations coverage check docs pictures clean
.DELETE_ON_ERROR:

arena: .venv/installed
	@$(BIN)/python -m arena $(ARGS)

# The quick tests.
test: MARKS ?= not slow and not long
test: .venv/installed-test
	$(PYTEST) -m "$(MARKS)" $(ARGS)

# These and the slow ones, together.
test-all:
	$(MAKE) test MARKS="not long"

# What takes an hour or needs a quiet machine, one test at a time: before a release, and after changes of what it tests.
test-long: .venv/installed-test
	$(BIN)/python -m tests.long_tests $(ARGS)

# Where the time of the quick and slow tests goes: by file, fixture and test.
durations: .venv/installed-test
	$(PYTEST) -p tests.support.durations -m "not long" $(ARGS)

# The coverage of the quick tests.
coverage:
	$(MAKE) test ARGS="--cov --cov-report=term $(ARGS)"

check: .venv/installed-dev node_modules/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy experiments
	npm run --silent check

# Not --quiet: MkDocs then ignores warnings, and --strict fails for none.
docs: .venv/installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict && echo "the documentation is in site/"

# The pictures of README, by the commands that it shows; ARGS: the names of some, such as arena.svg.
pictures: .venv/installed-test
	$(BIN)/python -m tests.support.pictures $(ARGS)

clean:
	rm -rf .venv node_modules build dist site .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What compiling needs is installed first (.venv/compiler): the first match is compiled while pip installs the rest.
FIRST_MATCH := arena.run agents.bots.efficiency agents.bert.encoding agents.bert.gumbel agents.bert.labels \
	agents.bert.symmetries

# Stamps: nothing is installed again until what is to be installed changes.
.venv/compiler: constraints.txt | $(BIN)/pip
	@echo "installing what compiles into .venv …"
	@$(PIP_INSTALL) numpy numba rich
	@touch $@

.venv/installed: pyproject.toml constraints.txt | .venv/compiler
	@echo "installing nukidora into .venv …"
	@$(BIN)/python -m engine.warm_up $(FIRST_MATCH) & compiling=$$!; \
		$(PIP_INSTALL) --editable ".[server]"; failed=$$?; wait $$compiling; exit $$failed
	@touch $@

.venv/installed-%: pyproject.toml constraints.txt | $(BIN)/pip
	@echo "installing nukidora and what $* needs into .venv …"
	@$(PIP_INSTALL) --editable ".[server,$*]"
	@touch $@ .venv/installed .venv/compiler

node_modules/installed: package.json package-lock.json
	@command -v npm >/dev/null || { echo "no npm found: the checks of server/web need Node.js and npm (apt-get install" \
		"nodejs npm)" >&2; exit 1; }
	@echo "installing what checks the JavaScript into node_modules …"
	@npm ci --silent --no-audit --no-fund
	@touch $@

$(BIN)/pip:
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON) found: name a Python 3.11 or newer, as in" \
		"make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "nukidora needs Python 3.11 or newer," \
		"$(PYTHON) is $$($(PYTHON) -V 2>&1): name another, as in make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv .venv
