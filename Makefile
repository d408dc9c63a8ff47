# hcviz: `make app` starts the dashboard, `make check` runs the fast tests, `make test` runs all tests,
# `make docs` makes the documentation.
PORT ?= 5006
PYTHON := .venv/bin/python
# Python's own encoding of texts, whatever the locale, also in the tests.
export PYTHONUTF8 := 1

# Tests of the core and of the drawn tree that run a second time without the compiler, since plain Python must give the
# same results. Tests of speed, which have takes_less_than in their names, are left out.
PLAIN_TESTS := tests/test_tree.py tests/test_build.py tests/test_similarity.py \
  tests/test_oracle.py tests/test_linkage.py tests/test_metrics.py tests/test_ddt_density.py tests/test_ddt_legal.py tests/test_ddt_data.py \
  tests/test_ddt_latents.py tests/test_ddt_locations.py tests/test_ddt_sampler.py \
  tests/test_geometry.py tests/test_scene.py tests/test_alignment.py

.PHONY: app check test test-latest chaos fuzz lint docs bench clean

app:
	@tools/venv.sh
	@echo "hcviz: starting; open http://localhost:$(PORT) in about ten seconds (Ctrl-C stops it)"
	@echo "hcviz: the first start also compiles the methods, one or two minutes; the page shows how far it is"
	@$(PYTHON) -m panel serve app.py --warm --port $(PORT) --address 127.0.0.1 \
	  --allow-websocket-origin localhost:$(PORT) --allow-websocket-origin 127.0.0.1:$(PORT) \
	  --unused-session-lifetime 10000 --check-unused-sessions 4000

# All tests but the slow ones in tests/tiers.py, with one browser test.
check: lint
	@$(PYTHON) tools/chromium.py --install >/dev/null
	$(PYTHON) -m pytest -q -m "not slow" --ignore=tests/browser
	$(PYTHON) -m pytest -q -m "not slow" tests/browser

# Browser tests wait for the browser most of the time, so the library's tests run at the same time.
test: lint
	@echo "hcviz: browser tests with $$($(PYTHON) tools/chromium.py --install)"
	@$(PYTHON) tools/chromium.py >/dev/null
	@echo "hcviz: compiling the kernels"
	@$(PYTHON) -m hcviz warm
	@mkdir -p tests/artifacts; trap 'kill $$library' INT TERM; \
	( NUMBA_DISABLE_JIT=1 $(PYTHON) -m pytest -q $(PLAIN_TESTS) -k 'not takes_less_than'; \
	  plain=$$?; $(PYTHON) -m pytest --durations=40 --ignore=tests/browser; exit $$((plain | $$?)) \
	) >tests/artifacts/library.log 2>&1 & library=$$!; \
	{ $(PYTHON) -m pytest --durations=20 tests/browser; echo $$? >tests/artifacts/browser.exit; } \
	| tee tests/artifacts/browser.log; browser=$$(cat tests/artifacts/browser.exit); \
	echo "hcviz: the browser tests have ended; tests of the library:"; \
	wait $$library; library=$$?; cat tests/artifacts/library.log; \
	echo "hcviz: failures and numbers of passed tests, browser tests first:"; \
	grep -hE '^(FAILED|ERROR|[0-9]+ passed|=+ .*(passed|failed|error).* in )' \
	  tests/artifacts/browser.log tests/artifacts/library.log; exit $$((browser | library))

# The newest releases of the packages whose internals are used, in an environment of its own. The
# contract tests of these internals (hcviz/ui/compat) run first: a failure names what has changed.
LATEST := .venv-latest/bin/python
test-latest:
	@tools/latest.sh panel bokeh holoviews param numpy numba
	$(LATEST) -m pytest -q -x tests/test_compat.py tests/test_compat_sessions.py \
	  tests/test_message_batch.py tests/test_component_route.py
	$(LATEST) -m pytest -q -m "not slow" --ignore=tests/browser

# Random sequences of actions on a session: 1,000 of 60 actions each, about ten minutes. The tests
# have 60 shorter ones.
CHAOS := 1000
chaos:
	@tools/venv.sh test
	HCVIZ_CHAOS=$(CHAOS) $(PYTHON) -m pytest -q tests/test_session_sequences.py

# Damaged files for each reader, so many of each: hours with 100,000. The tests have a few seconds of
# it. The smallest files that show a fault are in tests/artifacts/fuzz.
FUZZ := 100000
fuzz:
	@tools/venv.sh test
	$(PYTHON) -W ignore -m tests.fuzz --cases $(FUZZ)

lint:
	@tools/venv.sh test
	@$(PYTHON) -m tools.method_names
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -m tools.docstrings
	$(PYTHON) -m tools.javascript
	.venv/bin/oxfmt --check 'hcviz/**/*.js'

# The documents of docs/ and the reference of the Python API as HTML, without the network.
docs:
	@tools/venv.sh docs
	@echo "hcviz: the first time, all notebooks run for the pages: some minutes"
	$(PYTHON) -m sphinx -q -W --keep-going -d build/docs/doctrees docs build/docs/html
	@echo "hcviz: build/docs/html/index.html"

bench:
	@tools/venv.sh test
	@for bench in benchmarks/*.py; do echo "== $$bench"; PYTHONPATH=. $(PYTHON) $$bench || exit 1; done

clean:
	rm -rf .venv .venv-latest build dist docs/_api docs/_made *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/artifacts
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
