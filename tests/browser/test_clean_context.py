"""Each test finds the browser as if it was started for it, though the cache of files is kept."""

from __future__ import annotations

import pytest

KEPT = "() => [localStorage.length, sessionStorage.length, document.cookie].join()"
KEEP = """() => {
  localStorage.setItem("a", "b")
  sessionStorage.setItem("a", "b")
  document.cookie = "a=b"
}"""


@pytest.mark.parametrize("time", [1, 2])
def test_nothing_is_kept_from_one_test_to_the_next(time, context, blank, server):
    assert context.pages == [blank]
    assert context.cookies() == []
    blank.goto(f"{server.url}/nowhere".replace("/app/nowhere", "/liveness"))
    assert blank.evaluate(KEPT) == "0,0,"
    blank.evaluate(KEEP)
    assert blank.evaluate(KEPT) == "1,1,a=b"
