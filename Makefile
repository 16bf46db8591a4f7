# Everything sets itself up: a virtual environment in the clone, made once and renewed when
# pyproject.toml changes. Needed beforehand: Python 3.11 or newer, make, a network.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
JOBS ?= auto
PYTEST_ARGS ?=

BIN = $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench coverage pictures wheel clean

help: ## show what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: $(VENV)/.demo ## set up, and watch hooks at work in a real agent, offline
	@$(BIN)/boathook demo

test: $(VENV)/.dev ## set up, and run all tests in parallel
	$(BIN)/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

check: $(VENV)/.dev ## the static checks: types, lint, format
	$(BIN)/python -m mypy
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check

format: $(VENV)/.dev ## put the code into the project's format
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format

coverage: $(VENV)/.dev ## run all tests, and report what they reach
	$(BIN)/python -m pytest -n $(JOBS) --cov --cov-report=term

bench: $(VENV)/.dev ## measure against baselines of the same run, as a table of ratios
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python bench/run.py
	@$(BIN)/python bench/toolcalls.py
	@$(BIN)/python bench/leaks.py

pictures: $(VENV)/.dev ## draw the pictures of the docs anew, from the real programs
	@$(BIN)/python docs/pictures/draw.py

wheel: $(VENV)/.dev ## build the wheel and the source archive into dist/
	$(BIN)/python -m pip --quiet install build
	$(BIN)/python -m build

clean: ## remove what was made
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "Boathook needs Python 3.11 or newer; none was found. Try: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --quiet --disable-pip-version-check install --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.demo: pyproject.toml | $(VENV)/.python
	$(BIN)/python -m pip --quiet install -e '.[agent]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.python
	$(BIN)/python -m pip --quiet install -e '.[agent]' --group dev
	@touch $@ $(VENV)/.demo
