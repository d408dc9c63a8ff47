"""Contracts of BokehJS internals that ``hcviz/ui/compat/*.js`` uses, in a real browser.

Each test names the module that breaks if it fails.
"""

from __future__ import annotations

from hcviz.ui.compat import COMPAT
from tests.browser.driving import wait_idle


def script(name: str) -> str:
    return (COMPAT / name).read_text()


def test_figure_view_finds_the_element_the_scales_and_the_gestures_of_a_figure(page):
    wait_idle(page)
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
            drawn: gestures.isConnected && gestures.getBoundingClientRect().height > 100,
          }}
        }}"""
    )
    assert found["element"]
    assert found["gestures"]
    assert found["drawn"]
    assert abs(found["inverse"]) < 1e-6
    assert found["rows"] > 1


def test_component_view_is_told_of_a_change_of_size_and_knows_its_document(page):
    """``after_resize`` of a component runs when its content grows."""
    wait_idle(page)
    found = page.evaluate(
        f"""async () => {{
          {script("component_view.js")}
          const views = [...Bokeh.index.all_views()]
          const view = views.find(each => each.model.class_name?.startsWith("TreeTools"))
          let asked = 0
          layOutOnlyIf(view, () => {{ asked += 1; return false }})
          const box = document.createElement("div")
          box.style.height = "40px"
          view.container.append(box)
          for (let tries = 0; !asked && tries < 60; tries++) {{
            await new Promise(requestAnimationFrame)
          }}
          box.remove()
          return {{ asked, same: documentOf(view) === Bokeh.documents[0] }}
        }}"""
    )
    assert found["asked"] > 0
    assert found["same"]
