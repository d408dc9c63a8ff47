"""The explorer without a browser: how it begins, what it refuses, what it keeps."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from bokeh.core.validation.check import check_integrity
from bokeh.document import Document
from bokeh.models.widgets import InputWidget

import hcviz
from hcviz.algorithms import get as get_algorithm
from hcviz.core.heights import UNNAMED
from hcviz.datasets import Dataset
from hcviz.io.session_file import load_session, save_session
from hcviz.io.tables import read_table
from hcviz.session import actions as act
from hcviz.session.constraint import EVERYTHING_ELSE
from hcviz.session.model import DataSpec
from hcviz.ui.app import link
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link, from_query, to_query
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.files.controller import file_stem
from hcviz.ui.features.inspector import model as inspector_model
from hcviz.ui.features.parameters.model import state
from hcviz.ui.features.tree_tools import model as tree_tools_model
from hcviz.ui.state import data_sources as sources
from hcviz.ui.state.view_state import ViewState
from hcviz.ui.tree import axis
from hcviz.ui.tree.shown_axis import axis_of


@pytest.fixture
def begun(loop):
    made = []

    def begin(**link):
        explorer = Explorer(loop.schedule, link=Link(**link))
        made.append(explorer)
        loop.until(lambda: explorer.store.session.status in ("settled", "failed"))
        return explorer

    yield begin
    for explorer in made:
        explorer.store.close()


def test_the_document_is_valid_and_no_script_needs_translating(begun):
    """A served page is not validated each time that it opens (ui/app/page.py), so it is here."""
    document = Document()
    document.add_root(begun(method="average").view.get_root(document))
    document.validate()
    issues = check_integrity(document.models)
    assert not issues.error, issues.error
    empty = [issue for issue in issues.warning if issue.name == "EMPTY_LAYOUT"]
    assert len(empty) == 1  # the place of the trace, which this run does not have
    assert issues.warning == empty
    # They raise an error in the browser if they are changed before they are drawn.
    assert not [model for model in document.models if isinstance(model, InputWidget)]
    scripts = [model for model in document.models if "esm" in model.properties()]
    assert len(scripts) > 10
    assert {model.bundle for model in scripts if model.bundle is None} == set()
    assert len({model.bundle for model in scripts}) == len({model.esm for model in scripts})


@pytest.mark.parametrize(
    ("link", "word"),
    [
        ({"data": "nope"}, "data 'nope'"),
        ({"similarity": "nope"}, "similarity 'nope'"),
        ({"method": "nope"}, "method 'nope'"),
        ({"params": {"nope": 1}}, "nope"),
        ({"matrix": "nope"}, "matrix 'nope'"),
        ({"scaling": "nope"}, "scaling 'nope'"),
        ({"heights": "nope"}, "heights 'nope'"),
        ({"constraints": (((1, 2), 500, True),)}, "item 500"),
        ({"unsure": "nope"}, "unsure 'nope'"),
        ({"below": 101}, "not 101"),
    ],
)
def test_errors_in_a_link_are_reported_and_the_page_works(begun, link, word):
    explorer = begun(**link)
    store = explorer.store
    assert word in store.view.error[0]
    assert len(store.session.labels) == 101
    assert store.session.snapshot is not None
    assert store.view.matrix == "similarity"
    assert store.session.constraints == ()


def test_too_many_clusters_are_as_many_as_there_are_items(begun):
    assert begun(clusters=100_000, method="average").store.view.clusters == 101


def test_a_link_carries_all_that_changes_the_view(begun, loop):
    explorer = begun(method="crsc")
    store = explorer.store
    store.dispatch(act.SetScaling("range"))
    loop.until(lambda: store.session.status == "settled")
    store.change_view(matrix="features", scaling="rank", columns="file", heights="even", clusters=4)
    store.change_view(unsure="merged", below=70)
    found = from_query(to_query(link.link_of(store.session, store.view)))
    other = begun(**vars(found)).store
    assert other.session.data == store.session.data
    assert other.view.look == store.view.look
    assert (other.session.method, other.session.seed) == ("crsc", 0)


def test_a_session_file_brings_the_look_and_the_history_back(begun, loop):
    first = begun(method="crsc")
    store = first.store
    store.dispatch(act.AddConstraint((0, 1), 50))
    loop.until(lambda: store.session.status == "settled")
    store.change_view(matrix="features", scaling="rank", columns="file", heights="even", clusters=4)
    store.change_view(unsure="merged", below=70)
    saved = []
    first.bar.download = lambda name, content, mime: saved.append(content)
    first.files.act("save", {"what": "session"})
    other = begun(data="iris", method="average").store
    other.restore(load_session(saved[0]))
    assert other.view.look == store.view.look
    assert other.session.snapshot.tree == store.session.snapshot.tree
    assert [p.label for p in other.session.past] == [p.label for p in store.session.past]
    other.dispatch(act.Undo())
    store.dispatch(act.Undo())
    assert other.session.snapshot.tree == store.session.snapshot.tree
    assert other.session.constraints == store.session.constraints == ()
    assert save_session(other.session)


@pytest.mark.parametrize(
    ("spec", "stem"),
    [
        (DataSpec(kind="table", name="kitchen.csv"), "kitchen"),
        (DataSpec(kind="table", name="my data.v2.parquet"), "my-data.v2"),
        (DataSpec(kind="given", name="kitchen.csv"), "kitchen"),
        (DataSpec(kind="given", name="run 1.5"), "run-1.5"),
        (DataSpec(kind="given", name="notebook data 2"), "notebook-data-2"),
        (DataSpec(kind="table", name=".csv"), "tree"),
        (DataSpec(name="zoo"), "zoo"),
    ],
)
def test_files_made_of_the_data_lose_its_ending(spec, stem):
    assert file_stem(spec) == stem


def test_every_file_that_is_saved_is_called_after_the_table_without_its_ending(begun, loop):
    explorer = begun(method="crsc")
    store, names = explorer.store, []
    store.open_data(
        DataSpec(
            kind="table", name="kitchen.csv", filename="kitchen.csv",
            content=b"name,x\na,1\nb,2\nc,4\n",
        )
    )  # fmt: skip
    loop.until(lambda: store.session.status == "settled")
    explorer.drawing.colour(2)
    explorer.bar.download = lambda name, content, mime: names.append(name)
    for what in ("session", "constraints", "answers", "newick", "linkage", "clusters"):
        explorer.files.act("save", {"what": what})
    parts = {"heatmap": True, "supports": True, "names": True, "caption": True}
    explorer.files.act("save-picture", {"format": "svg", "width": 0, "height": 0, **parts})
    loop.until(lambda: "kitchen.svg" in names)
    assert store.view.error is None
    assert names == [
        "kitchen.hcviz", "kitchen-constraints.csv", "kitchen-answers.csv", "kitchen.nwk",
        "kitchen-linkage.npy", "kitchen-clusters.csv", "kitchen.svg",
    ]  # fmt: skip


def test_a_session_file_brings_its_clusters_back(begun):
    """The tree that comes with it is cut into as many, not only those to come."""
    first = begun(method="average")
    first.drawing.colour(5)
    saved = replace(first.store.session, look=first.store.view.look)
    other = begun(method="ward")
    assert other.store.restore(load_session(save_session(saved)))
    assert other.store.view.clusters == 5
    assert other.store.view.cut == first.store.view.cut
    assert other.centre.state.cut == first.store.view.cut is not None


def test_undoing_a_change_of_data_forgets_what_was_picked_there(begun, loop):
    explorer = begun(method="average")
    store = explorer.store
    store.open_data(DataSpec(name="iris"))
    loop.until(lambda: store.session.status == "settled")
    store.change_view(selection=(140, 149), clusters=3)
    explorer.gestures.key("t")
    assert store.view.draft.open
    explorer.keyboard.press("undo")
    assert len(store.session.labels) == 101
    assert (store.view.selection, store.view.draft.open, store.view.clusters) == ((), False, None)
    explorer.keyboard.press("t")
    assert store.view.error is None


def test_a_start_that_is_refused_ends_the_job_before_it(begun, loop):
    store = begun().store
    store.dispatch(act.SetParams({"steps": 900_000_000}))
    loop.until(lambda: store.session.progress[0] > 0)
    assert store.runner.busy
    matrix = b"name,a,b,c\na,1,.5,.1\nb,.5,1,.2\nc,.1,.2,1\n"
    spec = DataSpec(
        kind="table", name="m", filename="m.csv", content=matrix, table_kind="similarity"
    )
    store.open_data(spec)  # with another method
    store.dispatch(act.SetMethod("ddt"))
    assert store.session.status == "failed"
    assert "features" in store.session.error[0]
    loop.until(lambda: not store.runner.busy)


@pytest.mark.parametrize("action", [act.SetMissing("nope"), act.SetSimilarity("nope")])
def test_a_refused_choice_leaves_everything_as_it_was(begun, action):
    store = begun(method="average").store
    before = store.session
    store.dispatch(action)
    assert store.session is before
    assert "nope" in store.view.error[0]
    assert store.problem.n_items == 101


def test_a_constraint_by_search_and_keys_alone(begun):
    explorer = begun(method="crsc")
    store = explorer.store
    explorer.controls["tools"].find("bear")
    explorer.keyboard.press("t")
    explorer.controls["tools"].find("dolphin")
    explorer.keyboard.press("o")
    explorer.controls["tools"].find("tuna")
    explorer.keyboard.press("Enter")
    (row,) = constraints_model.state(store)["items"]
    assert row["sentence"] == "bear + dolphin together, apart from tuna"


def test_an_error_disappears_at_the_next_action(begun, loop):
    explorer = begun(method="average")
    explorer.tools._handle_msg({"act": "clusters", "value": "many"})
    loop.until(lambda: explorer.store.view.error is not None)
    explorer.tools._handle_msg({"act": "clusters", "value": "3"})
    loop.until(lambda: explorer.store.view.clusters == 3)
    assert explorer.store.view.error is None


def test_a_link_carries_switched_off_answers_and_no_notes(begun, loop):
    store = begun(method="crsc").store
    store.dispatch(
        act.AddConstraint((1, 2), 3, note="between us"),
        act.AddConstraint((4, 5), 6),
        act.AddConstraint((5, 4), 6, author="Bo"),
        act.AddConstraint((7, 8), 9),
        act.DisableConstraint(2),
        act.DisableConstraint(4),
        act.AddConstraint((1, 3), 2),  # contradicts the first: kept switched off
    )
    query = to_query(link.link_of(store.session, store.view))
    assert "between" not in query
    other = begun(**vars(from_query(query))).store
    assert other.view.error is None
    assert [(c.group, c.apart, c.enabled, c.note) for c in other.session.constraints] == [
        ((1, 2), 3, True, ""),
        ((4, 5), 6, True, ""),  # by two authors, one of them switched it off
        ((7, 8), 9, False, ""),
        ((1, 3), 2, False, ""),
    ]
    assert len(other.session.past) == 1  # the link is one step


def test_a_link_carries_the_names_of_groups(begun):
    explorer = begun(method="average")
    store = explorer.store
    names = ("Owls & <b>co</b>", "=1+1", "אבג 👩‍👩‍👧")
    store.dispatch(
        *(act.NameGroup((3 * k, 3 * k + 1, 3 * k + 2), name) for k, name in enumerate(names)),
        act.AddConstraint((0, 1, 2), EVERYTHING_ELSE),
    )
    group = store.session.groups[0]
    store.dispatch(act.EditGroup(group.id, note="between us", alternatives=("secret",)))
    query = to_query(link.link_of(store.session, store.view))
    assert "between" not in query
    assert "secret" not in query
    other = begun(**vars(from_query(query))).store
    assert other.view.error is None
    assert [(each.name, each.members) for each in other.session.groups] == [
        (each.name, each.members) for each in store.session.groups
    ]
    assert [each.group for each in other.session.constraints] == [(0, 1, 2)]
    wrong = begun(method="average", groups=(("Far", (1, 5000)),)).store
    assert wrong.session.groups == ()
    assert wrong.view.error is not None
    explorer.files.act("copied", {"ok": True})
    assert store.view.message == "The link is on your clipboard, and in the address bar."
    store.dispatch(act.NameGroup(tuple(range(50)), "x" * 2000))
    assert "g=" not in to_query(link.link_of(store.session, store.view))
    explorer.files.act("copied", {"ok": True})
    assert "It does not contain the groups, which are too large" in store.view.message


def test_contradictions_in_a_link_are_explained(begun):
    store = begun(constraints=(((1, 2), 3, True), ((1, 3), 2, True), ((2, 2), 4, True))).store
    assert [c.enabled for c in store.session.constraints] == [True, False]
    assert store.session.conflict.constraint_id == 2
    assert "twice" in store.view.error[0]


def the_field(explorer, name):
    return next(each for each in state(explorer.store)["fields"] if each["name"] == name)


def test_an_invalid_value_is_explained_at_its_field_until_corrected(begun, loop):
    explorer = begun(method="ddt", params={"steps": 1000})
    store = explorer.store
    run = store.session.run
    set_it = explorer.controls["form"].act
    set_it("set", {"name": "steps", "value": "many"})
    assert "must be a whole number" in the_field(explorer, "steps")["error"]
    assert the_field(explorer, "steps")["value"] == "many"  # to be corrected, not typed again
    assert explorer.form.state == state(store)
    assert (store.view.error, store.session.run) == (None, run)
    set_it("set", {"name": "every", "value": "-1"})
    set_it("set", {"name": "every", "value": "25"})  # the rest of the form goes on
    assert "error" not in the_field(explorer, "every")
    assert dict(store.session.params) == {"steps": 1000, "every": 25}
    assert "error" in the_field(explorer, "steps")
    store.dispatch(act.Undo())  # of the other field: nothing to do with this one
    assert "error" in the_field(explorer, "steps")
    set_it("set", {"name": "steps", "value": "1000"})  # corrected to what it was
    assert "error" not in the_field(explorer, "steps")
    assert store.view.faults == ()


def test_a_fields_fault_goes_with_its_method_and_with_a_new_value_from_elsewhere(begun, loop):
    explorer = begun(method="ddt", params={"steps": 1000})
    store = explorer.store
    explorer.controls["form"].act("set", {"name": "steps", "value": "many"})
    store.dispatch(act.SetParams({"steps": 900}))
    assert "error" not in the_field(explorer, "steps")
    explorer.controls["form"].act("set", {"name": "steps", "value": "none at all"})
    assert "error" in the_field(explorer, "steps")
    explorer.controls["bar"].act("method", {"value": "crsc"})
    explorer.controls["bar"].act("method", {"value": "ddt"})
    loop.until(lambda: store.session.status == "settled")
    assert "error" not in the_field(explorer, "steps")


class Asked:
    """A similarity that takes its time, and knows on which threads it was asked."""

    n_items = 60

    def __init__(self):
        self.threads = set()
        self.open = threading.Event()

    def similarity(self, rows, cols):
        self.threads.add(threading.current_thread())
        self.open.wait(60)
        time.sleep(0.001)
        return 5.0 - np.abs(np.subtract.outer(rows, cols).astype(float)) / 20


def test_a_similarity_that_takes_its_time_holds_no_page_up(loop, monkeypatch):
    """Whatever is asked of it, for the colours as for their scale, is asked on other threads."""
    oracle = Asked()
    labels = tuple(f"item {k}" for k in range(60))
    data = Dataset(name="slow", title="Slow", labels=labels, oracle=oracle)
    monkeypatch.setitem(sources.GIVEN, "slow", data)
    spec = DataSpec(kind="given", name="slow")
    explorer = Explorer(loop.schedule, spec=spec, method="active-spectral")
    heat = explorer.centre.figures.heat
    try:
        loop.until(lambda: oracle.threads)  # a thread waits for it, and it is not the page's
        assert explorer.store.session.labels == labels
        assert heat.cells.lazy
        assert not heat.cells.scaled
        explorer.store.change_view(matrix="none")
        explorer.store.change_view(matrix="similarity")
        oracle.open.set()
        loop.until(lambda: explorer.store.session.status == "settled")
        loop.until(lambda: heat.whole.data["image"])
        assert heat.cells.scaled
        assert 2.0 <= heat.cells.low < 3.0  # 5 - 59/20 is the least of all
        assert 4.0 < heat.cells.high <= 5.0
        assert "similarity" in explorer.centre.figures.grid.head.object
        assert explorer.store.view.error is None
    finally:
        oracle.open.set()
        explorer.close()
    assert threading.current_thread() not in oracle.threads


def test_a_trace_goes_with_its_run(begun, loop):
    explorer = begun(method="ddt", params={"steps": 2000})
    assert explorer.trace.view.visible
    choice = explorer.trace.view[0]
    assert choice.state["shown"] == choice.state["metrics"][0]
    choice._handle_msg({"act": "metric", "value": choice.state["metrics"][1]})
    loop.until(lambda: choice.state["shown"] == choice.state["metrics"][1])
    explorer.store.dispatch(act.SetMethod("average"))  # one tree, without numbers to trace
    loop.until(lambda: explorer.store.session.status == "settled")
    assert not explorer.trace.view.visible


def test_the_numbers_of_a_run_have_names_and_yes_or_no(begun, loop):
    store = begun(data="flowers", method="adds-sdp").store
    facts = dict(inspector_model.live(store)["facts"])
    metrics = store.session.snapshot.metrics
    assert facts["Clusters (k)"] == f"{metrics['k']:.0f}"
    assert facts["Largest k tried"] == f"{metrics['k high']:.0f}"
    assert facts["Converged"] == "yes"


# ---------------------------------------------------------------------- clusters, and the axis


def test_the_field_the_picture_and_the_file_have_the_clusters_asked_for(begun):
    """Zoo has many equal heights: no line parts it into ten."""
    explorer = begun(method="average")
    store, centre = explorer.store, explorer.centre
    for count in (10, 9, 23, 1, 101):
        explorer.controls["tools"].act("clusters", {"value": str(count)})
        assert store.view.clusters == store.view.n_clusters == count
        assert tree_tools_model.state(store)["levels"]["clusters"] == count
        assert len(np.unique(centre.clusters())) == count
        assert centre.figures.dendrogram.cut_text.text.startswith(f"{count} cluster")


def test_the_clusters_numbers_are_written_on_the_strip(begun):
    explorer = begun(method="average")
    explorer.drawing.colour(10)
    centre = explorer.centre
    numbers = dict(centre.figures.strips.numbers.data)
    numbered = {
        int(text): -y for text, y in zip(numbers["text"], numbers["y"], strict=True) if text
    }
    assert len(numbered) > 3
    of_item, order = centre.clusters(), centre.order
    for number, row in numbered.items():
        assert of_item[order[int(row)]] == number
    first = min(numbered)
    named = tuple(np.flatnonzero(of_item == first).tolist())
    explorer.store.dispatch(act.NameGroup(named, "Mine"))
    left = {text for text in centre.figures.strips.numbers.data["text"] if text}
    assert left == {str(number) for number in numbered} - {str(first)}
    explorer.drawing.colour(0)
    assert not any(centre.figures.strips.numbers.data["text"])


@pytest.mark.parametrize(("share", "side"), [(0.02, "right"), (0.9, "left")])
def test_the_label_of_the_cut_is_on_the_side_with_more_room(begun, share, side):
    centre = begun(method="average").centre
    centre.set_cut(share * float(centre.state.tree.height[-1]))
    assert centre.figures.dendrogram.cut_text.text_align == side


def test_a_cut_that_was_dragged_off_stays_off(begun, loop):
    """In the trees to come, and in a session that is saved and opened."""
    explorer = begun(method="adds-sdp", data="flowers")
    store = explorer.store
    found = tree_tools_model.state(store)["levels"]["found"]
    assert found
    explorer.centre.take_cut(2 * float(explorer.centre.state.tree.height[-1]))  # above the root
    for _ in range(2):
        store.dispatch(act.Rerun())
        loop.until(lambda: store.session.status == "settled")
        assert store.view.n_clusters == 0
        assert explorer.centre.clusters() is None
    assert store.view.look["clusters"] == 0
    saved = replace(store.session, look=store.view.look)
    other = begun(method="average")
    assert other.store.restore(load_session(save_session(saved)))
    assert other.store.view.clusters == 0
    assert other.centre.clusters() is None
    other.controls["tools"].act("clusters", {"value": ""})
    assert other.store.view.n_clusters == found


@pytest.mark.parametrize("method", ["average", "crsc", "ward"])
@pytest.mark.parametrize("heights", ["true", "even"])
def test_tooltip_and_inspector_agree_about_a_clade(begun, method, heights):
    explorer = begun(method=method)
    store, centre = explorer.store, explorer.centre
    store.change_view(heights=heights)
    scene = centre.renderer.scene
    for slot in range(scene.n_closed, scene.n_slots, 9):
        node = int(scene.node[slot])
        shown = float(centre.state.tree.height[node])
        store.change_view(selection=tuple(scene.leaves(slot).tolist()))
        facts = inspector_model.state(store)["selection"]["facts"]
        _, text, _ = centre.pointer.describe("tree", shown, -float(scene.y[slot]))
        fact_lines = [f"{word} {value}" for word, value in facts]
        lines = [line for line in text.split("\n") if line in fact_lines]
        assert len(lines) == (2 if heights == "even" else 1)
        assert any(line.endswith(f" {axis.number(shown)}") for line in lines)
        own = {"average": "Distance", "crsc": "Group size − 1", "ward": "Ward distance"}[method]
        assert lines[-1].startswith(own)


@pytest.mark.parametrize(
    ("method", "title"),
    [
        ("average", "distance"), ("crsc", "group size − 1"),
        ("ward", "Ward distance"), ("ddt", "height (time in the model, not years)"),
    ],
)  # fmt: skip
def test_the_axis_names_the_heights(begun, method, title):
    explorer = begun(method=method)
    # Unless a person chooses, only crowded heights are even.
    assert explorer.store.axis.even == (method == "ddt")
    explorer.store.change_view(heights="true")
    explorer.centre.figures.dendrogram.draw_axis(
        explorer.store.axis.title, 1_000, explorer.store.axis.tick
    )
    assert explorer.centre.figures.dendrogram.title.data["text"] == [title]
    explorer.store.change_view(heights="even")
    assert explorer.store.axis.title.startswith("level")


def test_a_card_sorts_distances_are_shares_of_participants():
    piles = {"one": "aabb", "two": "abbc"}
    rows = [
        f"{who},{card},{pile}"
        for who, put in piles.items()
        for card, pile in zip(("owl", "rook", "yew", "elm"), put, strict=True)
    ]
    text = "\n".join(["participant,card,pile", *rows])
    data = read_table(text.encode(), "birds.csv")
    tree = hcviz.fit("average", data.problem())
    store = SimpleNamespace(
        view=ViewState(), axis=None, dataset=data, problem=data.problem(),
        session=SimpleNamespace(method="average"),
    )  # fmt: skip
    assert axis_of(store, tree).title == "distance (maximum − share of participants)"


def test_every_method_names_its_heights():
    for name in hcviz.algorithms():
        assert get_algorithm(name).heights is not UNNAMED, name


def test_a_search_opens_the_branch_that_the_item_is_in(begun):
    explorer = begun(method="average")
    store, centre = explorer.store, explorer.centre
    tree = store.session.tree
    clade = next(leaves for leaves in tree.clades() if 4 <= leaves.size <= 8)
    assert centre.toggle_collapse(clade)
    folded = centre.state.layout.n_rows
    wanted = int(clade[0])
    explorer.controls["tools"].act("find", {"value": store.session.labels[wanted]})
    assert store.view.selection == (wanted,)
    assert centre.state.layout.n_rows > folded
    assert centre.state.layout.owner[wanted] < 0  # a row of its own
    centre.toggle_collapse(clade)
    store.change_view(selection=())
    explorer.gestures.key("t")  # also while a statement is in progress
    explorer.controls["tools"].act("find", {"value": store.session.labels[wanted]})
    assert wanted in store.view.draft.picked
    assert centre.state.layout.owner[wanted] < 0


def test_the_caption_for_paper_follows_undo_and_answers_without_a_run(begun, loop):
    explorer = begun(data="zoo", method="average")
    store, shell = explorer.store, explorer.shell

    def settled(text):
        loop.until(lambda: store.session.status == "settled" and shell.caption.startswith(text))

    settled("Average linkage")
    store.dispatch(act.SetMethod("ward"))
    settled("Ward's linkage")
    run = store.session.run
    store.dispatch(act.Undo())
    settled("Average linkage")
    together = store.session.tree.leaves(store.session.tree.root - 1)[:2].tolist()
    (apart, *_) = set(range(101)) - set(store.session.tree.leaves(store.session.tree.root - 1))
    store.dispatch(act.AddConstraint(tuple(together), apart))
    loop.until(lambda: "1 constraint (hard)" in shell.caption)
    assert store.session.run == run
