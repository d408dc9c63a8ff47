"""``Pages``: draws the pages of a worksheet on A4, without pyplot."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from hcviz.core.layout import elbows, leaf_order
from hcviz.core.text import printable, shorten
from hcviz.core.tree import Tree

#: The page and its margin in millimetres.
WIDTH, HEIGHT, MARGIN = 210.0, 297.0, 18.0
#: The leaves' end of a tree.
RIGHT = 138.0
#: Most letters of a name. Names are written smaller by so many points, and then cut, to fit.
LONGEST, SMALLER = 60, 2
#: Millimetres of a question and of an answer, and where their lists begin and end.
QUESTION, ANSWER, TOP, BOTTOM = 22.0, 6.5, 52.0, 275.0
#: What the answer says about two items and the third.
SENTENCE = "{} + {} together, apart from {}"
INK, SOFT, RULE = "#1d2530", "#52606f", "#aeb7c0"


class Pages:
    """The pages, with coordinates in millimetres from the upper left corner."""

    def __init__(self, title: str, tree: Tree, names: Sequence[str]) -> None:
        self.title = shorten(printable(title), 60)
        self.tree = tree
        self.names = [shorten(printable(name), LONGEST) for name in names]
        self.figures: list[Figure] = []

    # ------------------------------------------------------------------ pages

    def blank_tree(self) -> None:
        """Draw the list of items, and an empty frame with a line for each of them."""
        axes = self._page(
            "Draw the tree",
            "Join the two items that are most alike, then the next two, until all are joined.\n"
            "Write an item on each line. The earlier two items are joined, the farther right is "
            "their bar.\nLines must not cross.",
        )
        wide, longest = WIDTH - 2 * MARGIN, max(_width(name, 9) for name in self.names)
        columns = next((c for c in (4, 3) if longest + 8 <= wide / c), 2)
        rows = -(-len(self.names) // columns)
        for k, name in enumerate(sorted(self.names, key=str.casefold)):
            x = MARGIN + (k // rows) * wide / columns
            y = 56.0 + 6 * (k % rows)
            axes.plot([x, x + 3, x + 3, x, x], [y - 3, y - 3, y, y, y - 3], color=SOFT, lw=0.7)
            self._fitted(axes, x + 5, y, name, 9, wide / columns - 8)
        top, bottom, right = 62 + 6 * rows, 264.0, RIGHT
        axes.plot(
            [MARGIN, MARGIN, right, right, MARGIN], [top, bottom, bottom, top, top], color=INK, lw=1
        )
        step = (bottom - top) / len(self.names)
        for k in range(len(self.names)):
            y = top + step * (k + 0.5)
            axes.plot([right - 4, right], [y, y], color=INK, lw=1.2)
            axes.plot([right + 4, WIDTH - MARGIN], [y + 1.5, y + 1.5], color=SOFT, lw=0.7)
        for k in range(1, 6):
            x = MARGIN + k * (right - MARGIN) / 6
            axes.plot([x, x], [top, bottom], color=RULE, lw=0.7, dashes=(2, 4))
        self._ends(axes, bottom + 7)

    def questions(self, questions: Sequence[Sequence[str]]) -> None:
        """Write the questions, each with three names to choose two from."""
        step = (WIDTH - 2 * MARGIN - 10) / 3
        for number, axes, y in self._lists(
            "Which two belong together?", "Mark two of the three, and say why.", len(questions),
            QUESTION,
        ):  # fmt: skip
            self._text(axes, MARGIN, y, f"{number + 1}.", size=11, weight="bold")
            for k, name in enumerate(questions[number]):
                x = MARGIN + 10 + k * step
                axes.plot([x, x + 4, x + 4, x, x], [y - 4, y - 4, y, y, y - 4], color=INK, lw=0.9)
                self._fitted(axes, x + 6.5, y, shorten(printable(name), LONGEST), 10, step - 8)
            self._text(axes, MARGIN + 10, y + 9, "Because", size=9, color=SOFT)
            axes.plot([MARGIN + 25, WIDTH - MARGIN], [y + 9.5, y + 9.5], color=RULE, lw=0.7)

    def answers(self, answers: Sequence[tuple[Sequence[str], Sequence[str]]], how: str) -> None:
        """Draw the tree, and write which two of each three it joins first.

        ``answers`` are the three names and the two names; ``how`` says how the tree was made.
        """
        axes = self._page("Answers: the tree", f"A tree of the numbers: {how}.", named=False)
        order = leaf_order(self.tree)
        heights, rows = elbows(self.tree, order)
        top, bottom, right = 56.0, 264.0, RIGHT
        highest = float(self.tree.height[-1]) or 1.0
        step = (bottom - top) / len(self.names)
        axes.plot(
            right - heights * (right - MARGIN) / highest, top + step * rows, color=INK, lw=1.4
        )
        for k, leaf in enumerate(order):
            y = top + step * (k + 0.5) + 1.2
            self._fitted(axes, right + 4, y, self.names[leaf], 10, WIDTH - MARGIN - right - 4)
        self._ends(axes, bottom + 5)
        for number, page, y in self._lists(
            "Answers: the questions", "The tree joins these two before the third. Another answer "
            "may have good reasons.", len(answers), ANSWER, named=False,
        ):  # fmt: skip
            three, two = answers[number]
            third = next(name for name in three if name not in two)
            room = WIDTH - 2 * MARGIN - 10
            names = [shorten(printable(name), LONGEST) for name in (*two, third)]
            if _width(SENTENCE.format(*names), 10 - SMALLER) > room:
                each = (room - _width(SENTENCE.format("", "", ""), 10 - SMALLER)) / 3
                names = [_cut(name, 10 - SMALLER, each) for name in names]
            self._text(page, MARGIN, y, f"{number + 1}.", size=10, weight="bold")
            self._fitted(page, MARGIN + 10, y, SENTENCE.format(*names), 10, room)

    def pdf(self) -> bytes:
        """Return all pages as one PDF with its fonts, without a date."""
        buffer = io.BytesIO()
        with matplotlib.rc_context({"pdf.fonttype": 42}):
            metadata: dict[str, Any] = {"CreationDate": None, "Title": self.title}
            with PdfPages(buffer, metadata=metadata) as pages:
                for figure in self.figures:
                    pages.savefig(figure)
        return buffer.getvalue()

    # ------------------------------------------------------------------ parts of a page

    def _page(self, heading: str, task: str, named: bool = True) -> Any:
        """Begin a page; return its axes. ``named``: with lines for the student's name and date."""
        figure = Figure(figsize=(WIDTH / 25.4, HEIGHT / 25.4))
        self.figures.append(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(HEIGHT, 0)
        self._text(axes, MARGIN, 20, self.title, size=9, color=SOFT)
        self._text(axes, MARGIN, 30, heading, size=17, weight="bold")
        self._text(axes, MARGIN, 34, task, size=9.5, va="top")
        if named:
            self._text(axes, 108, 20, "Name", size=9, color=SOFT)
            axes.plot([119, 162], [20.5, 20.5], color=SOFT, lw=0.7)
            self._text(axes, 165, 20, "Date", size=9, color=SOFT)
            axes.plot([174, WIDTH - MARGIN], [20.5, 20.5], color=SOFT, lw=0.7)
        number = f"{len(self.figures)}"
        self._text(axes, WIDTH - MARGIN, HEIGHT - 10, number, size=8, color=SOFT, ha="right")
        return axes

    def _lists(self, heading: str, task: str, count: int, step: float, named: bool = True) -> Any:
        """Yield ``(number, axes, y)`` for each line of a list, on as many pages as it needs."""
        on_page = int((BOTTOM - TOP) / step)
        axes = None
        for number in range(count):
            if number % on_page == 0:
                axes = self._page(heading, task, named)
            yield number, axes, TOP + step * (number % on_page)

    def _ends(self, axes: Any, y: float) -> None:
        """Write below a tree what its two ends mean."""
        self._text(axes, MARGIN, y, "← less alike", size=9, color=SOFT)
        self._text(axes, RIGHT, y, "more alike →", size=9, color=SOFT, ha="right")

    def _fitted(self, axes: Any, x: float, y: float, text: str, size: float, room: float) -> None:
        """Write a text in at most ``room`` millimetres: smaller if need be, and then cut."""
        size = next((s for s in (size, size - 1) if _width(text, s) <= room), size - SMALLER)
        self._text(axes, x, y, _cut(text, size, room), size=size)

    @staticmethod
    def _text(
        axes: Any, x: float, y: float, text: str, *, size: float, color: str = INK,
        weight: str = "normal", ha: str = "left", va: str = "baseline",
    ) -> None:  # fmt: skip
        axes.text(
            x, y, text, fontsize=size, color=color, fontweight=weight, ha=ha, va=va,
            parse_math=False,
        )  # fmt: skip


def _cut(text: str, size: float, room: float) -> str:
    """Cut a text to at most ``room`` millimetres."""
    letters = len(text)
    while letters > 2 and _width(text, size) > room:
        letters -= 1
        text = shorten(text, letters)
    return text


def _width(text: str, size: float) -> float:
    """Return the width of a text in millimetres."""
    font = FontProperties(size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0]) * 25.4 / 72


__all__ = ["Pages"]
