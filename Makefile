# Everything runs in .venv, made on first use. Another Python: make PYTHON=python3.12 …
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: arena test test-all coverage check docs pictures clean
.DELETE_ON_ERROR:

arena: .venv/installed
	@$(BIN)/python -m arena $(ARGS)

# All tests but those marked slow.
test: .venv/installed-test
	$(PYTEST) -m "not slow" $(ARGS)

# These, then the slow ones, then those that measure times, one at a time.
test-all:
	$(MAKE) test
	$(PYTEST) -m "slow and not alone" $(ARGS)
	$(BIN)/python -m pytest -m alone $(ARGS)

# The coverage of the quick tests.
coverage:
	$(MAKE) test ARGS="--cov --cov-report=term $(ARGS)"

check: .venv/installed-dev node_modules/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	npm run --silent check

docs: .venv/installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet && echo "the documentation is in site/"

# The pictures of README, by the commands that it shows; ARGS: the names of some, such as arena.svg.
pictures: .venv/installed-test
	$(BIN)/python -m tests.support.pictures $(ARGS)

clean:
	rm -rf .venv node_modules build dist site .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: nothing is installed again until what is to be installed changes.
.venv/installed: pyproject.toml constraints.txt | $(BIN)/pip
	@echo "installing nukidora into .venv …"
	@$(PIP_INSTALL) --editable ".[server]"
	@touch $@

.venv/installed-%: pyproject.toml constraints.txt | $(BIN)/pip
	@echo "installing nukidora and what $* needs into .venv …"
	@$(PIP_INSTALL) --editable ".[server,$*]"
	@touch $@ .venv/installed

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
