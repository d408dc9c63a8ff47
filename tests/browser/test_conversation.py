"""Fifteen questions in a real browser, with the answers of the true tree."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from hcviz import Tree, datasets
from hcviz.io.session_file import load_session
from hcviz.metrics import triplet_distance
from tests.browser.dashboard import Dashboard
from tests.browser.driving import wait_until

QUESTIONS = 15
#: Proposals of each run, so that supports are nearly settled: far fewer give trees that mislead. A
#: fixed number gives the same trees on a machine of any load.
STEPS = 400_000


class Conversation:
    """A simulated user of the question card, who answers with ``hand``: keyboard or mouse."""

    hand = "keyboard"

    def __init__(self, page) -> None:
        self.page = page
        self.dashboard = Dashboard(page).settle()
        self.zoo = datasets.load("zoo")
        assert self.zoo.target is not None
        self.user = datasets.SimulatedUser(self.zoo.target, seed=0)
        page.get_by_label("Steps", exact=True).fill(str(STEPS))
        self.dashboard.press("Enter")
        self.dashboard.settle()
        self.names = page.locator(".piece-names button")
        self.card = page.locator(".hc-question .card")

    def tree(self) -> Tree:
        return Tree.from_newick(self.dashboard.newick(), self.zoo.labels)

    def distance(self) -> float:
        return triplet_distance(self.zoo.target, self.tree())

    def press(self, key: str, button: str) -> None:
        if self.hand == "keyboard":
            self.dashboard.press(key)
        else:
            self.card.get_by_role("button", name=re.compile(button)).click()

    def pick(self, item: int) -> None:
        if self.hand == "keyboard":
            self.dashboard.press(str(self.asked().index(item) + 1))
        else:
            self.names.and_(self.page.locator(f'[data-key="q-{item}"]')).click()

    def asked(self) -> list[int]:
        keys = self.names.evaluate_all("all => all.map(each => each.dataset.key)")
        return [int(key.removeprefix("q-")) for key in keys]

    def answer(self) -> bool:
        """Answer the question; return True if the answer was a correction."""
        expect(self.card).to_be_visible()
        items = self.asked()
        triplet = self.user.answer(self.tree().restrict(items), items)
        if triplet is None:
            self.press("a", "Right")
            # the next question is shown
            wait_until(self.page, lambda: self.asked() not in (items, []))
            return False
        stated = self.dashboard.constraints.count()
        self.press("r", "Correct")
        expect(self.card.locator(".ask")).to_contain_text("odd one out")
        for item in triplet:
            self.pick(item)
        expect(self.page.locator(".hc-constraints .draft .statement")).to_contain_text(
            self.zoo.labels[triplet[2]]
        )
        expect(self.dashboard.assessment.first).to_contain_text("correction")
        if self.hand == "keyboard":
            self.dashboard.press("Enter")
        else:
            self.page.locator(".hc-constraints").get_by_role("button", name="Apply").click()
        expect(self.dashboard.constraints).to_have_count(stated + 1)
        self.dashboard.settle()
        return True


def test_the_tree_comes_nearer_to_the_truth_in_fifteen_questions(page, tmp_path):
    """The user takes keyboard and mouse in turn, until the next correction."""
    talk = Conversation(page)
    before = talk.distance()
    page.get_by_role("button", name="Ask me").click()
    corrected = {"keyboard": 0, "mouse": 0}
    for _ in range(QUESTIONS):
        if talk.answer():
            corrected[talk.hand] += 1
            talk.hand = "mouse" if talk.hand == "keyboard" else "keyboard"
    corrections, after = sum(corrected.values()), talk.distance()
    assert min(corrected.values()) >= 2
    assert corrections >= 5
    assert after < 0.8 * before, (before, after, corrections)
    # All answers are in the session, in their order, and the tree satisfies them.
    path = tmp_path / "talk.hcviz"
    Path(talk.dashboard.save("Session").path()).rename(path)
    session = load_session(path.read_bytes())
    assert len(session.constraints) == corrections
    assert talk.tree().satisfies(session.triplets.rows).all()
