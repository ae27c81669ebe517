PYTHON ?= python3
BIN := .venv/bin
LOWEST := .venv-lowest/bin
# what shows that a dependency still does its part: linear programs, rationals, engines, charts, the program itself
CORE := tests/certificate tests/model tests/numeric tests/table tests/auditing/test_run.py \
  $(addprefix tests/protection/test_,certificate.py least.py optimum.py run.py) \
  $(addprefix tests/cli/test_,audit.py commands.py plan.py protect.py release.py sml.py)
# how long `make fuzz` attacks
SECONDS ?= 120

.PHONY: demo test coverage fuzz lowest lint format types docs bench papers clean

demo: .venv/.runtime ## measure a mechanism, audit a table and protect it, explained step by step
	$(BIN)/python examples/demo.py

test: .venv/.dev ## the whole test suite, warnings are errors
	$(BIN)/python -m pytest -n 2

coverage: .venv/.dev ## the same, with coverage of src, which must be at least 95 %; takes nearly twice as long
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

fuzz: .venv/.dev ## damaged files of every kind against plain readers, for SECONDS
	PYTHONPATH=tests $(BIN)/python -m fuzz.run --seconds $(SECONDS)

lowest: .venv-lowest/.installed ## the suite's core on the lowest versions that pyproject.toml allows
	CI=true $(LOWEST)/python -m pytest -n 2 $(CORE)

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/.dev
	$(BIN)/mypy

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# not --quiet, which hides warnings from --strict too
docs: .venv/.docs ## the documentation, into site/; a broken link or a name without a page ends it
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

papers: .venv/.dev ## every figure, example and experiment of the five papers, into papers/gallery.html
	$(BIN)/python -m papers

bench: .venv/.dev ## every claim about speed, as a ratio measured in this run
	$(BIN)/python -m benchmarks

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.runtime: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[chart,table]'
	touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ .venv/.runtime

.venv/.docs: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

.venv-lowest/.installed: pyproject.toml
	$(PYTHON) -m venv --clear .venv-lowest
	$(LOWEST)/pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/uv pip install --quiet --python $(LOWEST)/python --resolution lowest-direct --editable '.[test]'
	touch $@

clean:
	rm -rf .venv .venv-lowest build dist site .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
