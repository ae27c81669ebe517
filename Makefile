PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test coverage lint format types bench clean

demo: .venv/.runtime ## measure a mechanism and audit a table that ship with the project, explained step by step
	$(BIN)/python examples/demo.py

test: .venv/.dev ## the whole test suite, warnings are errors
	$(BIN)/python -m pytest -n 2

coverage: .venv/.dev ## the same, with coverage of src, which must be at least 95 %; takes nearly twice as long
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/.dev
	$(BIN)/mypy

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

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

clean:
	rm -rf .venv build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
