"""Draw docs/correcting-a-tree.webp: ``python -m tools.make_animation``, about a minute.

A real page in Chromium shows the Zoo animals, and its tree is corrected. The script adds only the
pointer and a caption to what the page shows.
"""

from __future__ import annotations

import io

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from hcviz.jobs.warming import warm_modules
from tests.browser.conftest import ARGUMENTS
from tests.browser.dashboard import Dashboard
from tests.browser.driving import Server, branches, columns, pixel, wait_idle
from tests.conftest import ROOT
from tools import chromium

PICTURE = ROOT / "docs" / "correcting-a-tree.webp"
#: The window, in CSS pixels, and the share of them that the picture has.
WINDOW, SCALE = {"width": 1200, "height": 740}, 0.75
#: Pictures of the moving tree, and milliseconds between them.
MOVING, PAUSE = 6, 60

#: The pointer and the caption, which let clicks through.
OVERLAY = """
() => {
  const style = "position:fixed;z-index:99999;pointer-events:none;"
  document.body.insertAdjacentHTML("beforeend", `
    <div id=caption style="${style}left:50%;bottom:52px;transform:translateX(-50%);padding:9px 18px;
      border-radius:8px;background:#1a1d21;color:#fff;font:600 19px sans-serif;white-space:nowrap;
      box-shadow:0 2px 8px #0006"></div>
    <svg id=pointer style="${style}left:-40px;top:0" width=22 height=32 viewBox="0 0 11 16">
      <path d="M.5.5v12l2.8-2.7 2 4.7 2-.9-2-4.5h4z" fill=#000 stroke=#fff /></svg>`)
  document.addEventListener("mousemove", ({clientX, clientY}) => {
    pointer.style.left = `${clientX}px`
    pointer.style.top = `${clientY}px`
  }, true)
}
"""


class Camera:
    """The frames that were taken of a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, milliseconds: int) -> None:
        """Take a frame, which is shown for so long."""
        shown = self.page.screenshot(animations="allow")
        self.frames.append(Image.open(io.BytesIO(shown)).convert("RGB"))
        self.times.append(milliseconds)

    def say(self, caption: str, milliseconds: int) -> None:
        """Take a frame of the page at rest, with a caption."""
        self.page.evaluate("text => { caption.textContent = text }", caption)
        wait_idle(self.page)
        self.page.wait_for_timeout(400)  # hover effects
        self.take(milliseconds)


def branch_above(page: Page, names: list[str]) -> tuple[float, float]:
    """Return where the line above neighbouring items is, in pixels of the window."""
    labels, rows = columns(page, "label-text", "text", "y")
    ys = [rows[labels.index(name)] for name in names]
    found = [(x, y) for x, y in branches(page) if min(ys) <= y <= max(ys)]
    return pixel(page, "tree", *max(found))


def correct(page: Page) -> Camera:
    """Correct the tree of a page that shows Zoo, and take its pictures."""
    board, camera = Dashboard(page).settle(), Camera(page)
    page.evaluate(OVERLAY)
    page.mouse.move(700, 330)
    camera.say("A tree of 101 animals. The tortoise is far from the snakes.", 2200)
    page.mouse.click(*branch_above(page, ["pitviper", "seasnake", "slowworm"]))
    expect(board.selected).to_have_text("3 items")
    camera.say("Click a branch: the snakes", 1600)
    board.press("t")
    camera.say("T: they belong together", 1400)
    board.click_label("tortoise")
    camera.say("Click the tortoise: it does, too", 1600)
    board.press("o")
    camera.say("O: who is the odd one out?", 1400)
    board.click_label("sparrow")
    expect(board.assessment).to_be_visible()
    camera.say("Click the sparrow: the page says what this changes", 2200)
    page.evaluate("() => { caption.textContent = 'Enter: the tree is built again' }")
    board.press("Enter")
    for _ in range(MOVING):
        camera.take(150)
        page.wait_for_timeout(PAUSE)
    board.settle()
    camera.say("Enter: the tree is built again", 1400)
    camera.say("The reptiles are together, and what moved is marked", 3500)
    return camera


def main() -> None:
    warm_modules()
    server = Server(ROOT / "app.py", log="animation.log")
    try:
        server.wait()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=ARGUMENTS)
            page = browser.new_page(viewport=WINDOW, device_scale_factor=SCALE)
            page.goto(server.url)
            camera = correct(page)
            browser.close()
    finally:
        server.stop()
    first, *others = camera.frames
    first.save(
        PICTURE,
        save_all=True,
        append_images=others,
        duration=camera.times,
        loop=0,
        quality=75,
        method=6,
    )
    print(f"{PICTURE.name}: {len(camera.frames)} frames, {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
