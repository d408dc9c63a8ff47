"""The public page in a real browser: its login, its headers, and what they keep out."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, wait_for, wait_until

PASSWORD = "correct horse"
#: A name that is a script, one that a spreadsheet computes, and one that reads backwards.
HOSTILE = ("<img src=x onerror=alert(1)>", "=HYPERLINK(1)", "invoice\u202efdp.exe")
TABLE = "name,x,y\n" + "".join(
    f'"{name}",{k % 3},{k}\n' for k, name in enumerate((*HOSTILE, *"abcdef"))
)

#: What a script in a name would do: run inline, run in an attribute, and send to another server.
INJECT = """() => {
  window.tried = 0
  const script = document.createElement("script")
  script.textContent = "window.hacked = true"
  document.body.append(script)
  window.tried += 1
  const box = document.createElement("div")
  box.innerHTML = '<b onclick="window.hacked = true">x</b>'
  document.body.append(box)
  box.firstChild.click()
  window.tried += 1
  fetch("http://127.0.0.1:9/").catch(() => { window.tried += 1 })
}"""


@pytest.fixture
def public(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("HCVIZ_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HCVIZ_PASSWORD", PASSWORD)
    monkeypatch.setenv("HCVIZ_SECONDS", "1")
    options = ["zoo", "--public", "--address", "127.0.0.1"]
    return serve(None, options, log="public.log")


def log_in(page, server, query=""):
    page.goto(server.url + query)
    expect(page.get_by_text("This page needs a password.")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    return Dashboard(page).settle()


def test_the_page_works_under_its_headers(public, new_page, watch, tmp_path):
    page = new_page()
    dashboard = log_in(page, public, "?data=flowers&method=4-al")
    assert page.url.endswith("data=flowers&method=4-al")
    wait_until(page, lambda: column(page, "label-pictures", "url"))
    for tab in page.get_by_role("tab").all():
        if tab.is_enabled():
            tab.click()
            expect(tab).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="Tree").click()
    assert dashboard.save_picture().path().read_bytes().startswith(b"<?xml")
    table = tmp_path / "hostile.csv"
    table.write_text(TABLE)
    dashboard.choose("data", "zoo")
    dashboard.settle()
    dashboard.open_with_average(table)  # a tree that stays where it is
    wait_until(page, lambda: "invoice[U+202E]fdp.exe" in column(page, "label-text", "text"))
    assert {*HOSTILE[:2]} <= {*column(page, "label-text", "text")}
    dashboard.click_label("invoice[U+202E]fdp.exe")
    expect(dashboard.selected).to_have_text("invoice[U+202E]fdp.exe")
    assert not watch.faults

    cookies = {each["name"]: each for each in page.context.cookies()}
    for name in ("hcviz-visitor", "user", "id_token"):
        assert (cookies[name]["httpOnly"], cookies[name]["sameSite"]) == (True, "Lax")
        assert name not in page.evaluate("document.cookie")

    page.evaluate(INJECT)
    wait_for(page, "() => window.tried === 3")
    assert page.evaluate("window.hacked") is None
    wait_until(page, lambda: len(watch.faults) >= 3)  # the script, the attribute, the request
    page.close()  # it reports nothing more
    refused = [each for each in watch.faults if "Content Security Policy" in each]
    assert len(refused) == len(watch.faults)
    watch.faults.clear()
