"""Latency of the page, measured with clicks in a headless Chromium.

    python benchmarks/ui_latency.py [--sizes 100 500 2000] [--clicks 40] [--constraints 5] [--json]

tap: from pressing the mouse button on the canvas (time of the browser) to the end of the first
    animation frame with changed lines of the selection. Nothing is selected before.
constraint: from Enter, on a sentence that the page calls a correction, to the end of the first
    frame with a tree of the new run. The tree, and its description on the page, are then checked.
updates, bytes, frames, CPU: over some seconds of sampling without input. Server CPU is that of the
    thread that serves the page (Linux only), client CPU that of the page's main thread.
first picture: from the start of the navigation, in a new browser context, to the first tree.

Kernels are compiled before, and the first visit for each size is not counted. In the mode
``sampling`` the sampler ``ddt`` runs during the measurement; in the mode ``idle`` its run has
ended.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402

import hcviz  # noqa: E402
from benchmarks.ui_app import planted  # noqa: E402
from hcviz.jobs.warming import warm_modules  # noqa: E402
from hcviz.ui.tree import warm as warm_centre  # noqa: E402
from tests.browser.conftest import ARGUMENTS, WINDOW  # noqa: E402
from tests.browser.dashboard import DONE, Dashboard  # noqa: E402
from tests.browser.driving import Server, column, pixel, ranges, wait_for  # noqa: E402
from tools import chromium  # noqa: E402

FOREVER = 10**9

#: Script that counts messages of the socket, and records when the figures change. A change's time
#: is the end of the next animation frame, after all callbacks of this frame.
METER = """
(() => {
  const meter = window.hcMeter = {
    bytes: 0, frames: 0, down: 0, enter: 0, taps: [], trees: [], long: []
  }
  const Plain = window.WebSocket
  window.WebSocket = class extends Plain {
    constructor(...given) {
      super(...given)
      this.addEventListener("message", ({data}) => {
        meter.frames += 1
        meter.bytes += typeof data === "string" ? data.length : data.byteLength ?? data.size
      })
    }
  }
  const drawn = (call) => requestAnimationFrame(() => {
    const {port1, port2} = new MessageChannel()
    port1.onmessage = () => call(performance.now())
    port2.postMessage(0)
  })
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) meter.long.push(task.duration)
  }).observe({type: "longtask"})
  window.addEventListener("pointerdown", (event) => { meter.down = event.timeStamp }, true)
  window.addEventListener("keydown", (event) => {
    if (event.key === "Enter") meter.enter = event.timeStamp
  }, true)
  const watch = () => {
    const page = window.Bokeh?.documents?.[0]
    const lines = page?.get_model_by_name("tree-lines")
    const selection = page?.get_model_by_name("selection-lines")
    if (!lines || !selection) return void requestAnimationFrame(watch)
    let bar = null
    const run = () => {
      bar ??= [...page._all_models.values()].find((m) => m.data?.live?.includes('"run":'))
      return bar ? JSON.parse(bar.data.live).run : -1
    }
    const tree = () => {
      if (lines.data.x.length <= 3) return
      const entry = {run: run(), at: null}
      meter.trees.push(entry)
      drawn((now) => { entry.at = now })
    }
    lines.properties.data.change.connect(tree)
    const selected = () => {
      if (!meter.down || !selection.data.x.length) return
      const down = meter.down
      meter.down = 0
      drawn((now) => meter.taps.push(now - down))
    }
    selection.properties.data.change.connect(selected)
    selection.change.connect(selected)  // the browser's own, before the server's answer
    tree()
  }
  watch()
})()
"""


@dataclass
class Row:
    """One line of the table, with times in ms; None for values that were not measured."""

    data: str
    mode: str
    tap: float | None = None
    tap95: float | None = None
    tap_kb: float | None = None
    clicks: int = 0
    missed: int = 0
    updates: float | None = None
    kilobytes: float | None = None
    frames: float | None = None
    server: float | None = None
    client: float | None = None
    longest: float | None = None
    constraint: float | None = None
    constraint_worst: float | None = None
    first: float | None = None
    first_worst: float | None = None


class Bench:
    """Measures with a server and a browser."""

    def __init__(self, browser: Browser, server: Server, options: argparse.Namespace) -> None:
        self.browser, self.server, self.options = browser, server, options
        self.random = random.Random(0)

    @contextmanager
    def visit(self, **query: Any) -> Iterator[Page]:
        """Open a page with the script and a tree, in a new browser context."""
        context = self.browser.new_context(viewport=WINDOW, accept_downloads=True)  # type: ignore[arg-type]
        context.add_init_script(METER)
        page = context.new_page()
        page.goto(f"{self.server.url}?{urlencode(query)}")
        wait_for(page, "() => hcMeter.trees.some((tree) => tree.at !== null)")
        try:
            yield page
        finally:
            context.close()

    # ------------------------------------------------------------------ one measurement each

    def first_picture(self, row: Row, query: dict[str, Any]) -> None:
        times = []
        for _ in range(self.options.visits + 1):
            with self.visit(**query) as page:
                times.append(page.evaluate("() => hcMeter.trees.find((t) => t.at !== null).at"))
        row.first, row.first_worst = statistics.median(times[1:]), max(times[1:])

    def taps(self, page: Page, row: Row) -> None:
        times: list[float] = []
        sizes: list[int] = []
        for _ in range(self.options.clicks):
            page.keyboard.press("Escape")
            wait_for(page, "() => !Bokeh.documents[0].get_model_by_name('selection-lines').data.x"
                           ".length")  # fmt: skip
            page.wait_for_timeout(self.random.uniform(100, 300))
            left, _, start, end = ranges(page, "tree")
            at = pixel(
                page, "tree",
                left * self.random.uniform(0.3, 0.9), start + (end - start) * self.random.random(),
            )  # fmt: skip
            page.evaluate("() => { hcMeter.taps = []; hcMeter.down = 0; hcMeter.bytes = 0 }")
            page.mouse.click(*at)
            try:
                page.wait_for_function("() => hcMeter.taps.length", timeout=5_000)
                times.append(page.evaluate("() => hcMeter.taps[0]"))
                page.wait_for_timeout(150)  # for the server's reply
                sizes.append(page.evaluate("() => hcMeter.bytes"))
            except Exception:
                row.missed += 1
        page.keyboard.press("Escape")
        row.clicks, row.tap = len(times), statistics.median(times)
        row.tap95 = statistics.quantiles(times, n=20)[-1]
        row.tap_kb = statistics.median(sizes) / 1e3

    def stream(self, page: Page, row: Row) -> None:
        page.mouse.move(2, 2)
        page.wait_for_timeout(700)
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable")

        def now() -> tuple[float, ...]:
            page.evaluate("() => { hcMeter.long = [] }") if not seen else None
            counts = page.evaluate("() => [hcMeter.trees.length, hcMeter.bytes, hcMeter.frames]")
            metrics = devtools.send("Performance.getMetrics")["metrics"]
            task = next(m["value"] for m in metrics if m["name"] == "TaskDuration")
            return (time.perf_counter(), *counts, task, thread_seconds(self.server.process.pid))

        seen: list[tuple[float, ...]] = []
        seen.append(now())
        page.wait_for_timeout(1000 * self.options.seconds)
        seen.append(now())
        took, trees, size, frames, client, served = (b - a for a, b in zip(*seen, strict=True))
        devtools.detach()
        count = max(trees, 1)
        row.updates, row.kilobytes, row.frames = trees / took, size / count / 1e3, frames / count
        row.client, row.server = 1e3 * client / count, 1e3 * served / count
        row.longest = page.evaluate("() => Math.max(0, ...hcMeter.long)")

    def constraints(self, page: Page, row: Row, labels: tuple[str, ...], settled: bool) -> None:
        dashboard, times = Dashboard(page), []
        while len(times) < self.options.constraints:
            if settled:
                expect(page.locator(".hc-bar .status")).to_have_text(DONE)
            constraint = self._state(page, dashboard)
            if constraint is None:
                continue
            before = page.evaluate("() => hcMeter.trees.at(-1).run")
            page.keyboard.press("Enter")
            found = f"hcMeter.trees.find((tree) => tree.run > {before} && tree.at !== null)"
            wait_for(page, f"() => {found}")
            times.append(page.evaluate(f"() => {found}.at - hcMeter.enter"))
            self._check(page, dashboard, labels, constraint)
        row.constraint, row.constraint_worst = statistics.median(times), max(times)

    def _state(self, page: Page, dashboard: Dashboard) -> tuple[str, str, str] | None:
        """Write, but do not apply, a constraint: two distant items together, a neighbour apart."""
        dashboard.press("Escape", "t")
        expect(page.locator("[data-key=together]")).to_have_attribute("aria-pressed", "true")
        page.wait_for_timeout(200)  # until the layout does not change any more
        rows = column(page, "label-text", "y")
        names = [
            name for _, name in sorted(zip(rows, column(page, "label-text", "text"), strict=True))
        ]
        k = self.random.randrange(len(names) - 1)
        a, c, b = names[k], names[k + 1], names[(k + len(names) // 2) % len(names)]
        try:
            for name in (a, b):
                dashboard.click_label(name)
                expect(page.locator(".hc-constraints .statement")).to_contain_text(name)
            dashboard.press("o")
            expect(page.locator(".hc-constraints .statement")).to_contain_text("odd one out")
            dashboard.click_label(c)
        except ValueError:  # the label of a selected item has replaced this label
            return None
        expect(dashboard.verdict).to_be_visible()
        return (a, b, c) if "correction" in dashboard.verdict.inner_text() else None

    def _check(
        self,
        page: Page,
        dashboard: Dashboard,
        labels: tuple[str, ...],
        constraint: tuple[str, str, str],
    ) -> None:
        """Check that the page and the saved tree agree that the constraint is satisfied."""
        last = (
            dashboard.constraints.filter(has_text=constraint[0]).filter(has_text=constraint[2]).last
        )
        expect(last.locator(".tag")).to_have_text("satisfied")
        tree = hcviz.Tree.from_newick(dashboard.newick(), list(labels))
        if not tree.satisfies([[labels.index(name) for name in constraint]])[0]:
            raise SystemExit(f"The tree shown does not satisfy {constraint}.")
        page.locator("body").press("Escape")

    # ------------------------------------------------------------------ the table's rows

    def size(self, n: int) -> list[Row]:
        idle, sampling = Row(f"{n}", "idle"), Row(f"{n}", "sampling")
        ended = {"n": n, "params": json.dumps({"steps": n})}
        endless = {"n": n, "params": json.dumps({"steps": FOREVER})}
        self.first_picture(sampling, endless)
        with self.visit(**ended) as page:
            expect(page.locator(".hc-bar .status")).to_have_text(DONE)
            page.wait_for_timeout(1500)
            self.taps(page, idle)
        with self.visit(**endless) as page:
            page.wait_for_timeout(1500)
            self.stream(page, sampling)
            self.taps(page, sampling)
            self.constraints(page, sampling, planted(n).labels, settled=False)
        return [idle, sampling]

    def large(self, n: int) -> list[Row]:
        """Measure a tree of active-spectral, with similarities computed on request."""
        row = Row(f"{n}", "active-spectral")
        with self.visit(n=n, method="active-spectral") as page:
            row.first = page.evaluate("() => hcMeter.trees.find((t) => t.at !== null).at")
            expect(page.locator(".hc-bar .status")).to_have_text(DONE, timeout=600_000)
            page.wait_for_timeout(1500)
            self.taps(page, row)
        return [row]

    def zoo(self) -> list[Row]:
        row = Row("Zoo", "as it comes")
        self.first_picture(row, {"data": "zoo"})
        with self.visit(data="zoo") as page:
            self.constraints(page, row, hcviz.datasets.load("zoo").labels, settled=True)
        return [row]


def thread_seconds(pid: int) -> float:
    """Return CPU seconds of a process's first thread; NaN without /proc."""
    try:
        fields = (
            Path(f"/proc/{pid}/task/{pid}/stat")
            .read_text(encoding="utf-8")
            .rsplit(")", 1)[1]
            .split()
        )
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


