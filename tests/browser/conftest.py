"""A real server and a real Chromium. An error of the page fails its test."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from hcviz.jobs.warming import warm_modules
from tests.browser.driving import ARTIFACTS, TIMEOUT, Server, Watch
from tests.conftest import ROOT
from tools import chromium

#: Root has no sandbox, and containers have little shared memory. The next options switch off the
#: browser's own requests, which the tests would count as the page's. The last one hides all other
#: hosts from it.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]

expect.set_options(timeout=TIMEOUT)

WINDOW = {"width": 1440, "height": 900}

#: How many times slower the processor of each page is: it finds tests that read a state too early.
SLOW_BROWSER = float(os.environ.get("HCVIZ_SLOW_BROWSER", "1"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


FAILED = pytest.StashKey[bool]()

Reporting = Generator[None, pytest.TestReport, pytest.TestReport]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Reporting:
    """Keep whether the test's own code failed, for the fixtures that end after it."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


def slow_down(page: Page) -> None:
    """Throttle the processor of a page."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOW_BROWSER})


def slow_down_all(browser: Browser) -> None:
    """Throttle every page of every context that a test makes."""
    make = browser.new_context

    def new_context(**options: Any) -> BrowserContext:
        context = make(**options)
        context.on("page", slow_down)
        return context

    browser.new_context = new_context  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.find()
    if path is None:
        pytest.fail(chromium.MISSING, pytrace=False)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        if SLOW_BROWSER > 1:
            slow_down_all(launched)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The dashboard, as ``make app`` serves it: with its kernels compiled beforehand."""
    warm_modules()
    started = Server(ROOT / "app.py")
    try:
        started.wait()
        yield started
    finally:
        started.stop()


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture(scope="session")
def shared_context(browser: Browser) -> Iterator[BrowserContext]:
    """The context of nearly all tests: the scripts in its cache save half of the time of a page."""
    made = browser.new_context(
        viewport=WINDOW,  # type: ignore[arg-type]
        accept_downloads=True,
        reduced_motion="reduce",  # positions are read: only test_motion lets the tree move
    )
    made.set_default_timeout(TIMEOUT)
    yield made
    made.close()


@pytest.fixture
def context(shared_context: BrowserContext, watch: Watch) -> Iterator[BrowserContext]:
    """The browser, as if it was started for the test: without pages, cookies and kept values."""
    origins: set[str] = set()

    def note(request: Request) -> None:
        origins.add("{0.scheme}://{0.netloc}".format(urlsplit(request.url)))

    end = watch.over_context(shared_context)
    shared_context.on("request", note)
    yield shared_context
    shared_context.remove_listener("request", note)
    for page in shared_context.pages:
        page.close()
    end()
    forget(shared_context, origins)
    assert not watch.faults, "\n".join(watch.faults)


def forget(context: BrowserContext, origins: set[str]) -> None:
    """Delete all that pages of these origins keep, but for the cache of files."""
    context.clear_cookies()
    context.clear_permissions()
    page = context.new_page()
    storage = context.new_cdp_session(page)
    for origin in sorted(origins):
        kept = {"origin": origin, "storageTypes": "local_storage,indexeddb,cache_storage"}
        storage.send("Storage.clearDataForOrigin", kept)
    page.close()


@pytest.fixture
def new_page(
    context: BrowserContext, watch: Watch, request: pytest.FixtureRequest
) -> Iterator[Callable[[], Page]]:
    """Makes pages (tabs). A screenshot of each is saved in tests/artifacts if the test failed."""
    yield context.new_page
    if not (watch.faults or request.node.stash.get(FAILED, False)):
        return
    ARTIFACTS.mkdir(exist_ok=True)
    for number, page in enumerate(context.pages):
        if not page.is_closed():
            name = request.node.name.translate(str.maketrans("[]/ ", "____"))
            page.screenshot(path=ARTIFACTS / f"{name}-{number}.png")


@pytest.fixture
def serve(context: BrowserContext, new_page: Callable[[], Page]) -> Iterator[Callable[..., Server]]:
    """Starts servers of the test's own: ``serve(app, args, log=, port=)``, ready to answer.

    The test's pages are closed before their servers end. Otherwise a page may log on its console
    that the server is lost.
    """
    started: list[Server] = []

    def start(*args: Any, **options: Any) -> Server:
        started.append(Server(*args, **options))
        started[-1].wait()
        return started[-1]

    yield start
    for page in context.pages:
        page.close()
    faults = [server.faults() for server in started]
    for server in started:
        server.stop()
    assert not any(faults), "\n".join(faults)


@pytest.fixture
def zoo_with_budget(
    serve: Callable[..., Server], new_page: Callable[[], Page], monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], Page]:
    """Opens Zoo on a server whose samplers run for up to so many seconds."""

    def open_page(seconds: int) -> Page:
        monkeypatch.setenv("HCVIZ_SECONDS", str(seconds))
        url = serve(ROOT / "app.py", log="budget.log").url
        made = new_page()
        made.goto(f"{url}?data=zoo")
        return made

    return open_page


@pytest.fixture
def blank(server: Server, new_page: Callable[[], Page]) -> Iterator[Page]:
    """An empty page for a test that opens an address of its own on the dashboard.

    The server's log must stay free of errors meanwhile.
    """
    before = server.log.stat().st_size
    yield new_page()
    assert not server.faults(before), server.faults(before)


@pytest.fixture
def page(server: Server, blank: Page) -> Page:
    """A page on the dashboard as it opens."""
    blank.goto(server.url)
    return blank
