# Every target works on a fresh clone with only Python (3.11 or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2

.PHONY: demo test docs lint format reproduce clean

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow"

# The quick profile of every study, then docs/reproduction.md and docs/which-estimator.md; finished cells are not run again.
reproduce: $(STAMP)
	$(BIN)/python experiments run --profile quick --jobs $(WORKERS)
	$(BIN)/python experiments report
	$(BIN)/python experiments/peers/guide.py

# The site, in docs/_build/html; a warning is an error, so no link inside it is broken.
docs: $(VENV)/.docs-installed
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	touch $(STAMP)

$(VENV)/.docs-installed: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) docs/_build docs/api docs/gallery docs/reference.md docs/changes.md .pytest_cache .mypy_cache .ruff_cache demo-output