COLUMNS = (
    ("items", "data"), ("sampler", "mode"), ("tap ms", "tap"), ("p95", "tap95"),
    ("kB/tap", "tap_kb"),
    ("updates/s", "updates"), ("kB/update", "kilobytes"), ("frames", "frames"),
    ("server ms", "server"), ("client ms", "client"), ("longest task", "longest"),
    ("constraint ms", "constraint"), ("worst", "constraint_worst"),
    ("first picture ms", "first"), ("worst ", "first_worst"),
)  # fmt: skip


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [" | ".join(title.strip() for title, _ in COLUMNS), " | ".join("---" for _ in COLUMNS)]
    lines += [" | ".join(_cell(getattr(row, name)) for _, name in COLUMNS) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:.1f}" if value < 20 else f"{value:.0f}"


def machine() -> dict[str, Any]:
    """Return a description of this machine."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 500, 2000])
    parser.add_argument("--large", type=int, nargs="*", default=[10_000])
    parser.add_argument("--clicks", type=int, default=40, help="for each size, idle and sampling")
    parser.add_argument("--constraints", type=int, default=5, help="for each size")
    parser.add_argument("--visits", type=int, default=3, help="visits for the first picture")
    parser.add_argument("--seconds", type=float, default=8, help="of sampling without input")
    parser.add_argument("--no-zoo", action="store_true", help="leave the Zoo animals out")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    path = chromium.find()
    if path is None:
        raise SystemExit(chromium.MISSING)
    warm_modules()
    warm_centre()
    before = machine()
    server = Server(ROOT / "benchmarks" / "ui_app.py", log="ui_latency.log")
    rows: list[Row] = []
    try:
        server.wait()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
            bench = Bench(browser, server, options)
            if not options.no_zoo:
                rows += bench.zoo()
            for n in options.sizes:
                rows += bench.size(n)
            for n in options.large:
                rows += bench.large(n)
            version = browser.version
            browser.close()
    finally:
        server.stop()
    about = {**before, "load at the end": machine()["load"], "chromium": version}
    if options.json:
        print(json.dumps({"machine": about, "rows": [asdict(row) for row in rows]}, indent=2))
        return
    print(table(rows))
    print("\n" + ", ".join(f"{name} {value}" for name, value in about.items()))
    if any(row.missed for row in rows):
        print(f"Clicks without effect within 5 s: {sum(row.missed for row in rows)}.")


if __name__ == "__main__":
    main()
