"""The transition at the end of a run: from the places before to those sent, and nothing waits."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import DONE, Dashboard
from tests.browser.driving import click, wait_for, wait_idle, wait_still

#: Keeps every state of the tree's lines and of the names: {x, y} at each change, first as sent.
WATCH = """() => {
  const watched = "begins" in window
  window.frames = { "tree-lines": [], "label-text": [] }
  window.begins = 0
  if (watched) return
  for (const name of Object.keys(window.frames)) {
    const source = Bokeh.documents[0].get_model_by_name(name)
    let data = source.data
    source.change.connect(() => {
      const seen = window.frames[name]
      if (source.data !== data) {
        data = source.data
        seen.length = 0
        if (name === "tree-lines") window.begins += 1
      }
      const [x, y] = ["x", "y"].map(name => Array.from(source.data[name], String).join())
      seen.push({ x, y, moving: source.gliding === true })
    })
  }
}"""
#: What was seen of a source since its last data: states as sent, in between, at rest.
SEEN = """name => {
  const all = window.frames[name], { x, y } = all[0]
  const between = all.filter(each => each.x !== x || each.y !== y)
  const last = all.at(-1)
  const source = Bokeh.documents[0].get_model_by_name(name)
  const is = (column, text) => Array.from(source.data[column], String).join() === text
  return { between: between.length, different: new Set(between.map(each => each.x + each.y)).size,
           asSent: last.x === x && last.y === y && !last.moving, now: is("x", x) && is("y", y),
           moving: source.gliding === true }
}"""


@pytest.fixture
def zoo(blank, server):
    """Average linkage: a run has one tree, its last."""
    blank.goto(f"{server.url}?data=zoo&method=average")
    Dashboard(blank).settle()
    wait_still(blank)
    return blank


@pytest.fixture
def settled_zoo(blank, server):
    """The sampler, whose tree has uncertain branches."""
    blank.goto(f"{server.url}?data=zoo&method=ddt")
    Dashboard(blank).settle()
    return blank


def rerun(page, method: str = "ward") -> None:
    page.evaluate(WATCH)
    page.get_by_label("method", exact=True).select_option(method)
    wait_for(page, "() => window.begins > 0")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_last_tree_of_a_run_moves_to_where_it_was_sent(zoo, motion):
    """A browser that is very slow may draw no state between; then the next run is looked at."""
    zoo.emulate_media(reduced_motion=motion)
    between = {"tree-lines": 0, "label-text": 0}
    for method in ("ward", "complete", "single"):
        rerun(zoo, method)
        wait_for(zoo, "() => !Bokeh.documents[0].get_model_by_name('tree-lines').gliding")
        zoo.wait_for_timeout(700)  # longer than a transition
        wait_idle(zoo)
        for name in between:
            seen = zoo.evaluate(SEEN, name)
            assert seen["asSent"]
            assert seen["now"]
            assert not seen["moving"]
            between[name] = seen["different"]
        assert zoo.evaluate("window.begins") == 1
        if all(between.values()) or motion == "reduce":
            break
    if motion == "reduce":
        assert not any(between.values())
    else:
        assert all(between.values())


#: Lets a transition take half a minute.
SLOWLY = """() => {
  const frame = window.requestAnimationFrame.bind(window), later = window.setTimeout.bind(window)
  const first = performance.now()
  window.requestAnimationFrame = call => frame(now => call(first + (now - first) / 100))
  window.setTimeout = (call, span, ...more) => later(call, span === 600 ? 60000 : span, ...more)
}"""
#: The place of a name where the transition ends.
GOAL = """name => {
  const source = Bokeh.documents[0].get_model_by_name("label-text")
  const { text, x, y } = source.goal ?? source.data
  const at = text.indexOf(name)
  return [x[at], y[at]]
}"""


def test_a_click_meanwhile_is_one_in_the_final_picture_and_ends_the_transition(zoo):
    dash = Dashboard(zoo)
    zoo.emulate_media(reduced_motion="no-preference")
    zoo.evaluate(SLOWLY)
    rerun(zoo)
    wait_for(zoo, "() => Bokeh.documents[0].get_model_by_name('label-text').gliding")
    expect(zoo.locator(".hc-bar .status")).to_have_text(DONE)  # the run does not wait for it
    assert zoo.evaluate(SEEN, "label-text")["moving"]
    moved = zoo.evaluate("""() => {
      const { data, goal } = Bokeh.documents[0].get_model_by_name("label-text")
      const far = Array.from(goal.y, (y, k) => Math.abs(y - data.y[k]))
      return goal.text[far.indexOf(Math.max(...far))]
    }""")
    x, y = zoo.evaluate(GOAL, moved)
    click(zoo, "labels", x + 4, y)
    for name in ("tree-lines", "label-text"):
        seen = zoo.evaluate(SEEN, name)
        assert seen["now"]
        assert not seen["moving"]
    expect(dash.selected).to_have_text(moved)


def test_nothing_moves_while_the_pointer_is_down(zoo):
    zoo.emulate_media(reduced_motion="no-preference")
    box = zoo.locator("main").bounding_box()
    zoo.mouse.move(box["x"] + 30, box["y"] + box["height"] - 20)
    zoo.mouse.down()
    rerun(zoo)
    zoo.wait_for_timeout(700)
    assert zoo.evaluate(SEEN, "tree-lines")["between"] == 0
    zoo.mouse.up()
    Dashboard(zoo).settle()
    rerun(zoo, "complete")
    zoo.wait_for_timeout(700)
    assert zoo.evaluate(SEEN, "tree-lines")["different"] >= 1


def test_pictures_on_the_way_do_not_move(zoo):
    """Of a sampler's run only the last tree does."""
    zoo.emulate_media(reduced_motion="no-preference")
    dash = Dashboard(zoo).settle()
    zoo.get_by_label("method", exact=True).select_option("ddt")
    dash.settle()
    zoo.evaluate("""() => {
      window.sent = []
      const source = Bokeh.documents[0].get_model_by_name("tree-lines")
      source.properties.data.change.connect(() => window.sent.push("x0" in source.data))
    }""")
    zoo.get_by_label("Steps", exact=True).fill("3000000")  # some seconds
    dash.press("Enter")
    wait_for(zoo, "() => window.sent.length > 1")
    dash.settle()
    wait_for(zoo, "() => window.sent.at(-1)")
    assert zoo.evaluate("window.sent.filter(Boolean).length") == 1


def test_uncertain_branches_are_where_the_tree_is_after_a_transition(settled_zoo):
    """Their places come twice in one message. With even heights all are whole numbers."""
    page = settled_zoo
    page.emulate_media(reduced_motion="no-preference")
    heights = page.get_by_label("Heights of the tree", exact=True)
    for chosen in ("true", "even"):
        heights.select_option(chosen)
        lines = "Bokeh.documents[0].get_model_by_name('tree-lines').data.x"
        whole = f"Array.from({lines}).every(x => Number.isNaN(x) || Number.isInteger(x))"
        wait_for(page, f"() => ({whole}) === {'true' if chosen == 'even' else 'false'}")
    wait_for(page, "() => !Bokeh.documents[0].get_model_by_name('tree-lines').gliding")
    uncertain = page.evaluate(
        "() => Array.from(Bokeh.documents[0].get_model_by_name('uncertain-lines').data.x)"
    )
    known = [x for x in uncertain if x == x]
    assert len(known) > 10
    assert all(float(x).is_integer() for x in known)
