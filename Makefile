# `make demo` and `make test` are the two commands; they set up what they need in .venv, with uv where it is there.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

ifneq ($(UV),)
  CREATE := uv venv --quiet --allow-existing --python $(PYTHON) $(VENV)
  INSTALL := uv pip install --quiet --python $(BIN)/python
else
  CREATE := $(PYTHON) -m venv $(VENV)
  INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

.PHONY: demo test test-agents test-frameworks test-deep check format bench bench-frameworks eval docs clean

demo: $(VENV)/.installed
	@examples/demo.sh $(BIN)/wheelspin

test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto

test-agents: $(VENV)/.test
	$(BIN)/python -m tests.agents.setup .venv-agents
	WHEELSPIN_AGENTS=$(CURDIR)/.venv-agents $(BIN)/python -m pytest tests/agents

test-frameworks: $(VENV)/.test
	$(BIN)/python -m tests.frameworks.run .venv-frameworks $(NAMES)

test-deep: $(VENV)/.test
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-columns=median,iqr,rounds --benchmark-sort=name
	$(BIN)/python -m benchmarks.ratios

bench-frameworks: $(VENV)/.test
	$(BIN)/python -m tests.frameworks.run .venv-frameworks $(NAMES) --bench

eval: $(VENV)/.installed
	$(BIN)/python -m evaluation $(OPTIONS)

docs: $(VENV)/.installed
	$(BIN)/python -m docs.make_detectors
	$(BIN)/python -m docs.make_outputs

clean:
	rm -rf $(VENV) .venv-agents .venv-eval .venv-frameworks

$(VENV)/.installed: pyproject.toml
	$(CREATE)
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.installed requirements/test.txt
	$(INSTALL) --requirement requirements/test.txt
	@touch $@

$(VENV)/.check: $(VENV)/.test requirements/check.txt
	$(INSTALL) --requirement requirements/check.txt
	@touch $@

$(VENV)/.bench: $(VENV)/.test requirements/bench.txt
	$(INSTALL) --requirement requirements/bench.txt
	@touch $@
