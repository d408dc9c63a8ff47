"""How the centre writes: labels that do not touch, names cut to fit, round ticks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz.ui.tree import label_fitting


@pytest.mark.parametrize("row_px", [0.3, 1, 3, 4.4, 5.6, 7, 8.6, 9, 13, 40])
def test_labels_never_touch(row_px):
    setting = label_fitting.label_style(row_px)
    pitch = row_px * setting.columns * setting.every
    assert setting.font >= label_fitting.SMALLEST_FONT
    assert pitch >= setting.font * label_fitting.LEADING - 1e-9


def test_all_101_labels_of_zoo_are_set_in_a_720_px_window():
    # A 720 px window leaves the rows about 570 px once the bars around them are paid for.
    setting = label_fitting.label_style(570 / 101)
    assert setting.every == 1
    assert setting.font >= 8


@given(st.lists(st.floats(0, 50), max_size=30), st.floats(0.5, 5))
def test_spread_labels_keep_their_distance_and_none_is_left_out_needlessly(rows, gap):
    rows = np.array(rows)
    rank = np.arange(rows.size) % 3
    kept = label_fitting.non_overlapping(rows, rank, gap)
    shown = np.sort(rows[kept])
    assert np.all(np.diff(shown) >= gap - 1e-6)
    for at in rows[~kept]:
        assert np.min(np.abs(shown - at)) < gap
    if rows.size:
        assert kept[rank == rank.max()].any()


@given(st.text(max_size=40), st.floats(6, 14), st.floats(10, 200))
def test_truncated_text_fits(text, font, width):
    short = label_fitting.truncate(text, font, width)
    assert short == text or short.endswith("…")
    assert label_fitting.text_width(short, font) <= max(width, label_fitting.text_width("…", font))


def test_a_truncated_name_does_not_end_with_a_dot_between_words():
    text = "Appliances · locked"
    whole = label_fitting.text_width(text, 12)
    found = {label_fitting.truncate(text, 12, width) for width in np.linspace(10, whole, 60)}
    assert "Appliances…" in found
    assert not any("·…" in short for short in found)


@given(st.text(max_size=40), st.floats(6, 14), st.floats(10, 200))
def test_shortened_names_fit_and_keep_head_and_tail(text, font, width):
    short = label_fitting.shorten(text, font, width)
    assert label_fitting.text_width(short, font) <= max(width, label_fitting.text_width("…", font))
    if short != text:
        assert any(
            text.startswith(short[:k]) and short[k] == "…" and text.endswith(short[k + 1 :])
            for k in range(len(short))
        )


def test_long_names_that_begin_alike_stay_distinct():
    names = ["L" * 196 + f"{i:04d}" for i in range(300)]
    assert len({label_fitting.shorten(name, 9, 90) for name in names}) == 300


def test_ticks_are_round_and_within():
    assert label_fitting.nice_ticks(6.4, 4).tolist() == [0, 2, 4, 6]
    assert label_fitting.nice_ticks(1.0, 4).tolist() == [0, 0.25, 0.5, 0.75, 1.0]
    assert label_fitting.nice_ticks(0.0, 4).tolist() == [0]
    assert label_fitting.nice_ticks(2_000, 4)[-1] == 2_000


@pytest.mark.parametrize("top", [1, 2, 3, 7, 10, 15, 25, 33, 400])
def test_ticks_of_levels_are_whole_numbers(top):
    ticks = label_fitting.nice_ticks(top, 4, whole=True)
    assert ticks.tolist() == np.round(ticks).tolist()
    assert 2 <= ticks.size <= 8
