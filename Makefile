# Everything a newcomer needs is set up by the targets themselves. `make` alone lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
UV_VERSION := 0.13.9
UV := .state/uv/bin/uv
BIN := .venv/bin
# Processes that tests run in side by side, each with a local stack of its own (about 1 GB); 0: one after the other.
JOBS ?= 2
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/convoy
# Binaries of the servers that somebody has built already (*.xz with SHA256SUMS, linux/amd64). Where there are
# none, deploy/stack downloads or builds them.
PREBUILT ?= ../shared/tools

# A recipe that needs the servers' binaries starts with this.
define find_tools
if [ -z "$${CONVOY_TOOLS:-}" ] && [ -f $(PREBUILT)/SHA256SUMS ] && [ "$$(uname -sm)" = "Linux x86_64" ]; then \
	CONVOY_TOOLS="$$($(PYTHON) -m deploy.stack.unpack $(PREBUILT) $(CACHE)/prebuilt)"; export CONVOY_TOOLS; \
fi
endef

.PHONY: help demo test check cases bench format
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.synced ## see convoy work on real servers; stays up until Ctrl-C (ONCE=1: ends with one line of JSON)
	@$(find_tools); exec $(BIN)/python -m workers up $(if $(ONCE),--once)

test: .venv/.synced ## run every test on real servers (ARGS="-k name": some of them; JOBS=0: one after the other)
	@$(find_tools); $(BIN)/pytest -n $(JOBS) --dist loadfile $(ARGS)

check: .venv/.synced ## formatting, lint, types, layers, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m docs.check

cases: .venv/.synced ## run the case files of a folder (DIR=folder)
	@test -n "$(DIR)" || { echo "say which folder: make cases DIR=folder" >&2; exit 2; }
	@$(find_tools); CONVOY_CASES="$(abspath $(DIR))" $(BIN)/pytest tests/e2e/test_cases.py -q --no-header -rN $(ARGS)

bench: .venv/.synced ## measure, one line of JSON a benchmark (ONLY=name: one of them)
	@$(find_tools); $(BIN)/python -m bench $(ONLY)

format: .venv/.synced ## format the code and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The stamps hold what the environment was made from; uv lives apart, since a sync removes what is not locked.
.venv/.synced: pyproject.toml uv.lock $(UV)
	@echo "making a Python environment in .venv: once, and it takes some minutes"
	@UV_PYTHON_DOWNLOADS=never $(UV) sync --quiet --frozen --compile-bytecode --python $(PYTHON)
	@touch $@

$(UV): Makefile
	@echo "fetching uv $(UV_VERSION) into .state/uv: once"
	@$(PYTHON) -m venv .state/uv
	@.state/uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@
