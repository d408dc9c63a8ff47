"""The preview in the form that saves a picture."""

from __future__ import annotations

import base64
import io

import pytest
from PIL import Image

from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from hcviz.ui.features.picture.controller import PREVIEW_PIXELS

PARTS = {"heatmap": True, "supports": True, "names": True, "caption": False}


@pytest.fixture
def page(loop):
    """The zoo's page; ``page.previews`` has the number, address and note of each answer."""
    explorer = Explorer(loop.schedule, link=Link(data="zoo", method="average"))
    loop.until(lambda: explorer.store.session.status == "settled")
    explorer.previews = []
    explorer.bar.show_preview = lambda *answer: explorer.previews.append(answer)
    yield explorer
    explorer.close()


def ask(page, number, width=0, height=0, **parts):
    fields = {"format": "svg", "width": width, "height": height, **PARTS, **parts}
    page.files.act("preview-picture", {"number": number, **fields})


def image(answer):
    begin, content = answer[1].split(",")
    assert begin == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(content)))


def test_the_form_shows_the_page_of_the_chosen_size(page, loop):
    ask(page, 1, 297, 210)
    loop.until(lambda: page.previews)
    number, _, note = page.previews[0]
    assert (number, note) == (1, "297 × 210 mm.")
    assert image(page.previews[0]).size == (PREVIEW_PIXELS, PREVIEW_PIXELS * 210 // 297)
    assert page.store.view.error is None


def test_a_choice_changes_the_preview(page, loop):
    ask(page, 1, 297, 210)
    loop.until(lambda: page.previews)
    ask(page, 2, 297, 210, heatmap=False)
    loop.until(lambda: len(page.previews) == 2)
    assert page.previews[0][1] != page.previews[1][1]


def test_of_the_requests_that_wait_the_newest_is_answered(page, loop):
    for number in range(5):
        ask(page, number, 200 + number, 200)
    loop.until(lambda: page.previews and page.previews[-1][0] == 4)
    assert [number for number, *_ in page.previews] == [0, 4]


def test_a_page_that_is_too_small_says_so_in_place_of_the_preview(page, loop):
    ask(page, 1, 30, 30)
    loop.until(lambda: page.previews)
    _, url, note = page.previews[0]
    assert not url
    assert "more width" in note
    assert page.store.view.error is None
    ask(page, 2, 4_000, 4_000, format="png")
    loop.until(lambda: len(page.previews) > 1)
    assert "too many pixels" in page.previews[1][2]


def test_the_note_says_that_the_rows_are_too_low_for_names(page, loop):
    ask(page, 1, 200, 60)
    loop.until(lambda: page.previews)
    assert "too low for the names" in page.previews[0][2]
