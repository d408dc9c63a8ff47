"""Contracts of BokehJS internals that ``hcviz/ui/compat/*.js`` uses, in a real browser.

Each test names the module that breaks if it fails.
"""

from __future__ import annotations

import pytest

from hcviz.ui.compat import COMPAT
from tests.browser.conftest import WINDOW
from tests.browser.dashboard import Dashboard
from tests.browser.driving import FIND_VIEW, TIMEOUT, Watch, wait_for, wait_idle, wait_still

# True of the view of the tree's tools once it has its element.
DRAWN_TOOLS = 'each => each.model.class_name?.startsWith("TreeTools") && each.container'

# Frames of the browser that a state may take: a minute or so.
FRAMES = 3600


@pytest.fixture(scope="module")
def page(server, browser):
    """One page for all of these tests, which leave it as it was."""
    watch = Watch()
    context = browser.new_context(viewport=WINDOW)
    context.set_default_timeout(TIMEOUT)
    watch.over_context(context)
    opened = context.new_page()
    opened.goto(server.url)
    Dashboard(opened).settle()
    wait_still(opened)
    yield opened
    context.close()
    assert not watch.faults


def script(name: str) -> str:
    return (COMPAT / name).read_text()


def test_figure_view_finds_the_element_the_scales_and_the_gestures_of_a_figure(page):
    wait_for(page, FIND_VIEW, "tree")
    wait_for(
        page,
        f"""() => {{
          {script("figure_view.js")}
          const gestures = figureView.gestures(Bokeh.documents[0].get_model_by_name("tree"))
          return gestures?.isConnected && gestures.getBoundingClientRect().height > 100
        }}""",
    )
    found = page.evaluate(
        f"""() => {{
          {script("figure_view.js")}
          const figure = Bokeh.documents[0].get_model_by_name("tree")
          const scale = figureView.scales(figure), gestures = figureView.gestures(figure)
          return {{
            element: figureView.element(figure) instanceof HTMLElement,
            inverse: scale.x.invert(scale.x.compute(figure.x_range.start)) - figure.x_range.start,
            rows: Math.abs(scale.y.compute(1) - scale.y.compute(0)),
            gestures: gestures instanceof HTMLElement,
          }}
        }}"""
    )
    assert found["element"]
    assert found["gestures"]
    assert abs(found["inverse"]) < 1e-6
    assert found["rows"] > 1


def test_component_view_gets_size_changes_and_has_its_document(page):
    """``after_resize`` of a component runs when its content grows."""
    wait_idle(page)
    wait_for(page, f"() => [...Bokeh.index.all_views()].some({DRAWN_TOOLS})")
    found = page.evaluate(
        f"""async () => {{
          {script("component_view.js")}
          const views = [...Bokeh.index.all_views()]
          const view = views.find({DRAWN_TOOLS})
          let asked = 0
          layOutOnlyIf(view, () => {{ asked += 1; return false }})
          const box = document.createElement("div")
          box.style.height = "40px"
          view.container.append(box)
          for (let tries = 0; !asked && tries < {FRAMES}; tries++) {{
            await new Promise(requestAnimationFrame)
          }}
          box.remove()
          return {{ asked, same: documentOf(view) === Bokeh.documents[0] }}
        }}"""
    )
    assert found["asked"] > 0
    assert found["same"]


def test_figure_style_hides_the_focus_ring_and_the_edges_of_a_figure(page):
    wait_for(page, FIND_VIEW, "tree")
    found = page.wait_for_function(
        f"""() => {{
          {script("figure_view.js")}
          const figure = Bokeh.documents[0].get_model_by_name("tree")
          if (!figureView.gestures(figure)?.isConnected) return null
          const canvas = figureView.element(figure).shadowRoot.querySelector(".bk-Canvas")
          const style = getComputedStyle(figureView.gestures(figure))
          return {{
            clip: getComputedStyle(canvas).clipPath,
            ring: style.getPropertyValue("--highlight-color"),
          }}
        }}"""
    ).json_value()
    assert found["clip"].startswith("inset(4px ")
    assert found["ring"] == "transparent"


def test_figure_style_is_still_needed_because_bokeh_clears_overlays_half_a_pixel_off(page):
    wait_for(page, f"() => ({FIND_VIEW})('tree')?.canvas_view.overlays.canvas.width > 100")
    left, middle = page.evaluate(
        """() => {
          const figure = Bokeh.documents[0].get_model_by_name("tree")
          const layer = Bokeh.index.find_one(figure).canvas_view.overlays
          const { width, height } = layer.canvas
          layer.ctx.save()
          layer.ctx.resetTransform()
          layer.ctx.fillRect(0, 0, width, height)
          layer.ctx.restore()
          layer.prepare()
          layer.finish()
          const opacity = x => layer.ctx.getImageData(x, height >> 1, 1, 1).data[3]
          return [opacity(0), opacity(width >> 1)]
        }"""
    )
    assert left > 0
    assert middle == 0


def test_bounded_range_is_still_needed_because_bokeh_clips_by_the_present_bounds(page):
    wait_for(page, FIND_VIEW, "tree")
    start, later = page.evaluate(
        """() => {
          const rows = Bokeh.documents[0].get_model_by_name("tree").y_range
          const range = new rows.constructor({ start: 0, end: 10, bounds: [0, 10] })
          range.start = -5
          const { start } = range
          range.bounds = [-9, 10]
          range.start = -5
          return [start, range.start]
        }"""
    )
    assert (start, later) == (0, -5)


def test_text_source_is_still_needed_because_bokeh_makes_labels_later_than_places(page):
    """In a figure of its own: in one of the page, a later drawing would have fewer texts."""
    wait_idle(page)
    found = page.evaluate(
        """async frames => {
          const { ColumnDataSource, DataRange1d, GlyphRenderer, Plot, Text } = Bokeh.Models
          const data = { x: [0, 1], y: [0, 1], text: ["a", "b"] }
          const source = new ColumnDataSource({ data })
          const plot = new Plot({ x_range: new DataRange1d(), y_range: new DataRange1d() })
          const glyph = new Text({
            x: { field: "x" }, y: { field: "y" }, text: { field: "text" } })
          plot.add_renderers(new GlyphRenderer({ data_source: source, glyph }))
          const document_ = new Bokeh.documents[0].constructor()
          document_.add_root(plot)
          const box = document.body.appendChild(document.createElement("div"))
          await Bokeh.embed.add_document_standalone(document_, box)
          const drawn = async count => {
            for (let tries = 0; view.labels?.length !== count && tries < frames; tries++)
              await new Promise(requestAnimationFrame)
            return view.labels?.length
          }
          const view = [...Bokeh.index.all_views()].find(each => each.model === glyph)
          const before = await drawn(2)
          source.data = { x: [0, 1, 2], y: [0, 1, 2], text: ["a", "b", "c"] }
          const soon = [view.labels.length, view.data_size]
          return { before, soon, after: await drawn(3) }
        }""",
        FRAMES,
    )
    assert found == {"before": 2, "soon": [2, 3], "after": 3}


def test_kernel_roots_are_not_those_of_a_served_page(page):
    wait_idle(page)
    assert (
        page.evaluate(
            f"""() => {{
          {script("kernel_roots.js")}
          return isInNotebook(Bokeh.documents[0])
        }}"""
        )
        is False
    )
