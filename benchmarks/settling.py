"""Time until the supports on the page have settled, beside ``hcviz.sample`` on the same data.

    python -m benchmarks.settling [--data zoo iris] [--planted 600] [--table FILE] [--visits 3]

The page's time is from the first picture of the diffusion tree, in a headless Chromium on the same
machine, to the state "Done" of its run. A run ends when its supports have settled, or after its
budget of seconds; the last column says how accurate the supports then are. ``hcviz.sample`` runs
in a process of its own between two visits.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.ui_latency import METER, ROOT, machine
from hcviz.jobs.warming import warm_modules
from hcviz.ui.tree import warm as warm_centre
from tests.browser.conftest import ARGUMENTS, WINDOW
from tests.browser.dashboard import DONE, Dashboard
from tests.browser.driving import Server, wait_for
from tools import chromium

SAMPLE = """
import json, sys, time
import hcviz
from benchmarks.ui_app import planted
kind, name, seed = sys.argv[1:]
data = {"data": hcviz.datasets.load, "table": hcviz.read_table, "n": lambda n: planted(int(n))}
problem = data[kind](name).problem()
hcviz.sample(problem, seconds=0.5)
begin = time.perf_counter()
posterior = hcviz.sample(problem, seed=int(seed))
print(json.dumps([time.perf_counter() - begin, posterior.accuracy, posterior.settled]))
"""


def sampled(kind: str, name: str, seed: int) -> list[Any]:
    """Return wall seconds of ``hcviz.sample``, the accuracy, and whether it has settled."""
    out = subprocess.run(
        [sys.executable, "-c", SAMPLE, kind, name, str(seed)],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    result: list[Any] = json.loads(out.stdout)
    return result


def visited(browser: Browser, server: Server, kind: str, name: str) -> list[Any]:
    """Return wall seconds from the first picture to "Done", and the page's sentence."""
    context = browser.new_context(viewport=WINDOW)  # type: ignore[arg-type]
    context.add_init_script(METER)
    page = context.new_page()
    try:
        if kind == "table":
            return _opened(page, server, Path(name))
        page.goto(f"{server.url}?{urlencode({kind: name})}")
        return _timed(page, -1)
    finally:
        context.close()


def _opened(page: Page, server: Server, table: Path) -> list[Any]:
    page.goto(f"{server.url}?data=zoo&method=average")
    dashboard = Dashboard(page).settle()
    dashboard.open("Table of features…", table)
    dashboard.settle()
    before = page.evaluate("() => hcMeter.trees.at(-1).run")
    dashboard.choose("method", "ddt")
    return _timed(page, before)


def _timed(page: Page, before: int) -> list[Any]:
    first = f"hcMeter.trees.find((tree) => tree.run > {before} && tree.at !== null)"
    wait_for(page, f"() => {first}")
    expect(page.locator(".hc-bar .status")).to_have_text(DONE, timeout=300_000)
    seconds = page.evaluate(f"() => (performance.now() - {first}.at) / 1000")
    return [seconds, page.locator(".hc-inspector .accuracy").first.inner_text().split("\n")[0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", nargs="*", default=["zoo", "iris"])
    parser.add_argument("--planted", nargs="*", default=[], help="numbers of planted items")
    parser.add_argument("--table", nargs="*", default=[], help="files with a table")
    parser.add_argument("--visits", type=int, default=3)
    options = parser.parse_args()
    os.environ["HCVIZ_SECONDS"] = "20"  # the page's default; the tests have another one
    path = chromium.find()
    if path is None:
        raise SystemExit(chromium.MISSING)
    warm_modules()
    warm_centre()
    print(json.dumps(machine()))
    print("| data | page s | hcviz.sample s | ratio of medians | page |\n" + "| --- " * 5 + "|")
    server = Server(ROOT / "benchmarks" / "ui_app.py", log="settling.log")
    tasks = [("data", name) for name in options.data]
    tasks += [("n", name) for name in options.planted]
    tasks += [("table", name) for name in options.table]
    try:
        server.wait()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
            for kind, name in tasks:
                visited(browser, server, kind, name)  # loads kernels, not counted
                pages, samples = [], []
                for seed in range(options.visits):
                    pages.append(visited(browser, server, kind, name))
                    samples.append(sampled(kind, name, seed))
                print(_row(Path(name).stem, pages, samples), flush=True)
            browser.close()
    finally:
        server.stop()


def _row(name: str, pages: list[list[Any]], samples: list[list[Any]]) -> str:
    here, beside = ([float(found[0]) for found in runs] for runs in (pages, samples))
    ratio = statistics.median(here) / statistics.median(beside)
    seconds = [", ".join(f"{s:.1f}" for s in runs) for runs in (here, beside)]
    return f"| {name} | {seconds[0]} | {seconds[1]} | {ratio:.1f} | {pages[-1][1]} |"


if __name__ == "__main__":
    main()
