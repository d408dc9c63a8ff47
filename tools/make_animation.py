"""Draw docs/correcting-a-tree.webp: ``python -m tools.make_animation``, a minute or two.

A real page in Chromium shows the Zoo animals, and its tree is corrected. The script adds only the
pointer and a caption to what the page shows.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from typing import Any

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

import hcviz
from hcviz.jobs.warming import warm_modules
from tests.browser.conftest import ARGUMENTS
from tests.browser.dashboard import Dashboard
from tests.browser.driving import Server, branches, columns, pixel, wait_idle
from tests.conftest import ROOT
from tools import chromium

PICTURE = ROOT / "docs" / "correcting-a-tree.webp"
#: The window, in CSS pixels, and the share of them that the picture has.
WINDOW, SCALE = {"width": 1000, "height": 940}, 0.9
#: Where the pointer covers nothing.
ASIDE = (268, 26)
#: At most so many pictures of the moving tree, and for how many milliseconds each is shown.
MOVING, MOMENT = 8, 110
SNAKES, TORTOISE, ODD = ("pitviper", "seasnake", "slowworm"), "tortoise", ("sparrow", "carp")

#: The pointer and the caption, which let clicks through.
OVERLAY = """
() => {
  const style = "position:fixed;z-index:99999;pointer-events:none;"
  document.body.insertAdjacentHTML("beforeend", `
    <div id=caption style="${style}left:50%;top:5px;transform:translateX(-50%);padding:7px 14px;
      border-radius:8px;background:#1a1d21;color:#fff;font:600 17px sans-serif;white-space:nowrap">
    </div>
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

    def take(self, picture: bytes, milliseconds: int) -> None:
        """Add a frame, which is shown for so long."""
        size = tuple(round(SCALE * side) for side in WINDOW.values())
        self.frames.append(Image.open(io.BytesIO(picture)).convert("RGB").resize(size))
        self.times.append(milliseconds)

    def caption(self, text: str) -> None:
        self.page.evaluate("text => { caption.textContent = text }", text)

    def say(self, text: str, milliseconds: int) -> None:
        """Take a frame of the page at rest, with a caption."""
        self.caption(text)
        wait_idle(self.page)
        self.page.wait_for_timeout(300)  # hover effects
        self.take(self.page.screenshot(), milliseconds)

    def film(self, act: Callable[[], object]) -> None:
        """Take frames of what moves during ``act``, evenly chosen."""
        seen: list[str] = []
        client = self.page.context.new_cdp_session(self.page)

        def frame(event: dict[str, Any]) -> None:
            if event["data"] not in seen:
                seen.append(event["data"])
            client.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

        client.on("Page.screencastFrame", frame)
        client.send("Page.startScreencast", {"format": "png"})
        act()
        client.remove_listener("Page.screencastFrame", frame)
        client.send("Page.stopScreencast")
        client.detach()
        count = min(MOVING, len(seen))
        for k in range(count):
            self.take(base64.b64decode(seen[k * len(seen) // count]), MOMENT)


def branch_above(page: Page, names: Sequence[str]) -> tuple[float, float]:
    """Return where the line above neighbouring items is, in pixels of the window."""
    labels, rows = columns(page, "label-text", "text", "y")
    ys = [rows[labels.index(name)] for name in names]
    found = [(x, y) for x, y in branches(page) if min(ys) <= y <= max(ys)]
    return pixel(page, "tree", *max(found))


def correct(page: Page) -> Camera:
    """Correct the tree of a page that shows Zoo, and take its pictures."""
    board, camera = Dashboard(page).settle(), Camera(page)
    page.evaluate(OVERLAY)
    page.mouse.move(*ASIDE)
    camera.say("The tortoise is far from the snakes", 2200)
    page.mouse.click(*branch_above(page, SNAKES))
    expect(board.selected).to_have_text(f"{len(SNAKES)} items")
    camera.say("Click a branch: the snakes", 1600)
    board.press("t")
    camera.say("T: they belong together", 1400)
    board.click_label(TORTOISE)
    camera.say("Click the tortoise: so does it", 1600)
    board.press("o")
    camera.say("O: who is the odd one out?", 1400)
    for name in ODD:
        board.click_label(name)
        expect(page.locator(".hc-constraints .statement")).to_contain_text(name)
        camera.say(f"Click the {name}", 1200)
    camera.caption("Enter: the tree is built again")
    page.mouse.move(*ASIDE)
    board.press("Enter")
    camera.film(board.settle)
    together = branch_with(board.newick(), [*SNAKES, TORTOISE])
    page.mouse.click(*branch_above(page, together))
    expect(board.selected).to_have_text(f"{len(together)} items")
    page.mouse.move(*ASIDE)
    camera.say("One branch has them, without fish and birds", 4000)
    return camera


def branch_with(newick: str, items: Sequence[str]) -> list[str]:
    """Return the smallest clade with the items, which has neither fish nor birds."""
    zoo = hcviz.datasets.load("zoo")
    tree = hcviz.Tree.from_newick(newick, zoo.labels)
    clade = tree.leaves(tree.smallest_clade([zoo.labels.index(item) for item in items]))
    assert not {zoo.classes[k] for k in clade} & {"fish", "bird"}, "the last caption is wrong"
    return [zoo.labels[k] for k in clade]


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
