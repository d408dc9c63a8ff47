"""Each test finds the browser as if it was started for it, though the cache of files is kept."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from tests.browser.conftest import forget

KEEP = """async () => {
  localStorage.setItem("a", "b")
  document.cookie = "a=b"
  await caches.open("a")
  await new Promise(done => { indexedDB.open("a").onsuccess = done })
}"""
KEPT = """async () => [
  localStorage.length, document.cookie, (await caches.keys()).length,
  (await indexedDB.databases()).length,
].join()"""


def test_what_pages_keep_is_forgotten(context, blank, server):
    address = urljoin(server.url, "/liveness")
    blank.goto(address)
    assert blank.evaluate(KEPT) == "0,,0,0"
    blank.evaluate(KEEP)
    assert blank.evaluate(KEPT) == "1,a=b,1,1"
    blank.close()
    forget(context, {"{0.scheme}://{0.netloc}".format(urlsplit(address))})
    again = context.new_page()
    again.goto(address)
    assert again.evaluate(KEPT) == "0,,0,0"
